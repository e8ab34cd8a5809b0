#include "weir/monitored_session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::train {
namespace {

using testing::expect_error;

class MonitoredSessions : public ::testing::Test {
 protected:
  MonitoredSessions() : folder_(::testing::TempDir() + "weir_monitored_" + std::to_string(getpid())) {}
  ~MonitoredSessions() override { std::filesystem::remove_all(folder_); }

  // Counts w up by 2 and the global step by 1.
  struct Counter {
    Graph g;
    Variable step = get_or_create_global_step(g);
    Variable w = g.get_variable("w", Shape{}, {.initializer = zeros_initializer()});
    Operation train;
    Counter() {
      Operation add = assign_add(w, 2.f).op();
      auto after = g.control_dependencies({add});
      train = assign_add(step, Tensor(int64_t{1})).op();
    }
  };
  Log log() {
    return [this](std::string_view text) { lines_ += std::string(text) + "\n"; };
  }
  // Kinds of events in the folder's one file, and the tags of its summaries.
  std::multiset<std::string> events() const {
    std::multiset<std::string> found;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
      ++files;
      RecordReader reader(entry.path().string());
      std::string record;
      while (reader.next(record)) {
        const summary::Event event = summary::Event::parse(record);
        found.insert(event.kind);
        for (const auto& value : event.values) found.insert(value.tag);
      }
    }
    EXPECT_EQ(files, 1) << "TensorBoard reads one file of a folder";
    return found;
  }

  std::string folder_, lines_;
};

TEST_F(MonitoredSessions, ATrainingSessionSavesAndGoesOnWhereItStopped) {
  for (int run = 1; run <= 2; ++run) {
    Counter c;
    summary::scalar("weight", c.w);
    MonitoredTrainingSession session(c.g, {.checkpoint_dir = folder_,
                                           .hooks = {StopAtStepHook({.num_steps = 5})},
                                           .save_checkpoints = {.steps = 2},
                                           .save_summaries = {.steps = 1},
                                           .log_step_count_steps = 2,
                                           .log = log()});
    EXPECT_TRUE(c.g.finalized());
    session.run_steps([&] { session.run(c.train); });
    EXPECT_FALSE(c.g.finalized());
    EXPECT_EQ(latest_checkpoint(folder_), folder_ + "/model.ckpt-" + std::to_string(5 * run));
    EXPECT_EQ(CheckpointReader(folder_ + "/model.ckpt-" + std::to_string(5 * run)).get_tensor("w").scalar<float>(),
              10.f * static_cast<float>(run));
    if (run > 1) continue;
    const auto found = events();
    EXPECT_EQ(found.count("weight"), 5u);
    EXPECT_GE(found.count("global_step/sec"), 1u);
    EXPECT_EQ(found.count("graph_def"), 1u);
    EXPECT_GE(found.count("session_log"), 3u);
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/graph.pbtxt"));
    EXPECT_NE(lines_.find("Saving checkpoints for 0 into "), std::string::npos) << lines_;
    EXPECT_NE(lines_.find("global_step/sec: "), std::string::npos) << lines_;
  }
}

// Loses the session before a run, some times.
struct Losing : SessionRunHook {
  Losing(int at_run, int times, Code lost) : runs(at_run), left(times), code(lost) {}
  SessionRunArgs before_run(SessionRunContext& /*context*/) override {
    if (--runs <= 0 && left-- > 0) throw Error(code, "the server is gone");
    return {};
  }
  void after_create_session(Session& /*session*/, Coordinator& /*coordinator*/) override { ++created; }
  int runs, left, created = 0;
  Code code;
};

