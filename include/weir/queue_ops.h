#pragma once

#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

struct QueueOptions {
  int64_t capacity = -1;           // elements; negative: no limit
  std::vector<Shape> shapes = {};  // of the components; empty: any
  std::string container = "";      // where it is kept, and under which name: sessions that share both share the queue
  std::string shared_name = "";
};

// A queue of tuples of tensors, first in, first out. A run that takes from an empty queue, or puts into a full one,
// waits until another run, or another operation of the same one, has done its part. Closing the session, stopping the
// run or its timeout ends the wait.
class WEIR_API FifoQueue {
 public:
  FifoQueue(Graph& graph, std::vector<DType> types, const QueueOptions& options = {},
            std::string_view name = "fifo_queue");

  Output handle() const { return handle_; }
  const std::vector<DType>& types() const { return types_; }

  Operation enqueue(const InList& components, std::string_view name = {}) const;
  // One output for each component.
  std::vector<Output> dequeue(std::string_view name = {}) const;
  Output size(std::string_view name = {}) const;
  Output is_closed(std::string_view name = {}) const;

  // Refuses further elements (Cancelled); who waits for more than there are ends with OutOfRange. With
  // cancel_pending_enqueues those that wait to put something in are refused too.
  struct CloseOptions {
    bool cancel_pending_enqueues = false;
  };
  Operation close(const CloseOptions& options, std::string_view name = {}) const;
  Operation close() const { return close({}); }

 private:
  Output handle_;
  std::vector<DType> types_;
};

}  // namespace weir
