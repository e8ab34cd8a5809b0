// Workers and a chief, which are sessions of one process that share their state, as those of a server do.
#include <gtest/gtest.h>

#include <thread>

#include "weir/weir.h"

namespace weir::train {
namespace {

// A worker's graph: y = w * x, whose gradient is x.
struct Worker {
  Worker(const std::shared_ptr<Resources>& resources, const SyncReplicasOptions& numbers) {
    x = g.placeholder(float32, {}, "x");
    w = g.variable("w", 0.f);
    step = g.variable("global_step", Tensor(int64_t{0}), {.trainable = false});
    SyncReplicasOptions options = numbers;
    options.global_step = step;
    optimizer.emplace(descent, options);
    train = optimizer->minimize(w * x, {.global_step = step});
    tokens = optimizer->init_tokens();
    session.emplace(g, SessionOptions{.resources = resources});
  }
  void compute(float gradient) { session->run(train, {{x, gradient}}); }
  int64_t global_step() { return session->run(step).scalar<int64_t>(); }
  float value() { return session->run(w).scalar<float>(); }

  Graph g;
  Output x;
  Variable w, step;
  GradientDescent descent{1.f};
  std::optional<SyncReplicas> optimizer;
  Operation train, tokens;
  std::optional<Session> session;
};

void begin(Worker& chief, bool tokens = true) {
  chief.session->run(chief.g.global_variables_initializer());
  chief.session->run(chief.optimizer->nodes().chief_init);
  if (tokens) chief.session->run(chief.tokens);
}

TEST(SyncReplicas, AppliesTheMeanOfEnoughGradientsOnce) {
  auto resources = std::make_shared<Resources>();
  const SyncReplicasOptions numbers{.replicas_to_aggregate = 2, .total_num_replicas = 2};
  Worker chief(resources, numbers), other(resources, numbers);
  begin(chief);
  other.session->run(other.optimizer->nodes().local_step_init);
  chief.compute(1.f);  // the first tokens let both through
  other.compute(3.f);
  EXPECT_EQ(chief.value(), 0.f);
  chief.session->run(chief.optimizer->nodes().sync);
  EXPECT_EQ(chief.value(), -2.f);
  EXPECT_EQ(chief.global_step(), 1);
}

TEST(SyncReplicas, DropsGradientsOfEarlierSteps) {
  auto resources = std::make_shared<Resources>();
  const SyncReplicasOptions numbers{.replicas_to_aggregate = 1, .total_num_replicas = 2};
  Worker chief(resources, numbers), late(resources, numbers);
  begin(chief);
  late.session->run(late.optimizer->nodes().local_step_init);
  auto sync = [&] { chief.session->run(chief.optimizer->nodes().sync); };
  chief.compute(1.f);
  sync();  // step 1, and two tokens that say so
  EXPECT_EQ(chief.value(), -1.f);
  late.compute(100.f);  // for step 0, as the first token said: it counts for nothing, and the worker gets a new token
  chief.compute(1.f);
  sync();
  EXPECT_EQ(chief.value(), -2.f);
  late.compute(50.f);  // for step 1
  late.compute(2.f);   // for step 2
  sync();
  EXPECT_EQ(chief.value(), -4.f);
  EXPECT_EQ(chief.global_step(), 3);
}

TEST(SyncReplicas, WorkersWaitForTokens) {
  auto resources = std::make_shared<Resources>();
  const SyncReplicasOptions numbers{.replicas_to_aggregate = 1};
  Worker chief(resources, numbers);
  begin(chief, /*tokens=*/false);
  Coordinator coordinator;
  QueueRunner runner(QueueBase(chief.optimizer->nodes().runner_queue), {chief.optimizer->nodes().sync});
  add_queue_runner(chief.g, runner);
  auto threads = start_queue_runners(*chief.session, coordinator);
  for (int i = 0; i < 20; ++i) {
    chief.compute(1.f);
    EXPECT_EQ(chief.global_step(), i + 1);  // the token came after the update
  }
  EXPECT_EQ(chief.value(), -20.f);
}

TEST(SyncReplicas, RefusesNonsense) {
  Graph g;
  GradientDescent descent(1.f);
  EXPECT_THROW(SyncReplicas(descent, {.replicas_to_aggregate = 0}), Error);
  SyncReplicas optimizer(descent, {.replicas_to_aggregate = 3, .total_num_replicas = 1});
  EXPECT_THROW(optimizer.nodes(), Error);
  Variable w = g.variable("w", 0.f);
  EXPECT_THROW(optimizer.minimize(w * 2.f), Error);  // no global step
  optimizer.minimize(w * 2.f, {.global_step = g.variable("step", Tensor(int64_t{0}), {.trainable = false})});
  EXPECT_THROW(optimizer.init_tokens(1), Error);
}

}  // namespace
}  // namespace weir::train
