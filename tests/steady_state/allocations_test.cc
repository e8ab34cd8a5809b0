// A steady run allocates nothing: every allocation of the process is counted while plans run again and again.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "tests/support/local_cluster.h"
#include "weir/control_flow.h"
#include "weir/weir.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};

[[maybe_unused]] void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

#ifndef WEIR_OWN_ALLOCATOR
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* old, size_t size) {
  count();
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
}
#endif

namespace weir {
namespace {

class SteadyState : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef WEIR_OWN_ALLOCATOR
    GTEST_SKIP() << "allocations cannot be counted under a sanitizer";
#endif
  }

  // Allocations of ten runs after three that warm up, through run() and through a callable.
  void expect_none(Graph& g, const Output& fetch, const Operation& train, const std::vector<Feed>& feeds) {
    Session session(g, {.intra_op_parallelism_threads = 2});
    session.run(g.global_variables_initializer());
    std::vector<Operation> targets = {train};
    for (int i = 0; i < 3; ++i) session.run(fetch, feeds, targets);
    EXPECT_EQ(during([&] { session.run(fetch, feeds, targets); }), 0) << "through Session::run";

    CallableSpec spec{.feeds = {}, .fetches = {fetch}, .targets = targets};
    std::vector<Tensor> values;
    for (const Feed& feed : feeds) {
      spec.feeds.push_back(feed.output);
      values.push_back(feed.value);
    }
    auto step = session.make_callable(spec);
    Tensor result;
    for (int i = 0; i < 3; ++i) step.call(values, {&result, 1});
    EXPECT_EQ(during([&] { step.call(values, {&result, 1}); }), 0) << "through a callable";
  }

  template <class Step>
  int64_t during(const Step& step) {
    allocations = 0;
    counting = true;
    for (int i = 0; i < 10; ++i) step();
    counting = false;
    return allocations;
  }
};

Tensor ramp(const Shape& shape) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 17) * 0.05f;
  return t;
}

TEST_F(SteadyState, LinearRegressionAllocatesNothing) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown}), y = g.placeholder(float32, {kUnknown});
  Variable w = g.variable("w", 0.5f);
  Output cost = reduce_mean(square(w * x - y));
  Operation train = train::GradientDescent(0.1f).minimize(cost);
  expect_none(g, cost, train, {{x, ramp({101})}, {y, ramp({101})}});
}

TEST_F(SteadyState, ConvolutionalNetworkWithDropoutAndAdamAllocatesNothing) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 12, 12, 3}), labels = g.placeholder(int64, {kUnknown});
  Variable filter = g.variable("filter", truncated_normal(g, {5, 5, 3, 16}, {.stddev = 0.1f}));
  Variable bias = g.variable("bias", fill(g, {16}, 0.1f));
  Output h = nn::max_pool(nn::relu(nn::bias_add(nn::conv2d(x, filter), bias)));
  h = nn::lrn(h, {.depth_radius = 4, .alpha = 0.001f, .beta = 0.75f});
  Variable weights = g.variable("weights", truncated_normal(g, {6 * 6 * 16, 10}, {.stddev = 0.1f}));
  Output logits = matmul(nn::dropout(reshape(h, {-1, 6 * 6 * 16}), 0.5f), weights);
  Output loss =
      reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits)) + 0.01f * nn::l2_loss(weights);
  Operation train = train::Adam(1e-3f).minimize(loss);
  expect_none(g, loss, train, {{x, ramp({32, 12, 12, 3})}, {labels, Tensor::zeros(int64, {32})}});
}

TEST_F(SteadyState, BranchesAndLoopsAllocateNothing) {
  Graph g;
  using List = std::vector<Output>;
  Output x = g.placeholder(float32, {16}), p = g.placeholder(boolean, {});
  Output h = x * 2;
  Output y = cond(
      p,
      [&] {
        return while_loop([](const List& v) { return less(v[0], 10); },
                          [&](const List& v) {
                            return List{v[0] + 1, v[1] * x};
                          },
                          {0, h})[1];
      },
      [&] { return h; });
  expect_none(g, reduce_sum(y), g.no_op(), {{x, ramp({16})}, {p, Tensor(true)}});
  expect_none(g, reduce_sum(y), g.no_op(), {{x, ramp({16})}, {p, Tensor(false)}});
}

TEST_F(SteadyState, ShapesThatTheRunFindsAllocateNothingWhenTheyComeAgain) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 4}), rows = g.placeholder(int32, {});
  // The value of `rows` decides all sizes that follow: no plan knows them.
  Output y = tanh(slice(x, {0, 0}, stack({rows, 4}, 0))) * 2.f;
  Output z = matmul(reshape(y, stack({rows, -1}, 0)), ones(g, {4, 3}));
  expect_none(g, reduce_sum(z), g.no_op(), {{x, ramp({8, 4})}, {rows, Tensor(int32_t{5})}});
}

TEST_F(SteadyState, SparseTrainingAllocatesNothing) {
  Graph g;
  Output ids = g.placeholder(int32, {kUnknown});
  Variable table = g.variable("table", truncated_normal(g, {50, 8}));
  Output loss = reduce_mean(square(nn::embedding_lookup({table}, ids) - 1.f));
  Operation train = train::Adagrad(0.1f).minimize(loss);
  Tensor few(int32, {12});
  for (int i = 0; i < 12; ++i) few.mutable_data<int32_t>()[i] = i * i % 7;
  expect_none(g, loss, train, {{ids, few}});
}

TEST_F(SteadyState, TurnsOfBatchSizesAllocateNothing) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 8});
  Variable w = g.variable("w", truncated_normal(g, {8, 4}));
  Output loss = reduce_mean(square(matmul(x, w)));
  Operation train = train::Adam(1e-3f).minimize(loss);
  Session session(g, {.intra_op_parallelism_threads = 2});
  session.run(g.global_variables_initializer());
  std::vector<std::vector<Feed>> batches;
  for (int64_t n = 16; n < 36; ++n) batches.push_back({{x, ramp({n, 8})}});
  const std::vector<Operation> targets = {train};
  auto turn = [&] {
    for (const std::vector<Feed>& feeds : batches) session.run(loss, feeds, targets);
  };
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(during(turn), 0);
}

// A step that is cut over two tasks is messages and their answers, those of every value that crosses included: each asks
// for memory some tens of times, however many steps have been run. Plans of the parts ask for none.
TEST_F(SteadyState, AStepThatIsCutOverTasksAsksForLittle) {
  distributed::LocalCluster cluster;
  auto per_step = [&](int values) {
    Graph g;
    std::vector<Output> sums;
    for (int i = 0; i < values; ++i) {
      Output value;
      {
        auto device = g.device("/job:ps/task:0");
        value = identity(g.constant(Tensor(std::vector<float>(64, 1.f))) + static_cast<float>(i));
      }
      auto device = g.device("/job:worker/task:0");
      sums.push_back(reduce_sum(value));
    }
    auto device = g.device("/job:worker/task:0");
    const std::string fetch = add_n(sums).name();
    distributed::LocalClient client(cluster, g);
    for (int i = 0; i < 20; ++i) client.run({fetch});
    auto some = [&] {
      for (int i = 0; i < 10; ++i) client.run({fetch});
    };
    const int64_t early = during(some) / 100;
    for (int i = 0; i < 200; ++i) client.run({fetch});
    const int64_t late = during(some) / 100;
    EXPECT_LE(late, early + early / 10 + 5);
    return late;
  };
  const int64_t one = per_step(1), many = per_step(21);
  EXPECT_LE(one, 160);
  EXPECT_LE((many - one) / 20, 44);
}

}  // namespace
}  // namespace weir
