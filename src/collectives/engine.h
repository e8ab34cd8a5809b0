#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "collectives/transport.h"
#include "weir/tensor.h"

namespace weir::collectives {

enum class Kind : uint8_t { Reduce, Gather, Broadcast };

// What all ranks must agree on. Of a gather the first dimension may differ, and is left out (0).
struct Key {
  std::string name = {};
  Kind kind = Kind::Reduce;
  DType dtype = DType::Float32;
  Shape shape = {};
  Combine combine = Combine::Sum;  // of Reduce
  double scale = 1;                // of Reduce: the result is multiplied with it
  int root = 0;                    // of Broadcast
  std::string describe() const;
};

struct EngineOptions {
  // Tensors that are ready at the same time are reduced together as long as they fit into a buffer of this size.
  size_t fusion_bytes = 64 << 20;
  // How long a rank whose tensors others are not ready for waits until it asks again.
  std::chrono::microseconds cycle{500};
};

// Performs the collectives of a process, on a thread of its own. Runs of all ranks hand in tensors by name, in any
// order; a tensor is worked on when every rank has handed it in, together with others that are ready by then.
//
// How ranks agree: in rounds. In a round each rank tells all others which tensors it has, as bits; what all have is
// done at once, in the order of the bits. The bit of a tensor is agreed on when it is new, by telling its name and
// shape. A round is one small exchange, and only ranks that have something take part: a rank without anything costs
// nothing.
//
// Thread-safe. The transport is used by the engine's thread alone.
class Engine {
 public:
  using Open = std::function<std::unique_ptr<Transport>()>;
  // Called once, from any thread: with a result or an error.
  using Done = std::function<void(std::exception_ptr error, Tensor result)>;

  // Opens the transport in the new thread; throws what that throws.
  explicit Engine(const Open& open, const EngineOptions& options = {});
  // Waits until all ranks have ended, too, or handed in something: that fails then.
  ~Engine();

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  const std::string& transport() const { return transport_name_; }

  // Ends with Cancelled when `stop` is requested before all ranks are ready, with InvalidArgument when ranks disagree
  // or a tensor of that name is under way, with Aborted when a rank has ended, with Unavailable when one was lost.
  void submit(Key key, Tensor input, std::stop_token stop, Done done);
  // Submits, and waits.
  Tensor run(Key key, const Tensor& input);
  // How many tensors were worked on, in how many calls of the transport.
  struct Counts {
    int64_t tensors = 0, calls = 0, rounds = 0;
  };
  Counts counts() const;

 private:
  struct Request;
  struct Entry;  // of the table
  using RequestPtr = std::shared_ptr<Request>;

  void serve(const Open& open, std::promise<void>& opened);
  bool round();  // whether anything was done; throws when the transport does
  std::string mark_own(std::vector<uint64_t>& words);
  void learn(const std::string& own, std::span<const size_t> bytes);
  void learn_from(int rank, std::string_view text);
  int find(const Key& key) const;
  bool has(int rank, int id) const;
  std::vector<int> agreed() const;
  bool refuse_contradictions();
  void perform(const std::vector<int>& ready);
  void count_call();
  void reduce(std::span<const int> ids);
  void reduce_one(int id);
  void reduce_together(std::span<const int> ids);
  void gather(int id);
  void broadcast(int id);
  Tensor result_for(int id, const Shape& shape);
  // Ends a request, unless it has ended: one that was cancelled in a round still takes part in it.
  void finish(const RequestPtr& request, std::exception_ptr error, Tensor result = {});
  void fail_all(const std::exception_ptr& error);

  const EngineOptions options_;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::string transport_name_;
  const uint64_t forks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, RequestPtr, std::less<>> pending_;  // by name
  std::exception_ptr failed_;                               // nothing further can be done
  bool ending_ = false;
  bool fresh_ = false;  // something was handed in since the last round began
  Counts counts_;

  // The engine's thread alone.
  std::unique_ptr<Transport> transport_;
  std::vector<Entry> table_;
  std::vector<RequestPtr> told_;  // what the others know of in this round
  std::map<std::string, std::vector<int>, std::less<>> by_name_;
  std::vector<std::vector<uint64_t>> marks_;  // of each rank in this round: bit i for entry i of the table
  bool ended_ = false;
  Tensor fused_;

  std::thread thread_;
};

}  // namespace weir::collectives
