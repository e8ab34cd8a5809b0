// Training in several processes, which are threads here: each has a graph, a session and an engine of its own.
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <thread>

#include "collectives/groups.h"
#include "tests/support/thread_transport.h"
#include "weir/weir.h"

namespace weir {
namespace {

using testing::ThreadHub;

// Runs a program in every rank; its groups are "rank0", "rank1", ...
void each_rank(int size, const std::function<void(int rank, const std::string& group)>& program) {
  ThreadHub hub(size);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      const std::string group = "rank" + std::to_string(r);
      collectives::set_group(group, std::make_shared<collectives::Engine>([&] { return hub.join(r); }));
      program(r, group);
      collectives::set_group(group, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Tensor rows(int first, int count) {
  Tensor x(float32, {count, 3});
  for (int i = 0; i < count * 3; ++i) x.mutable_data<float>()[i] = static_cast<float>((first * 3 + i) % 7) / 7 - 0.4f;
  return x;
}

// A loss that is a mean over the rows of x, with a gradient of rows for the embedding.
Output model(Graph& g, const Output& x) {
  Variable w = g.variable("w", {{0.1f, 0.2f}, {-0.3f, 0.1f}, {0.2f, 0.4f}});
  Variable v = g.variable("v", {{0.5f}, {-0.25f}});
  return reduce_mean(square(matmul(nn::relu(matmul(x, w)), v) - 1.f));
}

std::vector<float> train(const std::string& group, int first, int count, int steps) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "x");
  Output loss = model(g, x);
  train::Momentum momentum(0.1f, 0.9f);
  std::optional<train::DistributedOptimizer> distributed;
  if (!group.empty()) distributed.emplace(momentum, train::DistributedOptimizerOptions{.group = group});
  train::Optimizer& optimizer = distributed ? static_cast<train::Optimizer&>(*distributed) : momentum;
  Operation step = optimizer.minimize(loss);
  Session session(g);
  session.run(g.global_variables_initializer());
  for (int i = 0; i < steps; ++i) session.run(step, {{x, rows(first, count)}});
  const Tensor w = session.run(g.trainable_variables()[0]);
  return {w.data<float>().begin(), w.data<float>().end()};
}

TEST(DistributedTraining, EqualsOneProcessWithTheWholeBatch) {
  const std::vector<float> whole = train("", 0, 8, 10);
  std::vector<std::vector<float>> of_rank(4);
  each_rank(4, [&](int r, const std::string& group) { of_rank[static_cast<size_t>(r)] = train(group, r * 2, 2, 10); });
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(of_rank[0][i], whole[i], 1e-5);
    for (const auto& other : of_rank) EXPECT_EQ(other[i], of_rank[0][i]);  // to the bit
  }
}

TEST(DistributedTraining, OperationsAndTheirGradients) {
  each_rank(2, [&](int r, const std::string& group) {
    Graph g;
    Output x = g.placeholder(float32, {kUnknown, 2}, "x");
    auto node = [&](const char* op, const Output& input) { return NodeBuilder(op).input(input).attr("group", group); };
    Output sum = node("HorovodAllreduce", x).output();
    Output all = node("HorovodAllgather", x).output();
    Output from = node("HorovodBroadcast", x).attr("root_rank", int64_t{1}).output();
    const float weight = static_cast<float>(r + 1);
    Output sum_grad = gradients({reduce_sum(sum * weight)}, {x})[0].dense();
    Output all_grad = gradients({reduce_sum(all * weight)}, {x})[0].dense();
    Output from_grad = gradients({reduce_sum(from * weight)}, {x})[0].dense();
    Session session(g);
    const Tensor mine = r == 0 ? Tensor::from({1.f, 2.f}, {1, 2}) : Tensor::from({3.f, 4.f}, {1, 2});
    auto values = session.run({sum, all, from, sum_grad, all_grad, from_grad}, {{x, mine}});
    EXPECT_EQ(values[0].data<float>()[0], 4);
    EXPECT_EQ(values[0].data<float>()[1], 6);
    EXPECT_EQ(values[1].shape(), (Shape{2, 2}));
    EXPECT_EQ(values[1].data<float>()[2], 3);
    EXPECT_EQ(values[2].data<float>()[1], 4);
    // The weights of both losses add up, and only the root has a say in what it sends.
    EXPECT_EQ(values[3].data<float>()[0], 3);
    EXPECT_EQ(values[4].data<float>()[1], 3);
    EXPECT_EQ(values[4].shape(), (Shape{1, 2}));
    EXPECT_EQ(values[5].data<float>()[0], r == 1 ? 3 : 0);
  });
}

TEST(DistributedTraining, SparseGradientsAreGathered) {
  each_rank(2, [&](int r, const std::string& group) {
    Graph g;
    Variable table = g.variable("table", Tensor::zeros(float32, {4, 2}));
    Output loss = reduce_sum(gather(table, {r, 3}));
    train::GradientDescent descent(1.f);
    train::DistributedOptimizer optimizer(descent, {.group = group});
    Operation step = optimizer.minimize(loss);
    Session session(g);
    session.run(g.global_variables_initializer());
    session.run(step);
    const Tensor value = session.run(table);
    EXPECT_EQ(value.data<float>()[0], -0.5f);
    EXPECT_EQ(value.data<float>()[2], -0.5f);
    EXPECT_EQ(value.data<float>()[4], 0);
    EXPECT_EQ(value.data<float>()[6], -1.f);
  });
}

TEST(DistributedTraining, TimeoutsEndAWaitForOthers) {
  ThreadHub hub(2);
  collectives::set_group("alone0", std::make_shared<collectives::Engine>([&] { return hub.join(0); }));
  collectives::set_group("alone1", std::make_shared<collectives::Engine>([&] { return hub.join(1); }));
  {
    Graph g;
    Output sum =
        NodeBuilder("HorovodAllreduce", "never").graph(g).input(g.constant(1.f)).attr("group", "alone0").output();
    Session session(g);
    try {
      session.run({sum}, {}, {}, {.timeout = std::chrono::milliseconds(50)});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::DeadlineExceeded);
      EXPECT_NE(std::string(error.what()).find("HorovodAllreduce 'never'"), std::string::npos) << error.what();
    }
  }
  std::thread other([] { collectives::set_group("alone1", nullptr); });
  collectives::set_group("alone0", nullptr);
  other.join();
}

TEST(DistributedTraining, NeedsInit) {
  Graph g;
  Output sum = distributed::allreduce(g.constant(1.f), {.reduction = distributed::Reduction::Sum});
  Session session(g);
  try {
    session.run(sum);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::FailedPrecondition);
  }
  EXPECT_THROW(distributed::rank(), Error);
}

TEST(DistributedTraining, AProcessByItselfIsAGroupOfOne) {
  distributed::init({.transport = "alone"});
  EXPECT_EQ(distributed::rank(), 0);
  EXPECT_EQ(distributed::size(), 1);
  Graph g;
  Variable w = g.variable("w", 2.f);
  Output whole = distributed::allreduce(g.constant(7), {.reduction = distributed::Reduction::Average});
  Operation same = distributed::broadcast_global_variables(g, 0);
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(same);
  EXPECT_EQ(session.run(whole).scalar<int32_t>(), 7);
  EXPECT_EQ(session.run(w).scalar<float>(), 2.f);
  distributed::shutdown();
  EXPECT_FALSE(distributed::is_initialized());
}

}  // namespace
}  // namespace weir
