// Programs on a device whose memory the host cannot touch: they give the CPU's bits, and nothing reads a value where it
// is not. A mistake ends the process (tests/support/protected_device.h).

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "tests/support/protected_device.h"
#include "weir/control_flow.h"
#include "weir/embedding.h"
#include "weir/weir.h"

namespace weir::testing {
namespace {

Tensor numbers(const Shape& shape, int seed = 0) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    t.mutable_data<float>()[i] = static_cast<float>((i * 37 + seed * 13 + 11) % 101 - 50) / 50;
  }
  return t;
}

Tensor counted(const Shape& shape, int64_t modulus, int64_t step = 3) {
  Tensor t(int64, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<int64_t>()[i] = (i * step + 1) % modulus;
  return t;
}

// A program: it makes its graph and runs it in the session of `make_session`, and gives what it fetched.
using MakeSession = std::function<std::unique_ptr<Session>(Graph&)>;
using Program = std::function<std::vector<Tensor>(const MakeSession&)>;

class OnProtectedDevice : public ::testing::Test {
 protected:
  // On the CPU and on the device; what both fetch must be the same to the bit.
  void compare(const Program& program) {
    const SessionOptions options{.intra_op_parallelism_threads = 2, .virtual_gpus = {.count = 0}};
    const std::vector<Tensor> wanted = program([&](Graph& g) { return std::make_unique<Session>(g, options); });
    const MoreDevices more({device_});
    SessionOptions soft = options;
    soft.allow_soft_placement = true;
    const std::vector<Tensor> got = program([&](Graph& g) { return std::make_unique<Session>(g, soft); });
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].shape(), wanted[i].shape()) << i;
      ASSERT_FALSE(device_->memory()->holds(got[i].raw())) << i;
      EXPECT_EQ(std::memcmp(got[i].raw(), wanted[i].raw(), got[i].bytes()), 0) << "fetch " << i << ": " << got[i].str();
    }
    EXPECT_GT(device_->memory()->copies_to_host(), 0);
  }

  std::shared_ptr<ProtectedDevice> device_ = std::make_shared<ProtectedDevice>(0);
};

TEST_F(OnProtectedDevice, TheHostCannotReadItsMemory) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  Tensor there = device_->memory()->moved_here(numbers({4}));
  EXPECT_TRUE(device_->memory()->holds(there.raw()));
  EXPECT_DEATH(std::fprintf(stderr, "%f", static_cast<double>(*static_cast<const volatile float*>(there.raw()))), "");
  const Tensor back = device_->memory()->to_host(there);
  EXPECT_EQ(std::memcmp(back.raw(), numbers({4}).raw(), back.bytes()), 0);
}

TEST_F(OnProtectedDevice, ArithmeticAndConstants) {
  compare([](const MakeSession& make) {
    Graph g;
    Output x = g.placeholder(float32, {kUnknown, 3});
    Output y = matmul(tanh(x * 2.f + 1.f), g.constant(numbers({3, 5}))) + g.constant(numbers({5}));
    Output fixed = g.constant(numbers({2, 2}));
    auto s = make(g);
    std::vector<Tensor> results;
    for (int64_t rows : {4, 7, 4}) {
      for (Tensor& t : s->run({y, reduce_sum(y, {0}), fixed, shape(y)}, {{x, numbers({rows, 3})}})) {
        results.push_back(t);
      }
    }
    return results;
  });
}

