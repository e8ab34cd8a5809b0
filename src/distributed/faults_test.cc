// Training while messages are delayed, lost and repeated and tasks are killed and started again at any of them. What
// happens to which message follows from a seed; threads and the clock are real. WEIR_FAULT_RUNS says how many seeds are
// tried, WEIR_FAULT_SEED which is the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>

#include "tests/support/local_cluster.h"
#include "weir/weir.h"

namespace weir::distributed {
namespace {

constexpr int kSteps = 10, kStepsPerCheckpoint = 4;
constexpr int64_t kStepTimeoutMs = 1500;
constexpr int kMostLost = 400;

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

// A sum and a count of steps on the parameter server; what is added is made by the second worker.
struct Model {
  Graph graph;
  Model() {
    Variable sum, step;
    Output saved_sum, saved_step, one;
    {
      auto device = graph.device("/job:ps/task:0");
      sum = graph.variable("sum", 0.f);
      step = graph.variable("step", 0.f);
      saved_sum = graph.placeholder(float32, Shape{}, "saved_sum");
      saved_step = graph.placeholder(float32, Shape{}, "saved_step");
      graph.add({.op = "Identity", .name = "restore/sum", .exact_name = true, .inputs = {assign(sum, saved_sum)}});
      graph.add({.op = "Identity", .name = "restore/step", .exact_name = true, .inputs = {assign(step, saved_step)}});
    }
    {
      auto device = graph.device("/job:worker/task:1");
      one = graph.placeholder(float32, Shape{}, "x") * 1.f;
    }
    auto device = graph.device("/job:ps/task:0");
    graph.add({.op = "Identity", .name = "train/sum", .exact_name = true, .inputs = {assign_add(sum, one)}});
    graph.add({.op = "Identity",
               .name = "train/step",
               .exact_name = true,
               .inputs = {assign_add(step, graph.constant(1.f))}});
    graph.add({.op = "Identity", .name = "read/sum", .exact_name = true, .inputs = {sum}});
    graph.add({.op = "Identity", .name = "read/step", .exact_name = true, .inputs = {step}});
  }
};

// What the parameter server may have: a life of it begins with what was restored.
class Ledger {
 public:
  struct Attempt {
    int life = 0;
    int confirmed = 0;
  };
  void begin_life(float restored) {
    std::lock_guard lock(mutex_);
    ++life_;
    base_ = restored;
    tried_ = confirmed_ = 0;
  }
  Attempt attempt() {
    std::lock_guard lock(mutex_);
    ++tried_;
    return {life_, confirmed_};
  }
  void confirm(const Attempt& attempt, float sum, uint64_t seed) {
    std::lock_guard lock(mutex_);
    if (attempt.life != life_) return;  // of the server's earlier life
    ++confirmed_;
    EXPECT_GE(sum, base_ + static_cast<float>(attempt.confirmed + 1))
        << "seed " << seed << ": an update that was confirmed is lost";
    EXPECT_LE(sum, base_ + static_cast<float>(tried_)) << "seed " << seed << ": an update was applied twice";
  }
  void look(float sum, uint64_t seed) {
    std::lock_guard lock(mutex_);
    EXPECT_GE(sum, base_ + static_cast<float>(confirmed_))
        << "seed " << seed << ": an update that was confirmed is lost";
    EXPECT_LE(sum, base_ + static_cast<float>(tried_)) << "seed " << seed << ": an update was applied twice";
  }

 private:
  std::mutex mutex_;
  int life_ = 0, tried_ = 0, confirmed_ = 0;
  float base_ = 0;
};

// Tasks that the transport has killed, and the thread that starts them again: what it takes to end one must not be done
// in the transport's own.
class Undertaker {
 public:
  void killed(const std::string& address) {
    std::lock_guard lock(mutex_);
    dead_.push_back(address);
    changed_.notify_all();
  }
  void work(LocalCluster& cluster) {
    thread_ = std::thread([this, &cluster] {
      std::unique_lock lock(mutex_);
      while (true) {
        changed_.wait(lock, [&] { return ending_ || !dead_.empty(); });
        if (dead_.empty()) return;
        const std::string address = dead_.front();
        dead_.pop_front();
        lock.unlock();
        cluster.restart(address);
        lock.lock();
      }
    });
  }
  void end() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> dead_;
  bool ending_ = false;
  std::thread thread_;
};

// A training program: goes on with a new session, and from the checkpoint, after whatever happens.
class Trainer {
 public:
  Trainer(LocalCluster& cluster, Ledger& ledger, uint64_t seed) : cluster_(cluster), ledger_(ledger), seed_(seed) {}

  void train() {
    while (done_ < kSteps) {
      ASSERT_LT(lost_in_a_row_, kMostLost) << "seed " << seed_ << ": training does not go on";
      try {
        if (!session_) prepare();
        const Ledger::Attempt attempt = ledger_.attempt();
        const auto values = session_->run({"train/sum:0", "train/step:0"}, {}, {{"x:0", Tensor(1.f)}});
        ledger_.confirm(attempt, values.at(0).scalar<float>(), seed_);
        see_step(values.at(1).scalar<float>());
        lost_in_a_row_ = 0;
        if (++done_ % kStepsPerCheckpoint == 0) save();
      } catch (const Error& e) {
        lost(e);
      }
    }
  }
  int failures() const { return failures_; }

