#include "weir/queue_runner.h"

#include <algorithm>
#include <any>
#include <atomic>

#include "base/errors.h"

namespace weir::train {
namespace {

constexpr std::chrono::hours kForever{24 * 3650};

// "batch/fifo_queue" closes by "fifo_queue_Close", as TensorFlow's Python names it.
std::string close_name(const QueueBase& queue) { return queue.name().substr(queue.name().rfind('/') + 1) + "_Close"; }

// A runner at work in a session.
struct Work {
  Work(Session& s, const QueueRunner& r) : session(s), runner(r), running(static_cast<int>(r.enqueue_ops.size())) {}

  bool means_closed(const Error& error) const {
    return std::find(runner.queue_closed.begin(), runner.queue_closed.end(), error.code()) != runner.queue_closed.end();
  }
  // Errors of closing are nobody's: the queue may be closed already, or the session.
  void close(const Operation& op) const {
    try {
      session.run(op);
    } catch (const Error&) {
    }
  }
  void run(const Operation& enqueue, Coordinator& coordinator) {
    bool closed = false;
    try {
      run_until_stopped(session.make_callable({.targets = {enqueue}}), coordinator.token());
    } catch (const Error& error) {
      if (!means_closed(error)) {
        running.fetch_sub(1);
        throw;
      }
      closed = true;
    }
    // The last of them closes, unless another one failed: then the coordinator's stop does.
    if (running.fetch_sub(1) == 1 && closed) close(runner.close_op);
  }

  Session& session;
  const QueueRunner runner;
  std::atomic<int> running;
};

}  // namespace

QueueRunner::QueueRunner(const QueueBase& q, std::vector<Operation> ops, std::vector<Code> codes,
                         std::optional<Operation> cancel)
    : queue(q.handle()),
      enqueue_ops(std::move(ops)),
      close_op(q.close({}, close_name(q))),
      cancel_op(cancel ? *cancel : q.close({.cancel_pending_enqueues = true}, close_name(q))),
      queue_closed(std::move(codes)) {
  if (enqueue_ops.empty()) throw invalid_argument("the runner of the queue '{}' has nothing to run", q.name());
}

void add_queue_runner(Graph& graph, const QueueRunner& runner, std::string_view collection) {
  graph.add_to_collection(collection, runner);
}

void run_until_stopped(const Session::Callable& enqueue, const std::stop_token& stop) {
  std::vector<Tensor> results(enqueue.fetches());
  try {
    while (!stop.stop_requested()) enqueue.call({}, results, {.stop = stop});
  } catch (const Error& error) {
    if (error.code() != Code::Cancelled || !stop.stop_requested()) throw;
  }
}

RunnerThreads::~RunnerThreads() {
  if (!coordinator_) return;
  coordinator_->request_stop();
  try {
    coordinator_->join(kForever);
  } catch (...) {  // whoever wants the error joins the coordinator
  }
}

RunnerThreads start_queue_runners(Session& session, Coordinator& coordinator, std::string_view collection) {
  RunnerThreads threads(coordinator);
  for (const std::any& item : session.graph().collection(collection)) {
    const auto* runner = std::any_cast<QueueRunner>(&item);
    if (!runner) continue;
    auto work = std::make_shared<Work>(session, *runner);
    for (const Operation& op : runner->enqueue_ops) {
      coordinator.start(op.name(), [work, op](Coordinator& c) { work->run(op, c); });
    }
    coordinator.start(runner->cancel_op.name(), [work](Coordinator& c) {
      c.wait_for_stop();
      work->close(work->runner.cancel_op);
    });
  }
  return threads;
}

}  // namespace weir::train
