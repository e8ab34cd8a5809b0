#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/coordinator.h"
#include "weir/events.h"
#include "weir/export.h"
#include "weir/graph.h"
#include "weir/saver.h"
#include "weir/session.h"
#include "weir/session_manager.h"
#include "weir/shared.h"

namespace weir::train {

class Scaffold;  // weir/monitored_session.h

// What hooks find before the session is made.
class WEIR_API SessionSetup {
 public:
  SessionSetup(Graph& graph, Scaffold& scaffold, Log log);
  Graph& graph() const { return *graph_; }
  Scaffold& scaffold() const { return *scaffold_; }
  // The writer of a folder, which all hooks of the session share: TensorBoard reads one file of a folder at a time.
  std::shared_ptr<summary::FileWriter> writer(const std::string& logdir);
  const Log& log() const { return log_; }
  // The global step; throws FailedPrecondition when the graph has none, naming who needs it.
  Variable global_step(std::string_view hook) const;

 private:
  Graph* graph_;
  Scaffold* scaffold_;
  Log log_;
  std::map<std::string, std::shared_ptr<summary::FileWriter>> writers_;
};

// What a hook adds to a run.
struct SessionRunArgs {
  std::vector<Output> fetches = {};
  std::vector<Feed> feeds = {};
  bool trace = false;
};
struct SessionRunValues {
  std::span<const Tensor> results;  // of the hook's own fetches
  const RunTrace* trace = nullptr;  // when anybody asked for one
};

// A run on its way: what the program asked for, in which session, and whether it is to be the last.
class WEIR_API SessionRunContext {
 public:
  SessionRunContext(Session& session, std::span<const Output> fetches, std::span<const Feed> feeds,
                    std::span<const Operation> targets, std::function<bool()> interrupted)
      : session_(session), fetches_(fetches), feeds_(feeds), targets_(targets), interrupted_(std::move(interrupted)) {}
  Session& session() const { return session_; }  // for runs without hooks
  std::span<const Output> fetches() const { return fetches_; }
  std::span<const Feed> feeds() const { return feeds_; }
  std::span<const Operation> targets() const { return targets_; }
  void request_stop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }
  // Whether an end was asked for from outside (SIGTERM, the coordinator): a hook that waits should not wait on.
  bool interrupted() const { return interrupted_(); }

 private:
  Session& session_;
  std::span<const Output> fetches_;
  std::span<const Feed> feeds_;
  std::span<const Operation> targets_;
  std::function<bool()> interrupted_;
  bool stop_requested_ = false;
};

// What is done around the runs of a monitored session. Errors of a hook are errors of the run, and end it.
class WEIR_API SessionRunHook {
 public:
  virtual ~SessionRunHook();
  // Before the session is made: the last moment to add to the graph.
  virtual void begin(SessionSetup& /*setup*/) {}
  // After the session was made, also after it was made again.
  virtual void after_create_session(Session& /*session*/, Coordinator& /*coordinator*/) {}
  virtual SessionRunArgs before_run(SessionRunContext& /*context*/) { return {}; }
  virtual void after_run(SessionRunContext& /*context*/, const SessionRunValues& /*values*/) {}
  // At the end of the session, unless an error ended it.
  virtual void end(Session& /*session*/) {}
};
using Hook = Shared<SessionRunHook>;

// When something is due: after so many steps, or so much time. Exactly one of them.
struct Every {
  std::optional<int64_t> steps = {};
  std::optional<std::chrono::duration<double>> secs = {};
};
class WEIR_API SecondOrStepTimer {
 public:
  // Throws InvalidArgument when both or neither are given, or the number of steps is not positive.
  explicit SecondOrStepTimer(Every every);
  bool should_trigger_for_step(int64_t step) const;
  // How long ago, in time and steps, the last time was; nothing at the first.
  struct Elapsed {
    double secs;
    int64_t steps;
  };
  std::optional<Elapsed> update_last_triggered_step(int64_t step);
  std::optional<int64_t> last_triggered_step() const { return last_step_; }
  void reset() { last_step_.reset(); }

 private:
  Every every_;
  std::optional<int64_t> last_step_;
  std::chrono::steady_clock::time_point last_time_;
};

// Stops at a step, or so many steps after the first.
struct StopAtStepOptions {
  std::optional<int64_t> num_steps = {}, last_step = {};
};
class WEIR_API StopAtStepHook final : public SessionRunHook {
 public:
  explicit StopAtStepHook(StopAtStepOptions options);
  void begin(SessionSetup& setup) override;
  void after_create_session(Session& session, Coordinator& coordinator) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  StopAtStepOptions options_;
  std::optional<int64_t> last_step_;
  Variable global_step_;
};

// Is asked around the saving of a checkpoint.
class WEIR_API CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener();
  virtual void begin() {}
  virtual void before_save(Session& /*session*/, int64_t /*global_step*/) {}
  // True ends the training.
  virtual bool after_save(Session& /*session*/, int64_t /*global_step*/) { return false; }
  virtual void end(Session& /*session*/, int64_t /*global_step*/) {}
};
using Listener = Shared<CheckpointSaverListener>;

// Saves a checkpoint at the beginning, every so often, and at the end.
struct CheckpointSaverOptions {
  Every every = {};
  std::string checkpoint_basename = "model.ckpt";
  std::shared_ptr<Saver> saver = {};  // none: the scaffold's
  std::vector<Listener> listeners = {};
};
class WEIR_API CheckpointSaverHook final : public SessionRunHook {
 public:
  explicit CheckpointSaverHook(std::string checkpoint_dir, CheckpointSaverOptions options);
  void begin(SessionSetup& setup) override;
  void after_create_session(Session& session, Coordinator& coordinator) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;