TEST_F(MonitoredSessions, ALostSessionIsMadeAgainFromTheLastCheckpoint) {
  Counter c;
  auto losing = std::make_shared<Losing>(6, 2, Code::Aborted);
  int steps = 0;
  MonitoredTrainingSession session(c.g, {.checkpoint_dir = folder_,
                                         .hooks = {StopAtStepHook({.last_step = 8}), losing},
                                         .save_checkpoints = {.steps = 4},
                                         .log = log()});
  session.run_steps([&] {
    session.run(c.train);
    ++steps;
  });
  EXPECT_EQ(losing->created, 3);
  EXPECT_EQ(steps, 9) << "five, of which four were saved, and four more";
  EXPECT_EQ(CheckpointReader(folder_ + "/model.ckpt-8").get_tensor("w").scalar<float>(), 16.f);
  EXPECT_NE(lines_.find("The session was lost"), std::string::npos);
}

TEST_F(MonitoredSessions, OneThatIsNotToRecoverThrows) {
  Counter c;
  MonitoredSession session(c.g, {.hooks = {Losing(1, 1, Code::Unavailable)}, .recover = false});
  expect_error([&] { session.run(c.train); }, Code::Unavailable, "the server is gone");
}

TEST_F(MonitoredSessions, ASessionThatCannotBeMadeYetIsMadeLater) {
  Counter c;
  int attempts = 0;
  MonitoredSession session(c.g, {.create_session = [&](Scaffold& scaffold) -> std::unique_ptr<Session> {
                                   if (++attempts < 3) throw Error(Code::Unavailable, "no server yet");
                                   auto made = std::make_unique<Session>(c.g);
                                   made->run(scaffold.init_op());
                                   return made;
                                 },
                                 .log = log()});
  EXPECT_EQ(attempts, 3);
  session.run(c.train);
  EXPECT_EQ(session.run(c.w).scalar<float>(), 2.f);
}

TEST_F(MonitoredSessions, TheEndOfTheInputEndsTheLoopAndIsSaved) {
  Counter c;
  std::ofstream(folder_ + ".txt") << "a\nb\nc\n";
  const Output line = [&] {
    auto names = string_input_producer(c.g, std::vector<std::string>{folder_ + ".txt"}, {.num_epochs = 2});
    return TextLineReader(c.g).read(names.handle()).value;
  }();
  int lines = 0;
  MonitoredTrainingSession session(c.g, {.checkpoint_dir = folder_, .log = log()});
  session.run_steps([&] {
    session.run(line, {}, {c.train});
    ++lines;
  });
  std::filesystem::remove(folder_ + ".txt");
  EXPECT_EQ(lines, 6);
  EXPECT_TRUE(checkpoint_exists(folder_ + "/model.ckpt-6"));
}

TEST_F(MonitoredSessions, AnErrorOfARunnerComesOutOfTheRun) {
  Counter c;
  const Output line = [&] {
    auto names = string_input_producer(c.g, std::vector<std::string>{folder_ + "/no such file"});
    auto record = TextLineReader(c.g).read(names.handle());
    return batch(std::vector<Output>{record.value}, {.batch_size = 1})[0];
  }();
  MonitoredSession session(c.g, {.log = log()});
  expect_error([&] { session.run(line); }, Code::NotFound, "no such file");
}

