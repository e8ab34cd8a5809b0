#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

// The numbers are those of TensorFlow 1.15.5.
namespace weir {
namespace {

using namespace weir::testing;

Tensor stateless(const char* op, DType dtype, const Tensor& seed) {
  Graph g;
  NodeBuilder node(op);
  node.graph(g).input(Tensor(std::vector<int32_t>{4})).input(seed).attr("dtype", dtype);
  return Session(g).run(node.output());
}

TEST(StatelessRandom, GivesTensorFlowsNumbers) {
  const Tensor seed(std::vector<int32_t>{1, 2});
  expect_near(
      stateless("StatelessRandomUniform", float32, seed),
      Tensor(std::vector<float>{0.8440604209899902f, 0.19204533100128174f, 0.9962232112884521f, 0.16038739681243896f}),
      0);
  const Tensor normal(
      std::vector<float>{0.544110119342804f, 0.20738030970096588f, 0.0735643208026886f, 0.04643455147743225f});
  expect_near(stateless("StatelessRandomNormal", float32, seed), normal, 1e-6);
  expect_near(stateless("StatelessTruncatedNormal", float32, seed), normal, 1e-6);
  for (DType dtype : kFloatingTypes) {
    EXPECT_EQ(stateless("StatelessRandomUniform", dtype, Tensor(std::vector<int64_t>{1, 2})).dtype(), dtype);
  }
  expect_error(
      [] {
        stateless("StatelessRandomUniform", float32, Tensor(std::vector<int32_t>{1, 2, 3}));
      },
      Code::InvalidArgument, "seed must have shape [2]");
}

TEST(StatelessRandomUniformInt, StaysInItsBounds) {
  Graph g;
  auto draw = [&](int low, int high) {
    return NodeBuilder("StatelessRandomUniformInt")
        .graph(g)
        .input(Tensor(std::vector<int32_t>{4}))
        .input(Tensor(std::vector<int32_t>{1, 2}))
        .input(Tensor(low))
        .input(Tensor(high))
        .output();
  };
  expect_same(Session(g).run(draw(-3, 100)), Tensor(std::vector<int32_t>{93, 49, 15, 41}));
  Output wrong = draw(5, 5);
  expect_error([&] { Session(g).run(wrong); }, Code::InvalidArgument, "Need minval < maxval");
}

struct Stream {
  Graph g;
  Variable state = g.variable("state", Tensor(std::vector<int64_t>{5, 7, 11}), {.use_resource = true});
  Session session{g};
  Stream() { session.run(g.global_variables_initializer()); }
  NodeBuilder op(const char* name) {
    NodeBuilder node(name);
    node.input(state.handle()).input(Tensor(int64_t{1}));
    return node;
  }
  Tensor now() { return session.run(state.value()); }
};

TEST(StatefulRandom, MovesTheVariableOn) {
  Stream s;
  const Tensor four(std::vector<int64_t>{4});
  expect_near(
      s.session.run(s.op("StatefulUniform").input(four).output()),
      Tensor(std::vector<float>{0.3664005994796753f, 0.7981644868850708f, 0.25775814056396484f, 0.4637714624404907f}),
      0);
  expect_same(s.now(), Tensor(std::vector<int64_t>{1029, 7, 11}));
  expect_same(s.session.run(s.op("StatefulUniformFullInt").input(four).attr("dtype", int64).output()),
              Tensor(std::vector<int64_t>{359940730756331469, -1601886050843561605, -3869847056547618657,
                                          -3602079969525804637}));
  expect_same(s.session.run(s.op("StatefulRandomBinomial")
                                .input(Tensor(std::vector<int32_t>{6}))
                                .input(Tensor(20.f))
                                .input(Tensor(.3f))
                                .attr("dtype", float32)
                                .output()),
              Tensor(std::vector<float>{7, 9, 7, 5, 8, 8}));
  expect_same(s.now(), Tensor(std::vector<int64_t>{1320453, 7, 11}));
  s.session.run(s.op("RngSkip").input(Tensor(int64_t{2})).build());
  expect_same(s.now(), Tensor(std::vector<int64_t>{1320453 + 512, 7, 11}));
  for (const char* op : {"StatefulStandardNormalV2", "StatefulTruncatedNormal"}) {
    Tensor drawn = s.session.run(s.op(op).input(Tensor(std::vector<int64_t>{1000})).output());
    double sum = 0;
    for (float x : drawn.data<float>()) sum += x;
    EXPECT_NEAR(sum / 1000, 0, 0.15);
  }
  Tensor ints = s.session.run(
      s.op("StatefulUniformInt").input(four).input(Tensor(int64_t{2})).input(Tensor(int64_t{4})).output());
  for (int64_t x : ints.data<int64_t>()) EXPECT_TRUE(x == 2 || x == 3);
}

TEST(StatefulRandom, RefusesOtherAlgorithmsAndStates) {
  Stream s;
  Output other = NodeBuilder("StatefulUniform")
                     .input(s.state.handle())
                     .input(Tensor(int64_t{2}))
                     .input(Tensor(std::vector<int64_t>{4}))
                     .output();
  expect_error([&] { s.session.run(other); }, Code::InvalidArgument, "Unsupported algorithm id: 2");
  Graph g;
  Variable small = g.variable("state", Tensor(std::vector<int64_t>{1, 7}), {.use_resource = true});
  Session session(g);
  session.run(g.global_variables_initializer());
  Output drawn =
      NodeBuilder("StatefulStandardNormal").input(small.handle()).input(Tensor(std::vector<int64_t>{4})).output();
  expect_error([&] { session.run(drawn); }, Code::InvalidArgument, "the size of state must be at least 4; got 2");
}

TEST(NonDeterministicInts, DiffersFromRunToRun) {
  Graph g;
  Output x = NodeBuilder("NonDeterministicInts").graph(g).input(Tensor(std::vector<int64_t>{4})).output();
  Session session(g);
  const Tensor a = session.run(x), b = session.run(x);
  EXPECT_FALSE(std::equal(a.data<int64_t>().begin(), a.data<int64_t>().end(), b.data<int64_t>().begin()));
}

TEST(ParameterizedTruncatedNormal, StaysInItsBoundsWithEveryMethod) {
  Graph g;
  Session session(g);
  auto draw = [&](float mean, float deviation, float low, float high) {
    return session.run(NodeBuilder("ParameterizedTruncatedNormal")
                           .graph(g)
                           .input(Tensor(std::vector<int32_t>{4}))
                           .input(Tensor(mean))
                           .input(Tensor(deviation))
                           .input(Tensor(low))
                           .input(Tensor(high))
                           .attr("seed", int64_t{1})
                           .attr("seed2", int64_t{2})
                           .output());
  };
  expect_near(
      draw(0, 1, 0.5f, 0.8f),
      Tensor(std::vector<float>{0.6219190359115601f, 0.7572798728942871f, 0.5166187286376953f, 0.5257616639137268f}),
      1e-6);
  for (auto [low, high] : {std::pair{-3.f, 3.f}, {4.f, 90.f}, {-90.f, -4.f}, {0.1f, 0.2f}}) {
    const Tensor drawn = draw(0, 1, low, high);
    for (float x : drawn.data<float>()) {
      EXPECT_GE(x, low);
      EXPECT_LE(x, high);
    }
  }
  expect_error([&] { draw(0, 1, 3, 2); }, Code::InvalidArgument, "Invalid parameters");
}

TEST(RandomGammaGrad, IsTheSlopeOfTheSample) {
  check_op({.op = "RandomGammaGrad",
            .inputs = {{0.5, 2., 4.}, {0.3, 1.5, 5.}},
            .outputs = {{1.0098021030426025, 0.9366388320922852, 1.163248896598816}},
            .tolerance = 1e-4});
}

}  // namespace
}  // namespace weir
