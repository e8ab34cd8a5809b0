#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/layer_functions.h"
#include "weir/ops.h"
#include "weir/optimizers.h"
#include "weir/session.h"

namespace weir::layers {
namespace {

using testing::expect_error;

std::string names_of(const std::vector<Variable>& variables) {
  std::string text;
  for (const Variable& variable : variables) text += (text.empty() ? "" : " ") + variable.name();
  return text;
}

TEST(Layers, HaveTensorFlowsNamesAndShapes) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 8, 8, 3}, "x");
  Output h = conv2d(x, 4, 3, {.padding = "same", .activation = nn::relu, .name = "conv1"});
  EXPECT_EQ(h.op().name(), "conv1/Relu");
  h = max_pooling2d(h, 2, 2);
  EXPECT_EQ(h.op().name(), "max_pooling2d/MaxPool");
  EXPECT_EQ(h.shape(), (Shape{kUnknown, 4, 4, 4}));
  h = batch_normalization(h, {.training = true});
  h = conv2d_transpose(h, 2, 3, {.strides = 2, .padding = "same"});
  EXPECT_EQ(h.shape(), (Shape{kUnknown, 8, 8, 2}));
  h = separable_conv2d(h, 5, {3, 3});
  h = dense(dropout(flatten(h), {.rate = 0.4f, .training = true}), 10);
  EXPECT_EQ(h.op().name(), "dense/BiasAdd");
  EXPECT_EQ(h.shape(), (Shape{kUnknown, 10}));
  EXPECT_EQ(names_of(g.trainable_variables()),
            "conv1/kernel conv1/bias batch_normalization/gamma batch_normalization/beta conv2d_transpose/kernel "
            "conv2d_transpose/bias separable_conv2d/depthwise_kernel separable_conv2d/pointwise_kernel "
            "separable_conv2d/bias dense/kernel dense/bias");
  EXPECT_EQ(g.collection("update_ops").size(), 2);
}

TEST(Layers, OfOneNameShareOnlyWhenAskedTo) {
  Graph g;
  Output x = g.placeholder(float32, {2, 3}, "x");
  dense(x, 4, {.name = "fc"});
  expect_error([&] { dense(x, 4, {.name = "fc"}); }, Code::InvalidArgument, "Variable fc/kernel already exists");
  dense(x, 4, {.name = "fc", .reuse = true});
  EXPECT_EQ(names_of(g.global_variables()), "fc/kernel fc/bias");
}

TEST(Layers, TrainAndKeepMovingAverages) {
  Graph g;
  g.set_random_seed(3);
  Output x = g.placeholder(float32, {4, 2}, "x");
  Output training = g.placeholder(DType::Bool, {}, "training");
  Output y = dense(batch_normalization(x, {.momentum = 0.5, .training = training}), 1);
  Output loss = reduce_mean(square(y - 1));
  std::vector<Operation> updates;
  for (const std::any& item : g.collection("update_ops")) updates.push_back(std::any_cast<Operation>(item));
  Operation step = [&] {
    Scope after = g.control_dependencies(updates);
    return train::GradientDescent(0.1f).minimize(loss);
  }();
  Session session(g);
  session.run(g.global_variables_initializer());
  const Tensor data = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  const float first = session.run(loss, {{x, data}, {training, Tensor(true)}}).scalar<float>();
  for (int i = 0; i < 20; ++i) session.run(step, {{x, data}, {training, Tensor(true)}});
  EXPECT_LT(session.run(loss, {{x, data}, {training, Tensor(true)}}).scalar<float>(), first);
  EXPECT_NEAR(session.run(g.global_variables()[2]).data<float>()[0], 4, 1e-3);  // the moving mean of 1, 3, 5, 7
}

TEST(Layers, RefuseInputsThatDoNotFit) {
  Graph g;
  expect_error([&] { dense(g.placeholder(float32, {3}), 2); }, Code::InvalidArgument,
               "Input 0 of layer dense is incompatible with the layer: : expected min_ndim=2, found ndim=1. Full shape "
               "received: [3]");
  expect_error(
      [&] {
        conv2d(g.placeholder(float32, {2, 3, 3, 1}), 2, {1, 2, 3});
      },
      Code::InvalidArgument, "kernel_size");
  expect_error(
      [&] {
        batch_normalization(g.placeholder(float32, {2, 3}), {.axis = {5}});
      },
      Code::InvalidArgument, "Invalid axis: 5");
}

}  // namespace
}  // namespace weir::layers