TEST_F(OnProtectedDevice, AConvolutionalNetworkTrains) {
  compare([](const MakeSession& make) {
    Graph g;
    g.set_random_seed(7);
    Output x = g.placeholder(float32, {kUnknown, 12, 12, 3}), y = g.placeholder(int64, {kUnknown});
    Variable filter = g.variable("filter", truncated_normal(g, {3, 3, 3, 8}) * 0.1f);
    Variable bias = g.variable("b", zeros(g, {8}));
    Variable scale = g.variable("scale", ones(g, {8})), offset = g.variable("offset", zeros(g, {8}));
    Output h = nn::relu(nn::conv2d(x, filter, {.padding = "SAME"}) + bias);
    h = nn::max_pool(nn::fused_batch_norm(h, scale, offset).y);
    h = nn::dropout(reshape(h, {-1, 6 * 6 * 8}), 0.5f);
    Variable weights = g.variable("weights", truncated_normal(g, {6 * 6 * 8, 10}) * 0.1f);
    Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, matmul(h, weights)));
    Operation train = train::Adam(1e-3f).minimize(loss);
    auto s = make(g);
    s->run(g.global_variables_initializer());
    std::vector<Tensor> results;
    for (int64_t batch : {8, 8, 5}) {
      std::vector<Tensor> fetched =
          s->run(std::vector<Output>{loss}, {{x, numbers({batch, 12, 12, 3})}, {y, counted({batch}, 10)}}, {train});
      results.push_back(fetched[0]);
    }
    results.push_back(s->run(weights));
    results.push_back(s->run(scale));
    return results;
  });
}

TEST_F(OnProtectedDevice, BranchesAndLoopsAndTheirGradients) {
  compare([](const MakeSession& make) {
    Graph g;
    Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {3}), n = g.placeholder(int32, {});
    Variable v = g.variable("v", ones(g, {3}));
    Output chosen = cond(
        p, [&] { return x * v * 2.f; }, [&] { return x + v; });
    Output passed = cond(
        p, [&] { return x; }, [&] { return g.constant(numbers({3})); });
    std::vector<Output> loop = while_loop([&](const std::vector<Output>& l) { return l[0] < n; },
                                          [&](const std::vector<Output>& l) {
                                            return std::vector<Output>{l[0] + 1, tanh(l[1] * v) + x};
                                          },
                                          {g.constant(0), chosen});
    std::vector<Output> grads;
    for (const Gradient& grad : gradients({reduce_sum(loop[1]) + reduce_sum(passed)}, {x, Output(v)})) {
      grads.push_back(grad.dense());
    }
    auto s = make(g);
    s->run(g.global_variables_initializer());
    std::vector<Tensor> results;
    for (bool predicate : {true, false}) {
      for (int32_t count : {0, 3, 5}) {
        for (const Tensor& t : s->run({chosen, passed, loop[0], loop[1], grads[0], grads[1]},
                                      {{p, predicate}, {x, numbers({3})}, {n, count}})) {
          results.push_back(t);
        }
      }
    }
    return results;
  });
}

// A recurrent network over a sequence whose length only the run knows, with rows of an embedding, trained by sparse
// updates.
TEST_F(OnProtectedDevice, ARecurrentNetworkWithAnEmbeddingTrains) {
  compare([](const MakeSession& make) {
    Graph g;
    g.set_random_seed(3);
    Output words = g.placeholder(int64, {kUnknown, 4});  // [time, batch]
    Variable table = g.variable("table", truncated_normal(g, {50, 6}));
    Variable w = g.variable("w", truncated_normal(g, {12, 6}) * 0.3f);
    Output embedded = nn::embedding_lookup({Output(table)}, words);  // [time, batch, 6]
    Output steps = gather(shape(words), 0);
    std::vector<Output> loop =
        while_loop([&](const std::vector<Output>& l) { return l[0] < steps; },
                   [&](const std::vector<Output>& l) {
                     Output in = gather(embedded, l[0]);
                     return std::vector<Output>{l[0] + 1, tanh(matmul(concat({in, l[1]}, 1), w))};
                   },
                   {g.constant(0), zeros(g, {4, 6})});
    Output loss = reduce_mean(square(loop[1] - 0.5f));
    Operation train = train::Adagrad(0.1f).minimize(loss);
    auto s = make(g);
    s->run(g.global_variables_initializer());
    std::vector<Tensor> results;
    for (int64_t time : {3, 5, 3, 5}) {
      results.push_back(s->run(std::vector<Output>{loss}, {{words, counted({time, 4}, 50, 7)}}, {train})[0]);
    }
    results.push_back(s->run(table));
    return results;
  });
}

