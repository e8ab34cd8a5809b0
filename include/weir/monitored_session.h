#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/global_step.h"
#include "weir/session_hooks.h"
#include "weir/session_manager.h"

namespace weir::train {

struct ScaffoldOptions {
  Operation init_op = {};
  std::vector<Feed> init_feeds = {};
  std::function<void(Session&)> init_fn = {};  // after init_op, when nothing was restored
  Output ready_op = {}, ready_for_local_init_op = {};
  Operation local_init_op = {};
  Output summary_op = {};
  std::shared_ptr<Saver> saver = {};
};

// What makes a session ready: the program's operations, those of the graph's collections ("init_op", "ready_op",
// "local_init_op", "summary_op", "savers", ...), or else the usual ones.
class WEIR_API Scaffold {
 public:
  Scaffold(Graph& graph, ScaffoldOptions options) : graph_(&graph), options_(std::move(options)) {}
  // Adds what was not given, and finalizes the graph. Throws InvalidArgument when a collection has more than one.
  void finalize();

  const Operation& init_op() const { return options_.init_op; }
  const std::vector<Feed>& init_feeds() const { return options_.init_feeds; }
  const std::function<void(Session&)>& init_fn() const { return options_.init_fn; }
  const Output& ready_op() const { return options_.ready_op; }
  const Output& ready_for_local_init_op() const { return options_.ready_for_local_init_op; }
  const Operation& local_init_op() const { return options_.local_init_op; }
  const Output& summary_op() const { return options_.summary_op; }  // empty when the graph has no summary
  const std::shared_ptr<Saver>& saver() const { return options_.saver; }

 private:
  Graph* graph_;
  ScaffoldOptions options_;
  bool finalized_ = false;
};

struct MonitoredSessionOptions {
  bool is_chief = true;              // restores or initialises; others wait until the chief has
  std::string checkpoint_dir = {};   // what is restored: the newest checkpoint of a folder, or...
  std::string checkpoint_path = {};  // ...this one
  ScaffoldOptions scaffold = {};
  std::vector<Hook> hooks = {};
  SessionOptions session = {};  // .target = "grpc://host:port": a session on a server
  bool recover = true;          // makes another session when a server was lost, and runs again
  bool handle_sigterm = true;   // see should_stop()
  std::chrono::milliseconds max_wait = std::chrono::hours(2);               // for the chief
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);  // for threads to end
  // Makes the sessions instead, when given.
  std::function<std::unique_ptr<Session>(Scaffold&)> create_session = {};
  Log log = {};  // what the session and its hooks have to say; empty: the standard error stream
};

// A session for long runs: it restores or initialises itself, starts the runners of the graph's queues, calls hooks
// around every run, and is made again, from the last checkpoint, when a server that it uses was lost (Aborted,
// Unavailable).
//
//   train::MonitoredSession session(g, {.checkpoint_dir = "runs/linear", .hooks = {train::NanTensorHook(loss)}});
//   session.run_steps([&] { session.run(train); });
//
// The graph is finalized while the session is open, and must outlive it. For one thread.
class WEIR_API MonitoredSession {
 public:
  explicit MonitoredSession(Graph& graph, const MonitoredSessionOptions& options = {});
  // Closes; without the hooks' ends when an error is on its way, other than the end of the input. What fails then is
  // told on the log, so call close().
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // As Session's, with the hooks around them. A run that lost a server is run again in a new session. Throws
  // FailedPrecondition after a hook's request to stop, and what a thread of the session failed with.
  Tensor run(const Output& fetch, const Feeds& feeds = {}, const Targets& targets = {}, const RunOptions& options = {});
  template <size_t N>
  std::array<Tensor, N> run(const Output (&fetches)[N], const Feeds& feeds = {}, const Targets& targets = {},
                            const RunOptions& options = {}) {
    std::array<Tensor, N> results;
    run_into({fetches, N}, feeds.span(), targets.span(), options, results);
    return results;
  }
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {}, const Targets& targets = {},
                          const RunOptions& options = {});
  void run(const Operation& target, const Feeds& feeds = {}, const RunOptions& options = {});
  void run_into(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                const RunOptions& options, std::span<Tensor> results);

  // Calls a function that is one step, which may run the session without hooks (context.session()) or with them. It is
  // called again when a server was lost.
  class WEIR_API StepContext {
   public:
    explicit StepContext(MonitoredSession& session) : session_(session) {}
    Session& session() const { return session_.session(); }
    MonitoredSession& run_with_hooks() const { return session_; }
    [[noreturn]] void request_stop() const;  // throws OutOfRange, as the end of the input does

   private:
    MonitoredSession& session_;
  };
  void run_step_fn(const std::function<void(StepContext&)>& step);

  // Whether the training is to end: a hook asked for it, the input is at its end, or SIGTERM came, as schedulers send
  // it before they take a machine away; the step is ended and saved then. A second SIGTERM ends the process at once. It
  // is not handled when the program has a handler of its own. Throws what a thread of the session failed with.
  bool should_stop();
  // Calls `step` until should_stop() or the end of the input (OutOfRange), and closes.
  void run_steps(const std::function<void()>& step);
  // Calls the hooks' ends, stops the threads and closes the session. Throws what fails. Does nothing when closed.
  void close();

  Graph& graph() const;
  Session& session() const;  // the present one, without hooks; throws FailedPrecondition when closed
  Scaffold& scaffold() const;
  // The writer of a folder that the hooks write to as well.
  std::shared_ptr<summary::FileWriter> writer(const std::string& logdir);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct MonitoredTrainingSessionOptions {
  bool is_chief = true;
  std::string checkpoint_dir = {};  // restored from, and saved to by the chief; empty: neither
  ScaffoldOptions scaffold = {};
  std::vector<Hook> hooks = {}, chief_only_hooks = {};
  // By default every 10 minutes, 100 steps, 100 steps. {.steps = 0} is never.
  Every save_checkpoints = {.secs = std::chrono::minutes(10)};
  Every save_summaries = {.steps = 100};
  int64_t log_step_count_steps = 100;
  std::vector<Listener> listeners = {};  // of the checkpoints
  std::string summary_dir = {};          // empty: checkpoint_dir
  SessionOptions session = {};
  bool handle_sigterm = true;
  std::chrono::milliseconds max_wait = std::chrono::hours(2);
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);
  Log log = {};
};

// A MonitoredSession for training: the chief's saves and restores, writes summaries and counts steps.
//
//   train::MonitoredTrainingSession session(g, {.checkpoint_dir = "runs/mnist",
//                                               .hooks = {train::StopAtStepHook({.last_step = 1000})}});
//   session.run_steps([&] { session.run(train); });
class WEIR_API MonitoredTrainingSession : public MonitoredSession {
 public:
  explicit MonitoredTrainingSession(Graph& graph, const MonitoredTrainingSessionOptions& options = {});
};

}  // namespace weir::train
