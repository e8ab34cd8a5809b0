#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/divisive_normalization.h"
#include "weir/gradients.h"
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

// What TensorFlow 1.15.5 gives for the same numbers. Gradients below the bound pass where they push upwards.
TEST(Layers, NormaliseByTheOtherChannels) {
  auto sines = [](const Shape& shape, float first, float scale) {
    Tensor t(float32, shape);
    for (int64_t i = 0; i < t.elements(); ++i) {
      t.mutable_data<float>()[i] = std::sin(static_cast<float>(i) + first) * scale;
    }
    return t;
  };
  auto expect = [&](bool inverse, const std::vector<std::vector<float>>& expected) {
    Graph g;
    const Output x = g.constant(sines({2, 3, 2}, 1, 1));
    const Output y = gdn(x, {.inverse = inverse});
    EXPECT_EQ(names_of(g.trainable_variables()), "gdn/reparam_beta gdn/reparam_gamma");
    std::vector<Output> wanted = {y}, of = {x};
    for (const Variable& variable : g.trainable_variables()) of.push_back(variable);
    for (const Gradient& gradient : gradients({reduce_sum(square(y))}, of)) wanted.push_back(gradient.dense());
    Session session(g);
    session.run(g.global_variables_initializer());
    EXPECT_NEAR(session.run(g.global_variables()[1]).data<float>()[0], 0.316228f, 1e-6f);
    for (const Variable& v : g.global_variables()) session.run(assign(v, sines(v.shape(), 1, 0.5f)).op());
    const std::vector<Tensor> found = session.run(wanted);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      for (size_t k = 0; k < expected[i].size(); ++k) {
        EXPECT_NEAR(found[i].data<float>()[k], expected[i][k], 6e-4f * std::max(1.f, std::abs(expected[i][k])))
            << i << ' ' << k;
      }
    }
  };
  expect(false, {{1.52f, 1.53f, 0.3295f, -1.648f, -1.644f, -0.4436f, 1.293f, 1.819f, 0.9024f, -1.106f, -1.677f,
                  -0.8345f},
                 {0.9381f, 5.083f, 0.7576f, -7.175f, -2.744f, -1.386f, 0.5464f, 6.623f, 2.52f, -4.478f, -2.128f,
                  -2.554f},
                 {-28.92f, -34.5f},
                 {-20.22f, -11.62f, -2.393f, 0}});
  expect(true, {{0.4658f, 0.5403f, 0.06043f, -0.3475f, -0.5593f, -0.176f, 0.3339f, 0.5382f, 0.1882f, -0.2675f,
                 -0.5962f, -0.345f},
                {1.014f, 0.6485f, 0.08617f, -0.3193f, -0.9955f, -0.2243f, 0.7056f, 0.5898f, 0.2471f, -0.264f, -1.184f,
                 -0.449f},
                {2.734f, 2.765f},
                {2.156f, 1.3f, 0.2017f, 0}});
  Graph g;
  expect_error([&] { gdn(g.placeholder(float32, {1, 2, 3}), {.data_format = "rows"}); }, Code::InvalidArgument,
               "Unsupported `data_format`");
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