 private:
  bool save(Session& session, int64_t step);  // whether a listener wants to stop
  Saver& saver() const;

  std::string directory_, path_;
  CheckpointSaverOptions options_;
  SecondOrStepTimer timer_;
  Scaffold* scaffold_ = nullptr;
  Log log_;
  Variable global_step_;
  std::shared_ptr<summary::FileWriter> writer_;
};

// Counts steps per second: into the log, and as a summary "global_step/sec" of a folder.
struct StepCounterOptions {
  Every every = {.steps = 100};
  std::string output_dir = {};  // empty: no summary
};
class WEIR_API StepCounterHook final : public SessionRunHook {
 public:
  explicit StepCounterHook(StepCounterOptions options = {});
  void begin(SessionSetup& setup) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  StepCounterOptions options_;
  SecondOrStepTimer timer_;
  Log log_;
  Variable global_step_;
  std::shared_ptr<summary::FileWriter> writer_;
  std::optional<int64_t> last_step_;
  int warnings_ = 0;
};

// Writes summaries every so often.
struct SummarySaverOptions {
  Every every = {};
  std::string output_dir = {};
  Output summary_op = {};  // none: the scaffold's
};
class WEIR_API SummarySaverHook final : public SessionRunHook {
 public:
  explicit SummarySaverHook(SummarySaverOptions options);
  void begin(SessionSetup& setup) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;

 private:
  SummarySaverOptions options_;
  SecondOrStepTimer timer_;
  Scaffold* scaffold_ = nullptr;
  Variable global_step_;
  std::shared_ptr<summary::FileWriter> writer_;
  std::optional<int64_t> next_step_;
  bool requested_ = false;
};

// Logs tensors: "loss = 0.25, accuracy = 0.9 (1.203 sec)".
struct LoggingTensorOptions {
  Every every = {};  // of the runs, not of the global step; may be left out with at_end
  bool at_end = false;
  std::function<std::string(std::span<const Tensor>)> formatter = {};
};
class WEIR_API LoggingTensorHook final : public SessionRunHook {
 public:
  explicit LoggingTensorHook(std::vector<std::pair<std::string, Output>> tensors, LoggingTensorOptions options);
  void begin(SessionSetup& setup) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;
  void end(Session& session) override;

 private:
  void say(std::span<const Tensor> values);

  std::vector<std::string> tags_;
  std::vector<Output> tensors_;
  LoggingTensorOptions options_;
  std::optional<SecondOrStepTimer> timer_;  // none: only at the end
  Log log_;
  int64_t runs_ = 0;
  bool due_ = false;
};

// Ends the training when the loss is not a number: throws InvalidArgument, or stops.
struct NanTensorOptions {
  bool fail_on_nan_loss = true;
};
class WEIR_API NanTensorHook final : public SessionRunHook {
 public:
  explicit NanTensorHook(Output loss, NanTensorOptions options = {}) : loss_(loss), options_(options) {}
  void begin(SessionSetup& setup) override { log_ = setup.log(); }
  SessionRunArgs before_run(SessionRunContext& /*context*/) override { return {.fetches = {loss_}}; }
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  Output loss_;
  NanTensorOptions options_;
  Log log_;
};

// Runs something at the end. Shared with the program, it tells it what came out.
struct FinalOps {
  std::vector<Output> fetches = {};
  std::vector<Feed> feeds = {};
  std::vector<Operation> targets = {};
};
class WEIR_API FinalOpsHook final : public SessionRunHook {
 public:
  explicit FinalOpsHook(FinalOps ops) : ops_(std::move(ops)) {}
  void end(Session& session) override;
  const std::vector<Tensor>& final_ops_values() const { return values_; }

 private:
  FinalOps ops_;
  std::vector<Tensor> values_;
};

// Feeds what a function gives.
class WEIR_API FeedFnHook final : public SessionRunHook {
 public:
  explicit FeedFnHook(std::function<std::vector<Feed>()> feed_fn) : feed_fn_(std::move(feed_fn)) {}
  SessionRunArgs before_run(SessionRunContext& /*context*/) override { return {.feeds = feed_fn_()}; }

 private:
  std::function<std::vector<Feed>()> feed_fn_;
};

// Waits, before the first run, until others have come to a step.
class WEIR_API GlobalStepWaiterHook final : public SessionRunHook {
 public:
  explicit GlobalStepWaiterHook(int64_t wait_until_step) : wait_until_step_(wait_until_step) {}
  void begin(SessionSetup& setup) override;
  SessionRunArgs before_run(SessionRunContext& context) override;

 private:
  int64_t wait_until_step_;
  Variable global_step_;
  Log log_;
  bool started_ = false;
};

// Writes a timeline of a run every so often: timeline-<step>.json, for chrome://tracing, and the run's statistics into
// the folder's events.
struct ProfilerOptions {
  Every every = {};
  std::string output_dir = ".";
};
class WEIR_API ProfilerHook final : public SessionRunHook {
 public:
  explicit ProfilerHook(ProfilerOptions options);
  void begin(SessionSetup& setup) override;
  SessionRunArgs before_run(SessionRunContext& context) override;
  void after_run(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  ProfilerOptions options_;
  SecondOrStepTimer timer_;
  Variable global_step_;
  std::shared_ptr<summary::FileWriter> writer_;
  std::optional<int64_t> next_step_;
  bool requested_ = false;
};

}  // namespace weir::train
