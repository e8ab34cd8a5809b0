#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::nn {
namespace {

using testing::expect_error;
using testing::expect_near;

// Names and types of the nodes that are no placeholders, in order. TensorFlow 1.15 makes the same.
std::string nodes(const Graph& g) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (op.type() != "Placeholder") text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

TEST(Dropout, HasTensorFlowsNodes) {
  Graph g;
  Output y = dropout(g.placeholder(float32, {kUnknown, 3}, "l"), 0.5);
  EXPECT_EQ(nodes(g),
            "dropout/rate:Const dropout/Shape:Shape dropout/random_uniform/min:Const dropout/random_uniform/max:Const "
            "dropout/random_uniform/RandomUniform:RandomUniform dropout/random_uniform/sub:Sub "
            "dropout/random_uniform/mul:Mul dropout/random_uniform:Add dropout/sub/x:Const dropout/sub:Sub "
            "dropout/truediv/x:Const dropout/truediv:RealDiv dropout/GreaterEqual:GreaterEqual dropout/mul:Mul "
            "dropout/Cast:Cast dropout/mul_1:Mul");
  EXPECT_EQ(y.shape(), (Shape{kUnknown, 3}));
}

TEST(Dropout, KeepsAndScalesOrDrops) {
  Graph g;
  Output keep = g.placeholder(float32, {}, "keep");
  Output y = dropout(g.constant(testing::converted(testing::ramp({1000}, 1, 0), float32)), keep, {.seed = 7});
  Session session(g);
  Tensor dropped = session.run(y, {{keep, Tensor(0.25f)}});
  int kept = 0;
  for (float v : dropped.data<float>()) {
    EXPECT_TRUE(v == 0 || v == 4) << v;
    kept += v != 0;
  }
  EXPECT_GT(kept, 180);
  EXPECT_LT(kept, 320);
  for (float v : session.run(y, {{keep, Tensor(1.f)}}).data<float>()) EXPECT_EQ(v, 1);
}

TEST(Dropout, RejectsProbabilitiesOutsideTheRange) {
  Graph g;
  Output x = g.placeholder(float32, {2}), whole = g.placeholder(int32, {2});
  EXPECT_EQ(dropout(x, 1.0), x);
  expect_error([&] { dropout(x, 0.0); }, Code::InvalidArgument, "keep_prob");
  expect_error([&] { dropout(x, 1.5); }, Code::InvalidArgument, "keep_prob");
  expect_error([&] { dropout(whole, 0.5); }, Code::InvalidArgument, "must be floating");
}

TEST(SoftmaxCrossEntropyWithLogits, HasTensorFlowsNodes) {
  Graph g;
  Output loss = softmax_cross_entropy_with_logits(g.placeholder(float32, {5, 3}, "y"),
                                                  g.placeholder(float32, {5, 3}, "l"), "xent");
  EXPECT_EQ(nodes(g),
            "xent/labels_stop_gradient:StopGradient xent/Rank:Const xent/Shape:Const xent/Rank_1:Const "
            "xent/Shape_1:Const xent/Sub/y:Const xent/Sub:Sub xent/Slice/begin:Pack xent/Slice/size:Const "
            "xent/Slice:Slice xent/concat/values_0:Const xent/concat/axis:Const xent/concat:ConcatV2 "
            "xent/Reshape:Reshape xent/Rank_2:Const xent/Shape_2:Const xent/Sub_1/y:Const xent/Sub_1:Sub "
            "xent/Slice_1/begin:Pack xent/Slice_1/size:Const xent/Slice_1:Slice xent/concat_1/values_0:Const "
            "xent/concat_1/axis:Const xent/concat_1:ConcatV2 xent/Reshape_1:Reshape "
            "xent:SoftmaxCrossEntropyWithLogits xent/Sub_2/y:Const xent/Sub_2:Sub xent/Slice_2/begin:Const "
            "xent/Slice_2/size:Pack xent/Slice_2:Slice xent/Reshape_2:Reshape");
  EXPECT_EQ(loss.shape(), Shape{5});
}

TEST(SparseSoftmaxCrossEntropyWithLogits, HasTensorFlowsNodesForAMatrix) {
  Graph g;
  sparse_softmax_cross_entropy_with_logits(g.placeholder(int32, {kUnknown}, "y"),
                                           g.placeholder(float32, {kUnknown, 3}, "l"));
  EXPECT_EQ(nodes(g),
            "SparseSoftmaxCrossEntropyWithLogits/Shape:Shape "
            "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits:"
            "SparseSoftmaxCrossEntropyWithLogits");
}

TEST(CrossEntropyLosses, KeepTheOuterDimensions) {
  const Tensor logits = testing::converted(testing::scattered({2, 4, 3}), float32);
  const Tensor classes = Tensor::from({0, 1, 2, 0, 1, 2, 0, 1}, {2, 4});
  for (const Shape& known : {Shape{2, 4, 3}, Shape{kUnknown, kUnknown, 3}, Shape::unknown()}) {
    Graph g;
    Output x = g.placeholder(float32, known), y = g.placeholder(int32, {2, 4});
    Output sparse = sparse_softmax_cross_entropy_with_logits(y, x);
    Output dense = softmax_cross_entropy_with_logits(one_hot(y, 3), x);
    auto [a, b] = Session(g).run({sparse, dense}, {{x, logits}, {y, classes}});
    EXPECT_EQ(a.shape(), (Shape{2, 4}));
    expect_near(a, b, 1e-6);
  }
}

TEST(CrossEntropyLosses, RejectLabelsOfAnotherShape) {
  Graph g;
  Output x = g.placeholder(float32, {4, 3});
  Output y = g.placeholder(int32, {5}), z = g.placeholder(float32, {4, 2});
  expect_error([&] { sparse_softmax_cross_entropy_with_logits(y, x); }, Code::InvalidArgument, "labels (received [5])");
  expect_error([&] { sigmoid_cross_entropy_with_logits(z, x); }, Code::InvalidArgument, "the same shape");
}

TEST(SigmoidCrossEntropyWithLogits, HasTensorFlowsNodesAndDoesNotOverflow) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "l"), y = g.placeholder(float32, {kUnknown, 3}, "y");
  Output loss = sigmoid_cross_entropy_with_logits(y, x);
  EXPECT_EQ(nodes(g),
            "logistic_loss/zeros_like:ZerosLike logistic_loss/GreaterEqual:GreaterEqual logistic_loss/Select:Select "
            "logistic_loss/Neg:Neg logistic_loss/Select_1:Select logistic_loss/mul:Mul logistic_loss/sub:Sub "
            "logistic_loss/Exp:Exp logistic_loss/Log1p:Log1p logistic_loss:Add");
  Tensor value = Session(g).run(
      loss, {{x, Tensor::from({-1000.f, 0.f, 1000.f}, {1, 3})}, {y, Tensor::from({0.f, 1.f, 0.f}, {1, 3})}});
  expect_near(value, Tensor::from({0.f, static_cast<float>(std::log(2)), 1000.f}, {1, 3}), 1e-6);
}

