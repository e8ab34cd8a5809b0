#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>

#include "base/resource.h"
#include "weir/tensor.h"

namespace weir::ops {

// One member's call of a collective operation of TensorFlow's (CollectiveReduce, ...). Members find each other by the
// keys of their group and of the instance in it.
struct CollectiveCall {
  enum class Kind : uint8_t { Reduce, Gather, Send, Receive };  // the last two are a broadcast's
  Kind kind = Kind::Reduce;
  int64_t group_size = 0, group_key = 0, instance_key = 0;
  DType dtype = DType::Float32;
  Shape shape = {};  // of every member's input; of what is sent
  std::string merge_op = {}, final_op = {};
  std::string device = {}, node = {};  // who calls: members are in the order of their devices

  bool is_broadcast() const { return kind == Kind::Send || kind == Kind::Receive; }
};

// Where the members of groups meet. Kept by the resource manager of every session; a server's also meets the members in
// other tasks. Thread-safe.
class Collectives : public Resource {
 public:
  static constexpr const char* kContainer = "_weir_server";
  static constexpr const char* kName = "collectives";

  std::string describe() const override { return "groups of collective operations"; }

  // Gives what the call is for when all members have called. `input` is invalid for who receives a broadcast. `done` is
  // called once, from any thread, perhaps before this returns. Ends with InvalidArgument when members contradict each
  // other, and with Cancelled after a stop.
  using Done = std::function<void(Tensor result, std::exception_ptr error)>;
  virtual void run(const CollectiveCall& call, Tensor input, const std::stop_token& stop, Done done) = 0;
};

}  // namespace weir::ops