TEST_F(MonitoredSessions, SigtermSavesAndEnds) {
  Counter c;
  {
    MonitoredTrainingSession session(c.g, {.checkpoint_dir = folder_, .log = log()});
    int steps = 0;
    while (!session.should_stop()) {
      session.run(c.train);
      if (++steps == 3) std::raise(SIGTERM);
    }
    EXPECT_EQ(steps, 3);
  }
  EXPECT_TRUE(checkpoint_exists(folder_ + "/model.ckpt-3"));
  struct sigaction action {};
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

// Notes what is called.
struct Noting : SessionRunHook {
  explicit Noting(std::string& n) : notes(n) {}
  void begin(SessionSetup& /*setup*/) override { notes += "begin "; }
  void after_create_session(Session& /*session*/, Coordinator& /*c*/) override { notes += "created "; }
  SessionRunArgs before_run(SessionRunContext& /*context*/) override {
    notes += "before ";
    return {};
  }
  void after_run(SessionRunContext& /*context*/, const SessionRunValues& /*values*/) override { notes += "after "; }
  void end(Session& /*session*/) override { notes += "end"; }
  std::string& notes;
};

TEST_F(MonitoredSessions, HooksAreCalledInOrderAndTheEndOnlyWithoutAnError) {
  std::string notes;
  {
    Counter c;
    MonitoredSession session(c.g, {.hooks = {Noting(notes)}});
    session.run(c.train);
  }
  EXPECT_EQ(notes, "begin created before after end");
  notes.clear();
  try {
    Counter c;
    MonitoredSession session(c.g, {.hooks = {Noting(notes)}});
    throw Error(Code::Internal, "of the program");
  } catch (const Error&) {
  }
  EXPECT_EQ(notes, "begin created ");
}

TEST_F(MonitoredSessions, ALossThatIsNoNumberEndsTheTraining) {
  Counter c;
  const Output loss = weir::log(c.w - 100.f);
  {
    MonitoredSession session(c.g, {.hooks = {NanTensorHook(loss)}, .log = log()});
    expect_error([&] { session.run(c.train); }, Code::InvalidArgument, "NaN loss during training");
  }
  MonitoredSession session(c.g, {.hooks = {NanTensorHook(loss, {.fail_on_nan_loss = false})}, .log = log()});
  session.run(c.train);
  EXPECT_TRUE(session.should_stop());
  expect_error([&] { session.run(c.train); }, Code::FailedPrecondition, "should_stop");
}

TEST_F(MonitoredSessions, HooksFeedAndFetchBesideTheProgram) {
  Counter c;
  const Output x = c.g.placeholder(float32, {}, "x"), y = c.g.placeholder(float32, {}, "y");
  const Output sum = x + y;
  auto feed = [&] { return std::vector<Feed>{{x, 3.f}}; };
  auto last = std::make_shared<FinalOpsHook>(FinalOps{.fetches = {c.w}});
  MonitoredSession session(
      c.g,
      {.hooks = {FeedFnHook(feed), LoggingTensorHook({{"sum", sum}}, {.every = {.steps = 2}}), last}, .log = log()});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(session.run(sum, {{y, 4.f}}, {c.train}).scalar<float>(), 7.f);
  expect_error([&] { session.run(sum, {{x, 1.f}, {y, 1.f}}); }, Code::InvalidArgument, "fed by a SessionRunHook");
  session.close();
  EXPECT_EQ(last->final_ops_values().at(0).scalar<float>(), 6.f);
  EXPECT_EQ(lines_.find("sum = 7\n"), 0u) << lines_;
  EXPECT_NE(lines_.find("sum = 7 ("), std::string::npos) << lines_;
  expect_error([&] { session.run(sum); }, Code::FailedPrecondition, "closed");
}

struct Stopping : CheckpointSaverListener {
  bool after_save(Session& /*session*/, int64_t step) override { return step >= 4; }
};

TEST_F(MonitoredSessions, AListenerMayEndTheTraining) {
  Counter c;
  MonitoredTrainingSession session(
      c.g, {.checkpoint_dir = folder_, .save_checkpoints = {.steps = 2}, .listeners = {Stopping()}, .log = log()});
  int steps = 0;
  session.run_steps([&] {
    session.run(c.train);
    ++steps;
  });
  EXPECT_EQ(steps, 4);
}

TEST_F(MonitoredSessions, AWorkerWaitsForTheChief) {
  auto shared = std::make_shared<Resources>();
  Counter chief, worker;
  std::thread waits([&] {
    MonitoredTrainingSession session(worker.g, {.is_chief = false,
                                                .hooks = {GlobalStepWaiterHook(2)},
                                                .session = {.resources = shared},
                                                .handle_sigterm = false,
                                                .log = [](std::string_view) {}});
    session.run(worker.train);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  MonitoredTrainingSession session(chief.g, {.session = {.resources = shared}, .log = log()});
  for (int i = 0; i < 2; ++i) session.run(chief.train);
  waits.join();
  EXPECT_EQ(session.run(chief.w).scalar<float>(), 6.f);
}

TEST_F(MonitoredSessions, AWorkerDoesNotWaitForEver) {
  Counter c;
  expect_error(
      [&] { MonitoredSession(c.g, {.is_chief = false, .max_wait = std::chrono::milliseconds(1), .log = log()}); },
      Code::DeadlineExceeded, "Variables not initialized: global_step, w");
  EXPECT_FALSE(c.g.finalized());
}

TEST_F(MonitoredSessions, AStepFunctionRunsWithAndWithoutHooksAndMayEndTheLoop) {
  Counter c;
  std::string notes;
  MonitoredSession session(c.g, {.hooks = {Noting(notes)}});
  session.run_steps([&] {
    session.run_step_fn([&](MonitoredSession::StepContext& context) {
      context.session().run(c.train);
      context.run_with_hooks().run(c.train);
      context.request_stop();
    });
  });
  EXPECT_EQ(notes, "begin created before after end");
}

TEST_F(MonitoredSessions, AHookWithoutAGlobalStepSaysSo) {
  Graph g;
  g.variable("v", 1.f);
  expect_error([&] { MonitoredSession(g, {.hooks = {StopAtStepHook({.last_step = 1})}}); }, Code::FailedPrecondition,
               "Global step should be created to use StopAtStepHook");
  expect_error([&] { StopAtStepHook({}); }, Code::InvalidArgument, "One of num_steps or last_step");
  expect_error([&] { SummarySaverHook({.output_dir = "x"}); }, Code::InvalidArgument, "every_secs or every_steps");
}

TEST_F(MonitoredSessions, AProfilerWritesTimelines) {
  Counter c;
  MonitoredSession session(c.g, {.hooks = {ProfilerHook({.every = {.steps = 2}, .output_dir = folder_})}});
  for (int i = 0; i < 4; ++i) session.run(c.train);
  session.close();
  int timelines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    timelines += entry.path().filename().string().starts_with("timeline-") ? 1 : 0;
  }
  EXPECT_GE(timelines, 1);
}

TEST_F(MonitoredSessions, ASessionManagerRestoresOrSaysWhatIsMissing) {
  Counter c;
  const Output ready = report_uninitialized_variables(c.g);
  Saver saver(c.g);
  SessionManager manager(c.g, {.ready_op = ready, .log = log()});
  const RestoreOptions from{.saver = &saver, .checkpoint_dir = folder_};
  EXPECT_FALSE(manager.recover_session(from).ready);
  expect_error([&] { manager.prepare_session({.restore = from}); }, Code::FailedPrecondition, "no init_op");
  expect_error([&] { manager.prepare_session({.restore = from, .init_op = c.w.initializer()}); },
               Code::FailedPrecondition, "Variables not initialized: global_step");
  auto session = manager.prepare_session({.restore = from, .init_op = c.g.global_variables_initializer()});
  session->run(c.train);
  saver.save(*session, folder_ + "/model.ckpt", {.global_step = 1});
  auto recovered = manager.recover_session(from);
  EXPECT_TRUE(recovered.ready);
  EXPECT_EQ(recovered.session->run(c.w).scalar<float>(), 2.f);
}

TEST(GlobalStep, IsMadeOnceAndChecked) {
  Graph g;
  EXPECT_FALSE(get_global_step(g));
  const Variable step = get_or_create_global_step(g);
  EXPECT_EQ(step.name(), "global_step");
  EXPECT_EQ(step.dtype(), DType::Int64);
  EXPECT_EQ(get_or_create_global_step(g).handle(), step.handle());
  expect_error([&] { create_global_step(g); }, Code::InvalidArgument, "already exists");
  Graph other;
  other.variable("global_step", 1.5f);
  expect_error([&] { get_global_step(other); }, Code::InvalidArgument, "integer type");
}

}  // namespace
}  // namespace weir::train