TEST(Moments, HasTensorFlowsNodes) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3, 4}, "l");
  Moments m = moments(x, {0, 1});
  EXPECT_EQ(nodes(g),
            "moments/mean/reduction_indices:Const moments/mean:Mean moments/StopGradient:StopGradient "
            "moments/SquaredDifference:SquaredDifference moments/variance/reduction_indices:Const "
            "moments/variance:Mean moments/Squeeze:Squeeze moments/Squeeze_1:Squeeze");
  EXPECT_EQ(m.mean.shape(), Shape{4});
}

TEST(BatchNormalization, HasTensorFlowsNodesAndNormalises) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 2}, "x");
  Output y = batch_normalization(x, g.placeholder(float32, {2}, "mean"), g.placeholder(float32, {2}, "variance"),
                                 g.placeholder(float32, {2}, "offset"), g.placeholder(float32, {2}, "scale"), 0.f);
  EXPECT_EQ(nodes(g),
            "batchnorm/add/y:Const batchnorm/add:AddV2 batchnorm/Rsqrt:Rsqrt batchnorm/mul:Mul batchnorm/mul_1:Mul "
            "batchnorm/mul_2:Mul batchnorm/sub:Sub batchnorm/add_1:AddV2");
  Tensor result = Session(g).run(y, {{x, Tensor::from({3.f, 1.f}, {1, 2})},
                                     {g.output("mean:0"), Tensor::from({1.f, 1.f}, {2})},
                                     {g.output("variance:0"), Tensor::from({4.f, 1.f}, {2})},
                                     {g.output("offset:0"), Tensor::from({10.f, 20.f}, {2})},
                                     {g.output("scale:0"), Tensor::from({3.f, 1.f}, {2})}});
  expect_near(result, Tensor::from({13.f, 20.f}, {1, 2}), 1e-6);
}

TEST(InTopK, StandsInAScopeOfItsOwn) {
  Graph g;
  in_top_k(g.placeholder(float32, {kUnknown, 3}), g.placeholder(int32, {kUnknown}), 1);
  EXPECT_EQ(nodes(g), "in_top_k/InTopKV2/k:Const in_top_k/InTopKV2:InTopKV2");
}

}  // namespace
}  // namespace weir::nn
