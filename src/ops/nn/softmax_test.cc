#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

Tensor log_softmax(const Tensor& x) {
  const int64_t n = x.shape()[-1], rows = n == 0 ? 0 : x.elements() / n;
  Tensor y = x.copy();
  for (int64_t row = 0; row < rows; ++row) {
    const double* from = x.data<double>().data() + row * n;
    double largest = *std::max_element(from, from + n), sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(from[i] - largest);
    for (int64_t i = 0; i < n; ++i) y.mutable_data<double>()[row * n + i] = from[i] - largest - std::log(sum);
  }
  return y;
}

Tensor softmax(const Tensor& x) {
  Tensor y = log_softmax(x);
  for (int64_t i = 0; i < y.elements(); ++i) y.mutable_data<double>()[i] = std::exp(y.data<double>()[i]);
  return y;
}

Tensors cross_entropy(const Tensor& logits, const Tensor& labels) {
  const int64_t rows = logits.shape()[0], n = logits.shape()[1];
  Tensor logs = log_softmax(logits), loss = zeros({rows}), backprop = softmax(logits);
  for (int64_t i = 0; i < logits.elements(); ++i) {
    loss.mutable_data<double>()[i / n] -= labels.data<double>()[i] * logs.data<double>()[i];
    backprop.mutable_data<double>()[i] -= labels.data<double>()[i];
  }
  return {loss, backprop};
}

TEST(Softmax, MatchesItsFormula) {
  for (const Shape& shape : {Shape{1}, Shape{7, 10}, Shape{2, 3, 17}, Shape{33, 1}, Shape{0, 4}}) {
    check_op({.op = "Softmax", .inputs = {scattered(shape, -4, 4)}, .reference = [](const Tensors& in) {
                return Tensors{softmax(in[0])};
              }});
    check_op({.op = "LogSoftmax", .inputs = {scattered(shape, -4, 4)}, .reference = [](const Tensors& in) {
                return Tensors{log_softmax(in[0])};
              }});
  }
}

TEST(Softmax, DoesNotOverflow) {
  check_op({.op = "Softmax",
            .inputs = {{{1000, 1000}, {-1000, 0}}},
            .outputs = {{{0.5, 0.5}, {0, 1}}},
            .types = kFloatingTypes,
            .gradient = false});
}

TEST(SoftmaxCrossEntropy, StretchesLabelsAndLogits) {
  const Tensor logits = scattered({3, 4}, -2, 2);
  In labels = {{0.0, 0.5, 0.5, 0.0}};
  const Tensor whole = Tensor::from<double>({0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0}, {3, 4});
  check_op({.op = "SoftmaxCrossEntropyWithLogits",
            .inputs = {logits, labels},
            .reference = [&](const Tensors& in) { return cross_entropy(in[0], whole); },
            .gradient = false});
  Graph g;
  Output x = g.placeholder(float64, {3, 4}), z = g.placeholder(float64, {1, 4});
  Operation node = g.add({.op = "SoftmaxCrossEntropyWithLogits", .inputs = {x, z}});
  std::vector<Gradient> grads = gradients({node.output(0)}, {x, z});
  EXPECT_EQ(grads[0].dense().shape().str(), "[3,4]");
  EXPECT_EQ(grads[1].dense().shape().str(), "[1,4]");
}

TEST(Softmax, RejectsScalar) {
  check_op({.op = "Softmax",
            .inputs = {{1, 1}},
            .outputs = {{0.5, 0.5}},
            .gradient = false,
            .bad = {{.inputs = {1}, .message = "at least 1-dim"}}});
}

TEST(SoftmaxCrossEntropy, MatchesItsFormula) {
  for (const Shape& shape : {Shape{5, 10}, Shape{1, 1}, Shape{16, 3}, Shape{0, 3}}) {
    check_op({.op = "SoftmaxCrossEntropyWithLogits",
              .inputs = {scattered(shape, -3, 3), scattered(shape, 0, 1, 7)},
              .reference = [](const Tensors& in) { return cross_entropy(in[0], in[1]); },
              .gradient = false});
  }
}

