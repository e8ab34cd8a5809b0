#pragma once

#include <string_view>
#include <vector>

#include "weir/coordinator.h"
#include "weir/export.h"
#include "weir/queue_ops.h"
#include "weir/session.h"

namespace weir::train {

// The collection that start_queue_runners looks into; TensorFlow's GraphKeys.QUEUE_RUNNERS.
inline constexpr std::string_view kQueueRunners = "queue_runners";

// What fills a queue: operations that are run again and again, each in a thread of its own.
struct WEIR_API QueueRunner {
  // Adds the operations that close the queue to its graph.
  QueueRunner(const QueueBase& queue, std::vector<Operation> enqueue_ops,
              std::vector<Code> queue_closed = {Code::OutOfRange}, std::optional<Operation> cancel_op = {});

  Output queue;  // its handle
  std::vector<Operation> enqueue_ops;
  Operation close_op;   // for the end of the input: what was put in can still be taken out
  Operation cancel_op;  // for a stop
  // Errors of the operations that mean that there is no more input. When all of them have ended so, the queue is
  // closed; any other error stops the coordinator.
  std::vector<Code> queue_closed;
};

WEIR_API void add_queue_runner(Graph& graph, const QueueRunner& runner, std::string_view collection = kQueueRunners);

// Runs an operation again and again until the token is stopped. Errors are thrown, but for those of the stop itself.
WEIR_API void run_until_stopped(const Session::Callable& enqueue, const std::stop_token& stop);

// The threads that fill the queues of a graph. They belong to the coordinator; the destructor of this object asks it to
// stop, and waits for the threads, so that none outlives the session.
class WEIR_API [[nodiscard]] RunnerThreads {
 public:
  explicit RunnerThreads(Coordinator& coordinator) : coordinator_(&coordinator) {}
  RunnerThreads(RunnerThreads&& other) noexcept : coordinator_(std::exchange(other.coordinator_, nullptr)) {}
  RunnerThreads& operator=(RunnerThreads&&) = delete;
  ~RunnerThreads();

 private:
  Coordinator* coordinator_;
};

// Starts the threads of every runner in the collection of the graph. The session must outlive them.
WEIR_API RunnerThreads start_queue_runners(Session& session, Coordinator& coordinator,
                                           std::string_view collection = kQueueRunners);

}  // namespace weir::train