  // With a network that works again: everything is there, and nothing waits any more.
  void look() {
    session_.reset();
    while (!session_) {
      ASSERT_LT(lost_in_a_row_, kMostLost) << "seed " << seed_ << ": the cluster is not usable any more";
      try {
        prepare();
        ledger_.look(session_->run({"read/sum:0"}).at(0).scalar<float>(), seed_);
      } catch (const Error& e) {
        lost(e);
      }
    }
  }

 private:
  void lost(const Error& e) {
    ++failures_;
    // Whoever gives up at the transport's own limit was kept far beyond the step's.
    EXPECT_NE(e.message(), "Deadline Exceeded") << "seed " << seed_ << ": a step did not end at its deadline";
    EXPECT_TRUE(e.code() == Code::Unavailable || e.code() == Code::Aborted || e.code() == Code::Cancelled ||
                e.code() == Code::DeadlineExceeded)
        << "seed " << seed_ << ": " << e.what();
    session_.reset();
    // A task that is gone must have time to come back, on a busy machine, too.
    constexpr int kLongestPauseMs = 64;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 << std::min(lost_in_a_row_, 8), kLongestPauseMs)));
    ++lost_in_a_row_;
  }

  void prepare() {
    auto fresh = std::make_unique<LocalClient>(cluster_, model_.graph, kStepTimeoutMs);
    try {
      const float step = fresh->run({"read/step:0"}).at(0).scalar<float>();
      const float sum = fresh->run({"read/sum:0"}).at(0).scalar<float>();
      if (restoring_) begin_life();  // it failed, and yet happened
      see_step(step);
      ledger_.look(sum, seed_);
    } catch (const Error& e) {
      if (e.code() != Code::FailedPrecondition) throw;
      // The parameter server has lost everything.
      restoring_ = true;
      fresh->run({"restore/sum:0", "restore/step:0"}, {},
                 {{"saved_sum:0", Tensor(saved_sum_)}, {"saved_step:0", Tensor(saved_step_)}});
      begin_life();
    }
    session_ = std::move(fresh);
  }

  void begin_life() {
    restoring_ = false;
    ledger_.begin_life(saved_sum_);
    step_ = saved_step_;
  }

  void save() {
    const auto values = session_->run({"read/sum:0", "read/step:0"});
    saved_sum_ = values.at(0).scalar<float>();
    saved_step_ = values.at(1).scalar<float>();
  }

  void see_step(float step) {
    EXPECT_GE(step, step_) << "seed " << seed_ << ": the global step went backwards";
    step_ = step;
  }

  LocalCluster& cluster_;
  Ledger& ledger_;
  const uint64_t seed_;
  Model model_;
  std::unique_ptr<LocalClient> session_;
  float saved_sum_ = 0, saved_step_ = 0, step_ = 0;
  bool restoring_ = false;
  int done_ = 0, failures_ = 0, lost_in_a_row_ = 0;
};

// What the seed brings.
LoopbackFaults faults_of(uint64_t seed, Undertaker& undertaker) {
  std::mt19937_64 random(seed * 2 + 1);
  auto chance = [&](double most) { return std::uniform_real_distribution<>(0, most)(random); };
  auto up_to = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
  LoopbackFaults faults{.seed = seed};
  if (up_to(2) > 0) faults.lose_request = chance(0.03);
  if (up_to(2) > 0) faults.lose_answer = chance(0.03);
  if (up_to(1) > 0) faults.delay = chance(0.5);
  if (up_to(9) == 0) faults.stall = chance(0.02);
  if (up_to(1) > 0) faults.repeat = chance(0.2);
  // What comes to which task, and about how often; a kill at a call that does not come does not happen.
  struct Moment {
    const char* task;
    const char* method;
    int often;
  };
  const Moment moments[] = {
      {"worker0", "CreateSession", 4}, {"worker0", "RunStep", 18},        {"worker0", "CloseSession", 3},
      {"ps0", "GetStatus", 4},         {"ps0", "CreateWorkerSession", 4}, {"ps0", "RegisterGraph", 8},
      {"ps0", "RunGraph", 18},         {"ps0", "CleanupGraph", 3},        {"ps0", "DeleteWorkerSession", 3},
      {"worker1", "GetStatus", 4},     {"worker1", "RegisterGraph", 3},   {"worker1", "CreateWorkerSession", 4},
      {"worker1", "RunGraph", 12},     {"worker1", "RecvTensor", 12},     {"worker1", "CleanupGraph", 3},
  };
  for (int kills = up_to(2); kills > 0; --kills) {
    const Moment& moment = moments[up_to(static_cast<int>(std::size(moments)) - 1)];
    faults.kills.push_back({moment.task, moment.method, up_to(moment.often), up_to(1) == 1});
  }
  faults.killed = [&undertaker](const std::string& address) { undertaker.killed(address); };
  return faults;
}

TEST(Faults, TrainingGoesOnWithoutLosingOrRepeatingUpdates) {
  const int runs = setting("WEIR_FAULT_RUNS", 40), first = setting("WEIR_FAULT_SEED", 0);
  int failures = 0;
  for (int run = 0; run < runs && !HasFatalFailure(); ++run) {
    const uint64_t seed = static_cast<uint64_t>(first + run);
    Undertaker undertaker;
    LocalCluster cluster({.faults = faults_of(seed, undertaker)});
    undertaker.work(cluster);
    Ledger ledger;
    Trainer trainer(cluster, ledger, seed);
    trainer.train();
    trainer.look();
    failures += trainer.failures();
    undertaker.end();
  }
  EXPECT_GT(failures, runs / 4) << "the faults did not happen";
}

}  // namespace
}  // namespace weir::distributed