TEST(SoftmaxCrossEntropy, RejectsShapesThatDiffer) {
  check_op({.op = "SoftmaxCrossEntropyWithLogits",
            .inputs = {{{0, 0}}, {{1, 0}}},
            .outputs = {{std::log(2)}, {{-0.5, 0.5}}},
            .gradient = false,
            .bad = {{.inputs = {{{1, 2}}, {{1, 2, 3}}}, .message = "one shape"},
                    {.inputs = {{1, 2}, {1, 2}}, .message = "rank 2"}}});
}

TEST(SparseSoftmaxCrossEntropy, AgreesWithOneHotLabels) {
  for (DType labels : {int32, int64}) {
    check_op({.op = "SparseSoftmaxCrossEntropyWithLogits",
              .inputs = {scattered({4, 3}, -3, 3), {0, 2, 1, 2}},
              .attrs = {{"Tlabels", labels}},
              .reference =
                  [](const Tensors& in) {
                    Tensor one_hot = zeros(in[0].shape());
                    for (int64_t i = 0; i < 4; ++i) {
                      one_hot.mutable_data<double>()[i * 3 + static_cast<int64_t>(in[1].data<double>()[i])] = 1;
                    }
                    return cross_entropy(in[0], one_hot);
                  },
              .gradient = false});
  }
}

TEST(SparseSoftmaxCrossEntropy, NamesTheLabelThatIsOutOfRange) {
  check_op({.op = "SparseSoftmaxCrossEntropyWithLogits",
            .inputs = {{{0, 0}}, {1}},
            .outputs = {{std::log(2)}, {{0.5, -0.5}}},
            .gradient = false,
            .bad = {{.inputs = {{{1, 2}, {3, 4}}, {0, 2}}, .message = "label value of 2"},
                    {.inputs = {{{1, 2}}, {-1}}, .message = "label value of -1"},
                    {.inputs = {{{1, 2}}, {0, 1}}, .message = "one label for each row"}}});
}

// d(loss)/d(logits) of rows weighted by their own gradients, numerically.
void check_loss_gradient(const std::function<Output(const Output&)>& loss_of) {
  Graph g;
  Output x = g.placeholder(float64, {3, 4});
  Output loss = reduce_sum(loss_of(x) * Tensor(std::vector<double>{1, -2, 0.5}));
  Output grad = gradients({loss}, {x})[0].dense();
  Session session(g);
  Tensor at = scattered({3, 4}, -2, 2);
  Tensor actual = session.run(grad, {{x, at}});
  for (int64_t i = 0; i < at.elements(); ++i) {
    auto shifted = [&](double by) {
      Tensor moved = at.copy();
      moved.mutable_data<double>()[i] += by;
      return session.run(loss, {{x, moved}}).scalar<double>();
    };
    EXPECT_NEAR(actual.data<double>()[i], (shifted(1e-5) - shifted(-1e-5)) / 2e-5, 1e-7) << i;
  }
}

TEST(CrossEntropyLosses, HaveTheRightGradients) {
  Tensor soft = softmax(scattered({3, 4}, -1, 1, 5));
  check_loss_gradient([&](const Output& x) { return nn::softmax_cross_entropy_with_logits(soft, x); });
  check_loss_gradient([&](const Output& x) { return nn::softmax_cross_entropy_with_logits_v2(soft, x); });
  check_loss_gradient([](const Output& x) {
    return nn::sparse_softmax_cross_entropy_with_logits(Tensor(std::vector<int32_t>{3, 0, 1}), x);
  });
  check_loss_gradient([&](const Output& x) { return reduce_sum(nn::sigmoid_cross_entropy_with_logits(soft, x), 1); });
}

}  // namespace
}  // namespace weir::testing
