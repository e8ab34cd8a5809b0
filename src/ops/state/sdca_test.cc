#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

// A linear model of two dense and one sparse feature, trained step by step.
struct Model {
  std::vector<float> dense = {0, 0}, sparse = {0, 0};
  Tensor state;

  explicit Model(int64_t examples) : state(float32, Shape{examples, 4}) {
    std::fill_n(state.mutable_data<float>(), 4 * examples, 0.0f);
  }

  // The mean of the examples' losses before the step.
  float step(const Tensor& features, const Tensor& labels, const char* loss, bool adaptive) {
    Graph g;
    const int64_t n = labels.elements();
    std::vector<int64_t> owners, indices;
    for (int64_t i = 0; i < n; ++i) {
      owners.push_back(i);
      indices.push_back(labels.data<float>()[static_cast<size_t>(i)] > 0 ? 7 : 3);
    }
    Operation op = NodeBuilder("SdcaOptimizerV2")
                       .input(InList{g.constant(Tensor(owners))})
                       .input(InList{g.constant(Tensor(indices))})
                       .input(InList{})
                       .input(InList{g.constant(features)})
                       .input(g.constant(Tensor(std::vector<float>(static_cast<size_t>(n), 1.0f))))
                       .input(g.constant(labels))
                       .input(InList{g.constant(Tensor(std::vector<int64_t>{3, 7}))})
                       .input(InList{g.constant(Tensor(sparse))})
                       .input(InList{g.constant(Tensor(dense))})
                       .input(g.constant(state))
                       .attr("loss_type", loss)
                       .attr("adaptive", adaptive)
                       .attr("l1", 0.0f)
                       .attr("l2", 1.0f)
                       .attr("num_loss_partitions", 1)
                       .attr("num_inner_iterations", 1)
                       .build();
    const auto out = Session(g).run({op.output(0), op.output(1), op.output(2)});
    state = out[0];
    for (size_t i = 0; i < 2; ++i) {
      sparse[i] += out[1].data<float>()[i];
      dense[i] += out[2].data<float>()[i];
    }
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += state.data<float>()[static_cast<size_t>(4 * i + 1)];
    return sum / static_cast<float>(n);
  }
};

TEST(SdcaOptimizer, LowersEveryLoss) {
  const Tensor features = Tensor::from<float>({1, 0, 0, 1, 1, 1, -1, 0.5f}, {4, 2}),
               labels(std::vector<float>{1, 0, 1, 0});
  for (const char* loss : {"logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"}) {
    for (bool adaptive : {false, true}) {
      Model model(4);
      const float first = model.step(features, labels, loss, adaptive);
      float last = first;
      for (int i = 0; i < 30; ++i) last = model.step(features, labels, loss, adaptive);
      EXPECT_LT(last, first) << loss << adaptive;
      EXPECT_TRUE(std::isfinite(last)) << loss;
    }
  }
}

TEST(SdcaOptimizer, RefusesLabelsIndicesAndSizesThatDoNotFit) {
  const Tensor features = Tensor::from<float>({1, 0}, {1, 2});
  expect_error([&] { Model(1).step(features, Tensor(std::vector<float>{2}), "logistic_loss", false); },
               Code::InvalidArgument, "Only labels of 0.0 or 1.0");
  expect_error([&] { Model(2).step(features, Tensor(std::vector<float>{1}), "logistic_loss", false); },
               Code::InvalidArgument, "for example_state_data");
  expect_error(
      [&] {
        Model(2).step(features, Tensor(std::vector<float>{1, 0}), "logistic_loss", false);
      },
      Code::InvalidArgument, "1 rows for 2 examples");
  auto sparse = [](std::vector<int64_t> indices) {
    Graph g;
    Operation op = NodeBuilder("SdcaOptimizer")
                       .input(InList{g.constant(Tensor(std::vector<int64_t>(indices.size(), 0)))})
                       .input(InList{g.constant(Tensor(indices))})
                       .input(InList{})
                       .input(InList{})
                       .input(g.constant(Tensor(std::vector<float>{1})))
                       .input(g.constant(Tensor(std::vector<float>{1})))
                       .input(InList{g.constant(Tensor(std::vector<int64_t>{3}))})
                       .input(InList{g.constant(Tensor(std::vector<float>{0}))})
                       .input(InList{})
                       .input(g.constant(Tensor::from<float>({0, 0, 0, 0}, {1, 4})))
                       .attr("loss_type", "squared_loss")
                       .attr("l1", 0.0f)
                       .attr("l2", 1.0f)
                       .attr("num_loss_partitions", 1)
                       .attr("num_inner_iterations", 1)
                       .build();
    Session(g).run(op.output(0));
  };
  sparse({3});
  expect_error([&] { sparse({4}); }, Code::InvalidArgument, "out of valid range: 4");
  expect_error([&] { sparse({3, 3}); }, Code::InvalidArgument, "Duplicate index");
}

TEST(SdcaShrinkL1, DrawsWeightsTowardsZero) {
  Graph g;
  Output w = NodeBuilder("VariableV2").graph(g).attr("shape", Shape{3}).attr("dtype", float32).output();
  Output set = NodeBuilder("Assign").input(w).input(g.constant(Tensor(std::vector<float>{1, -2, 0.05f}))).output();
  Operation shrink = NodeBuilder("SdcaShrinkL1").input(InList{w}).attr("l1", 0.1f).attr("l2", 0.5f).build();
  Session session(g);
  session.run(set);
  session.run(shrink);
  expect_near(session.run(w), Tensor(std::vector<float>{0.8f, -1.8f, 0}), 1e-6);
}

TEST(SdcaShrinkL1, DoesNothingToNoWeights) {
  Graph g;
  Operation shrink = NodeBuilder("SdcaShrinkL1").graph(g).input(InList{}).attr("l1", 0.1f).attr("l2", 0.5f).build();
  Session(g).run(shrink);
}

TEST(SdcaFprint, IsFarmHash) {
  check_op({.op = "SdcaFprint",
            .inputs = {Tensor(std::vector<std::string>{"a"})},
            .outputs = {Tensor::from<int64_t>({7969074168056553668, 5955762262185338209}, {1, 2})},
            .bad = {{.inputs = {"a"}, .message = "rank"}}});
}

}  // namespace
}  // namespace weir
