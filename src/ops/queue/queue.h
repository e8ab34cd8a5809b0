#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/kernel.h"

namespace weir::ops {

// Elements on their way from runs that put them in to runs that take them out, first come first served. An element is a
// tuple of tensors. Who finds no room, or no element, waits without holding a thread, and ends with Cancelled when its
// run is stopped.
//
// Thread-safe. Completions are called without a lock held.
class Queue final : public Resource {
 public:
  using Tuple = std::vector<Tensor>;
  struct Options {
    std::string kind;  // for messages: "FIFOQueue"
    std::string name;
    int64_t capacity = -1;  // elements; negative: no limit
    std::vector<DType> types;
    std::vector<Shape> shapes;  // empty: any
  };
  explicit Queue(Options options);
  ~Queue() override;

  std::string describe() const override;
  const Options& options() const { return options_; }

  // Puts an element in when there is room. Throws InvalidArgument for one that does not fit the queue.
  void enqueue(Tuple element, const KernelContext& c, Completion done);
  // Takes the first element out as the outputs of `c`.
  void dequeue(KernelContext& c, Completion done);
  // Takes no further elements. What waits to be put in is refused at once if so wished, and otherwise still gets in.
  // Who waits for more elements than will come ends with OutOfRange.
  void close(bool cancel_pending_enqueues);

  int64_t size() const;
  bool is_closed() const;

 private:
  struct Waiter;
  struct Ended;
  using WaiterPtr = std::shared_ptr<Waiter>;

  void check(const Tuple& element) const;
  void wait(std::list<WaiterPtr>& list, WaiterPtr waiter);
  void cancel(Waiter& waiter);
  // Moves elements as long as somebody can go on. REQUIRES: mutex_ is held.
  void advance(std::vector<Ended>& ended);
  bool has_room() const { return options_.capacity < 0 || static_cast<int64_t>(elements_.size()) < options_.capacity; }
  std::exception_ptr closed_error() const;
  std::exception_ptr empty_error() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::deque<Tuple> elements_;
  std::list<WaiterPtr> enqueues_, dequeues_;  // in the order in which they came
  bool closed_ = false;
};

}  // namespace weir::ops
