#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>

#include "base/resource.h"
#include "weir/tensor.h"

namespace weir::ops {

// Where the parts of a step that run in different tasks leave values for each other, each under a key. Kept by the
// resource manager of every session of a server, in a container of its own. Thread-safe.
class Rendezvous : public Resource {
 public:
  static constexpr const char* kContainer = "_weir_server";
  static constexpr const char* kName = "rendezvous";

  std::string describe() const override { return "rendezvous of the server"; }

  // Leaves a value. Throws what has ended the step, and Aborted when the key has a value already.
  virtual void send(int64_t step, const std::string& key, Tensor value) = 0;
  // Says that the value is of a branch that does not run. Once or several times.
  virtual void send_dead(int64_t step, const std::string& key) = 0;
  // Gives the value as soon as it is there, or why it will not come; neither when it is dead. `done` is called once,
  // from any thread, perhaps before this returns; after a stop at once.
  using Done = std::function<void(Tensor value, std::exception_ptr error)>;
  virtual void receive(int64_t step, const std::string& key, const std::stop_token& stop, Done done) = 0;
};

}  // namespace weir::ops
