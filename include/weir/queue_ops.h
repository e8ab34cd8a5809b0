#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

struct QueueOptions {
  int64_t capacity = -1;           // elements; negative: no limit
  std::vector<Shape> shapes = {};  // of the components; empty: any, and no batches can be taken
  std::string container = "";      // where it is kept, and under which name: sessions that share both share the queue
  std::string shared_name = "";
};

// A queue of tuples of tensors: a node of the graph that gives a handle, and the operations on it. A run that takes
// from an empty queue, or puts into a full one, waits until another run, or another operation of the same one, has done
// its part. Closing the queue or the session, stopping the run or its timeout ends the wait.
class WEIR_API QueueBase {
 public:
  using Where = In::Where;
  // A queue of this graph that exists already, by its handle: its types and shapes are those of the node.
  explicit QueueBase(const Output& handle);

  Graph& graph() const { return handle_.graph(); }
  Output handle() const { return handle_; }
  const std::string& name() const { return handle_.op().name(); }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }  // empty: any

  Operation enqueue(const InList& components, std::string_view name = {}, Where where = Where::current()) const;
  // The rows of each component become the components of the elements.
  Operation enqueue_many(const InList& components, std::string_view name = {}, Where where = Where::current()) const;
  // One output for each component.
  std::vector<Output> dequeue(std::string_view name = {}, Where where = Where::current()) const;
  // The same for a batch of elements, which must have known shapes; see PaddingFifoQueue for others.
  std::vector<Output> dequeue_many(const In& count, std::string_view name = {}, Where where = Where::current()) const;
  // Of a queue that is closed fewer elements are enough, when there are any.
  std::vector<Output> dequeue_up_to(const In& count, std::string_view name = {}, Where where = Where::current()) const;
  Output size(std::string_view name = {}, Where where = Where::current()) const;
  Output is_closed(std::string_view name = {}, Where where = Where::current()) const;

  // Refuses further elements (Cancelled); who waits for more than there are ends with OutOfRange. Those that wait to
  // put something in still get in, and closing waits for them, unless cancel_pending_enqueues refuses them too.
  struct CloseOptions {
    bool cancel_pending_enqueues = false;
  };
  Operation close(const CloseOptions& options, std::string_view name = {}, Where where = Where::current()) const;
  Operation close(Where where = Where::current()) const { return close({}, {}, where); }

 protected:
  QueueBase() = default;

  Output handle_;
  std::vector<DType> types_;
  std::vector<Shape> shapes_;

 private:
  std::vector<Output> taken(std::string_view op, std::optional<In> count, std::string_view name, Where where) const;
};

// First in, first out.
class WEIR_API FifoQueue : public QueueBase {
 public:
  FifoQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options = {},
            std::string_view name = "fifo_queue", Where where = Where::current());
};

// The same for components whose shapes have unknown sizes: a batch is as large as its largest element, and the others
// are filled up with zeros or empty strings.
class WEIR_API PaddingFifoQueue : public QueueBase {
 public:
  PaddingFifoQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options,
                   std::string_view name = "padding_fifo_queue", Where where = Where::current());
};

struct RandomShuffleQueueOptions : QueueOptions {
  int64_t min_after_dequeue = 0;  // elements that stay, so that they mix, until the queue is closed
  std::optional<int64_t> seed = {};
};
// Gives its elements in random order: TensorFlow's for the same seed, when one thread puts in and one takes out.
class WEIR_API RandomShuffleQueue : public QueueBase {
 public:
  RandomShuffleQueue(Graph& graph, const std::vector<DType>& types, const RandomShuffleQueueOptions& options,
                     std::string_view name = "random_shuffle_queue", Where where = Where::current());
};

// Gives the element with the smallest priority first. The priority, an int64 scalar, is a component before those of
// `types`.
class WEIR_API PriorityQueue : public QueueBase {
 public:
  PriorityQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options = {},
                std::string_view name = "priority_queue", Where where = Where::current());
};

}  // namespace weir