TEST_F(OnProtectedDevice, ShapesThatOnlyTheRunKnows) {
  compare([](const MakeSession& make) {
    Graph g;
    Output x = g.placeholder(float32), ids = g.placeholder(int64, {kUnknown});
    Output rows = gather(x, unique(ids).y);
    Output flat = reshape(rows, stack({gather(shape(x), 1) * 0 - 1, g.constant(2)}, 0));
    Output chosen = boolean_mask(flat, reduce_sum(flat, {1}) > 0.f);
    auto s = make(g);
    std::vector<Tensor> results;
    for (int64_t size : {6, 9}) {
      for (const Tensor& t : s->run({rows, flat, chosen, shape(chosen), pad(flat, {{1, 0}, {0, 1}})},
                                    {{x, numbers({12, 4})}, {ids, counted({size}, 12, 5)}})) {
        results.push_back(t);
      }
    }
    return results;
  });
}

TEST_F(OnProtectedDevice, VariablesLiveThereAndAreSavedAndRestored) {
  const std::string folder = ::testing::TempDir() + "weir_protected_device";
  std::filesystem::create_directories(folder);
  compare([&](const MakeSession& make) {
    Graph g;
    Variable v = g.variable("v", g.constant(numbers({5, 3}))), counter = g.variable("counter", g.constant(0));
    Operation change = assign_add(v, ones(g, {5, 3})).op(), count = assign_add(counter, 1).op();
    train::Saver saver(g);
    auto s = make(g);
    s->run(g.global_variables_initializer());
    s->run(change);
    s->run(count);
    const std::string path = saver.save(*s, folder + "/model");
    s->run(change);
    s->run(count);
    Tensor later = s->run(v);
    auto other = make(g);
    saver.restore(*other, path);
    return std::vector<Tensor>{later, other->run(v), other->run(counter)};
  });
  std::filesystem::remove_all(folder);
}

TEST_F(OnProtectedDevice, TwoDevicesMeetAtTheHost) {
  auto second = std::make_shared<ProtectedDevice>(1);
  Graph g;
  Output x = g.placeholder(float32, {64, 64});
  Output a, b;
  {
    Scope scope = g.device("/gpu:0");
    a = matmul(x, x);
  }
  {
    Scope scope = g.device("/gpu:1");
    b = tanh(a) + a;
  }
  Session alone(g, {.intra_op_parallelism_threads = 2, .allow_soft_placement = true, .virtual_gpus = {.count = 0}});
  const MoreDevices more({device_, second});
  Session both(g, {.intra_op_parallelism_threads = 2, .virtual_gpus = {.count = 0}});
  const Tensor wanted = alone.run(b, {{x, numbers({64, 64})}});
  for (int i = 0; i < 20; ++i) {
    const Tensor got = both.run(b, {{x, numbers({64, 64})}});
    ASSERT_EQ(std::memcmp(got.raw(), wanted.raw(), wanted.bytes()), 0);
  }
  EXPECT_GT(second->memory()->copies_from_host(), 0);
}

// A constant is put there when the plan is made, and not again.
TEST_F(OnProtectedDevice, ConstantsAreUploadedOnce) {
  const MoreDevices more({device_});
  Graph g;
  Output x = g.placeholder(float32, {16});
  Output y = x + g.constant(numbers({16}));
  Session s(g, {.virtual_gpus = {.count = 0}});
  const Tensor xs = numbers({16}, 1);
  s.run(y, {{x, xs}});
  const int64_t before = device_->memory()->copies_from_host();
  s.run(y, {{x, xs}});
  EXPECT_EQ(device_->memory()->copies_from_host() - before, 1);  // the feed
}

}  // namespace
}  // namespace weir::testing
