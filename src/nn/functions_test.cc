#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/embedding.h"
#include "weir/index_ops.h"
#include "weir/linalg_ops.h"
#include "weir/losses.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"
#include "weir/session.h"

// The numbers are TensorFlow 1.15's.
namespace weir::nn {
namespace {

using testing::converted;
using testing::expect_error;
using testing::expect_near;

struct Model {
  Graph g;
  Output ramp(const Shape& shape, double first = 1, double step = 1) {
    return g.constant(converted(testing::ramp(shape, first, step), float32));
  }
  void expect(const Output& output, const std::vector<float>& values, double tolerance = 1e-5) {
    Tensor got = Session(g).run(output);
    expect_near(got, Tensor::from(std::span<const float>(values), got.shape()), tolerance);
  }
};

TEST(NnFunctions, ComputeWhatTensorFlowDoes) {
  Model m;
  Output x = m.ramp({2, 3}, -1, 0.5), z = m.ramp({2, 3}, 0, 0.2);
  m.expect(l2_normalize(x, {1}), {-0.89442718f, -0.44721359f, 0, 0.26726124f, 0.53452247f, 0.80178368f});
  m.expect(zero_fraction(x), {0.16666667f});
  Moments moments = weighted_moments(x, {0}, m.g.constant({{1}, {3}}, float32));
  m.expect(moments.mean, {0.125f, 0.625f, 1.125f});
  m.expect(moments.variance, {0.421875f, 0.421875f, 0.421875f});
  Output targets = m.ramp({2, 3}, 0.5);
  m.expect(log_poisson_loss(targets, x), {0.86787945f, 1.3565307f, 1, -0.10127878f, -1.7817183f, -3.768311f});
  m.expect(log_poisson_loss(targets, x, true),
           {0.86787945f, 1.5863993f, 2.1678109f, 2.3287115f, 2.1576076f, 1.8791156f});
  m.expect(weighted_cross_entropy_with_logits(z, x, 2.5),
           {0.31326175f, 0.86630011f, 1.1090355f, 1.1007464f, 0.88917571f, 0.50353324f});
  SufficientStatistics s = sufficient_statistics(x, {0, 1}, {.shift = 0.5});
  Moments shifted = normalize_moments(s.count, s.mean_ss, s.variance_ss, In(s.shift));
  m.expect(shifted.mean, {0.25f});
  m.expect(shifted.variance, {0.72916667f});
}

TEST(NnFunctions, ConvolveByChannelAndWithHoles) {
  Model m;
  Output image = m.ramp({1, 5, 5, 2}, -1, 0.05), taps = m.ramp({3, 3, 2, 2}, -0.5, 0.03);
  Output points = m.ramp({1, 1, 4, 2}, -0.2, 0.1);
  m.expect(depthwise_conv2d(image, taps, {.padding = "VALID", .rate = {2, 2}}),
           {2.2680001f, 2.322f, 2.3940001f, 2.4615002f});
  m.expect(separable_conv2d(image, taps, points, {.strides = {1, 2, 2, 1}, .padding = "VALID"}),
           {0.33299994f, 0.76274997f, 0.40499991f, 0.85274994f, 0.69299996f, 1.21275f, 0.76499999f, 1.30275f});
  Output holes = atrous_conv2d(image, m.ramp({3, 3, 2, 1}, -0.5, 0.1), 2, "SAME");
  EXPECT_EQ(holes.shape(), (Shape{1, 5, 5, 1}));
  m.expect(holes, {-0.96f, -0.36f, -0.01f, 0.08f, 0.52f, 2.04f, 2.64f, 3.89f, 2.28f, 2.72f, 5.61f, 6.15f, 9.12f,
                   5.61f,  5.91f,  1.44f,  1.56f, 2.27f, 1.2f,  1.16f, 2.04f, 2.16f, 2.57f, 1,     0.96f});
  m.expect(conv2d_transpose(m.ramp({1, 2, 2, 1}), m.ramp({3, 3, 1, 1}), {1, 4, 4, 1}, {.strides = {1, 2, 2, 1}}),
           {1, 2, 5, 4, 4, 5, 14, 10, 10, 14, 36, 24, 12, 15, 34, 20});
}

TEST(DropoutRate, IsDropoutByTheOtherShare) {
  Model m;
  Output x = m.ramp({4, 5});
  Session session(m.g);
  expect_near(session.run(dropout_rate(x, 0.25, {.seed = 3})), session.run(dropout(x, 0.75, {.seed = 3})), 1e-6);
  expect_error([&] { dropout_rate(x, 1.0); }, Code::InvalidArgument, "rate must be in [0, 1)");
}

TEST(Embedding, LooksUpInPartsAndClips) {
  Model m;
  Output first = m.ramp({4, 2}), second = m.ramp({3, 2}, 100), ids = m.g.constant({{0, 6}, {5, 3}}, int32);
  m.expect(embedding_lookup({first, second}, ids), {1, 2, 7, 8, 104, 105, 102, 103});
  m.expect(embedding_lookup({first, second}, ids, {.strategy = PartitionStrategy::Div}),
           {1, 2, 104, 105, 102, 103, 7, 8});
  m.expect(embedding_lookup({first}, m.g.constant({3, 0}, int32), {.max_norm = 2.0}),
           {1.3170092f, 1.5051534f, 0.89442718f, 1.7888544f});
}

TEST(Embedding, CombinesTheRowsOfSparseIds) {
  Model m;
  Output table = m.ramp({3, 2});
  const SparseIds ids{m.g.constant({{0, 0}, {0, 1}, {2, 0}}, int64), m.g.constant({2, 0, 1}, int64)};
  m.expect(embedding_lookup_sparse({table}, ids, {.combiner = "sum"}), {6, 8, 0, 0, 3, 4});
  m.expect(embedding_lookup_sparse({table}, ids), {3, 4, 0, 0, 3, 4});
  const float root = std::sqrt(2.f);
  m.expect(embedding_lookup_sparse({table}, ids, {.combiner = "sqrtn"}), {6 / root, 8 / root, 0, 0, 3, 4});
  const SparseIds two{m.g.constant({{0, 0}, {0, 1}, {1, 0}}, int64), m.g.constant({2, 0, 1}, int64)};
  const In weights = m.g.constant({3, 1, 2}, float32);
  m.expect(embedding_lookup_sparse({table}, two, {.weights = weights, .combiner = "sum"}), {16, 20, 6, 8});
  m.expect(embedding_lookup_sparse({table}, two, {.weights = weights}), {4, 5, 3, 4});
  m.expect(embedding_lookup_sparse({table}, two, {.weights = weights, .combiner = "sqrtn"}),
           {16 / std::sqrt(10.f), 20 / std::sqrt(10.f), 3, 4});
  expect_error([&] { embedding_lookup_sparse({table}, ids, {.combiner = "max"}); }, Code::InvalidArgument, "combiner");
}

TEST(SampledLosses, ComputeWhatTensorFlowDoes) {
  Model m;
  Output w = m.ramp({10, 3}, -1.4, 0.1), b = m.ramp({10}, -0.5, 0.1), x = m.ramp({2, 3}, -0.3, 0.2);
  Output labels = m.g.constant({{1}, {7}}, int64);
  SampledLossOptions options{
      .num_sampled = 4,
      .num_classes = 10,
      .sampled_values = SampledCandidates{m.g.constant({3, 7, 0, 5}, int64), m.g.constant({{0.5}, {0.2}}, float32),
                                          m.g.constant({0.4, 0.2, 0.6, 0.3}, float32)}};
  m.expect(nce_loss({w}, {b}, labels, x, options), {5.8306274f, 5.7933764f});
  m.expect(sampled_softmax_loss({w}, {b}, labels, x, options), {2.0135112f, 0.25029853f});
}

TEST(Losses, ComputeWhatTensorFlowDoes) {
  Model m;
  Output p = m.ramp({2, 3}, 0.1, 0.12), labels = m.g.constant({{0, 1, 0}, {1, 0, 0}}, float32);
  const losses::LossOptions weighted{.weights = m.g.constant({{2}, {0}}, float32)};
  m.expect(losses::absolute_difference(labels, p), {0.50666666f});
  m.expect(losses::absolute_difference(labels, p, weighted), {0.81333333f});
  m.expect(losses::mean_squared_error(labels, p), {0.30866662f});
  m.expect(losses::mean_squared_error(labels, p, weighted), {0.48933327f});
  m.expect(losses::hinge_loss(labels, p), {1.1733333f});
  m.expect(losses::hinge_loss(labels, p, weighted), {2.1466668f});
  m.expect(losses::huber_loss(labels, p, 0.5f), {0.14380001f});
  m.expect(losses::huber_loss(labels, p, 0.5f, weighted), {0.21853332f});
  m.expect(losses::log_loss(labels, p), {0.81383401f});
  m.expect(losses::log_loss(labels, p, 1e-7f, weighted), {1.3566686f});
  m.expect(losses::sigmoid_cross_entropy(labels, p, 0.1f), {0.79604739f});
  m.expect(losses::sigmoid_cross_entropy(labels, p, 0.1f, weighted), {1.46674f});
  m.expect(losses::cosine_distance(labels, p, 1), {0.65999997f});
  m.expect(losses::softmax_cross_entropy(labels, p), {1.1634064f});
  m.expect(losses::softmax_cross_entropy(labels, p, 0.2f), {1.1514065f});
  m.expect(losses::sparse_softmax_cross_entropy(m.g.constant({1, 0}, int32), p,
                                                {.weights = m.g.constant({2, 0.5}, float32)}),
           {1.409258f});
  auto reduced = [&](losses::Reduction reduction) {
    losses::LossOptions options = weighted;
    options.reduction = reduction;
    return losses::mean_squared_error(labels, p, options);
  };
  m.expect(reduced(losses::Reduction::None), {0.02f, 1.2168f, 0.2312f, 0, 0, 0});
  m.expect(reduced(losses::Reduction::Sum), {1.468f});
  m.expect(reduced(losses::Reduction::Mean), {0.24466664f});
  m.expect(reduced(losses::Reduction::SumOverBatchSize), {0.24466664f});
  m.expect(losses::mean_pairwise_squared_error(labels, p), {1.6309332f});
  m.expect(losses::mean_pairwise_squared_error(labels, p, {.weights = weighted.weights}), {1.3909332f});
  expect_error([&] { losses::mean_squared_error(labels, p, {.weights = m.ramp({2})}); }, Code::InvalidArgument,
               "can not be broadcast");
}

TEST(Losses, CheckWeightsWhoseShapeOnlyTheRunKnows) {
  Graph g;
  Output weights = g.placeholder(float32, Shape::unknown());
  Output loss = losses::compute_weighted_loss(g.constant(Tensor::zeros(float32, {3, 2, 4})), {.weights = weights});
  Session session(g);
  for (const Shape& fits : {Shape{}, Shape{3, 1, 4}, Shape{1, 1, 1}}) {
    session.run(loss, {{weights, Tensor::zeros(float32, fits)}});
  }
  for (const Shape& bad : {Shape{3}, Shape{1}, Shape{2, 2, 2, 2}, Shape{3, 2, 2}}) {
    expect_error(
        [&] {
          session.run(loss, {{weights, Tensor::zeros(float32, bad)}});
        },
        Code::InvalidArgument, "weights can not be broadcast to values");
  }
}

TEST(Losses, AreCollectedAndAddedUp) {
  Model m;
  losses::add_loss(m.ramp({}, 2));
  losses::add_loss(m.ramp({}, 3));
  m.g.add_to_collection("regularization_losses", m.ramp({}, 10));
  EXPECT_EQ(losses::get_losses(m.g).size(), 2u);
  Output total = losses::get_total_loss(m.g);
  EXPECT_EQ(total.op().name(), "total_loss");
  m.expect(total, {15});
  m.expect(losses::get_total_loss(m.g, false), {5});
  Graph empty;
  expect_error([&] { losses::get_total_loss(empty); }, Code::InvalidArgument, "no losses");
}

TEST(IndexFunctions, ComputeWhatTensorFlowDoes) {
  Model m;
  Output lengths = m.g.constant({1, 3, 0}, int32);
  m.expect(sequence_mask(lengths, In(4), float32), {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0});
  m.expect(sequence_mask(lengths, {}, float32), {1, 0, 0, 1, 1, 1, 0, 0, 0});
  Output mask = m.g.constant({true, false, true}, boolean);
  m.expect(boolean_mask(m.ramp({3, 2}), mask), {1, 2, 5, 6});
  m.expect(boolean_mask(m.ramp({2, 3}), mask, 1), {1, 3, 4, 6});
  std::vector<Output> grid = meshgrid({m.ramp({2}), m.ramp({3}, 3)});
  m.expect(grid[0], {1, 2, 1, 2, 1, 2});
  m.expect(grid[1], {3, 3, 4, 4, 5, 5});
  Output matrix = confusion_matrix(m.g.constant({0, 1, 2, 1}, int32), m.g.constant({0, 2, 2, 1}, int32));
  m.expect(cast(matrix, float32), {1, 0, 0, 0, 1, 1, 0, 0, 1});
}

TEST(Einsum, ComputesWhatTensorFlowDoes) {
  Model m;
  Output square = m.ramp({2, 2}), three = m.ramp({3});
  m.expect(einsum("bij,bjk->bki", {m.ramp({2, 2, 2}), m.ramp({2, 2, 1})}), {5, 11, 39, 53});
  m.expect(einsum("ij,ij->i", {m.ramp({2, 3}), m.ramp({2, 3})}), {14, 77});
  m.expect(einsum("i,j->ij", {m.ramp({2}), three}), {1, 2, 3, 2, 4, 6});
  m.expect(einsum("ij, jk, kl -> il", {square, square, square}), {37, 54, 81, 118});
  m.expect(einsum("ij->", {m.ramp({2, 3})}), {21});
  m.expect(einsum("ij,jk", {square, square}), {7, 10, 15, 22});
  m.expect(einsum("...i,ij->...j", {m.ramp({2, 1, 2}), square}), {7, 10, 15, 22});
  m.expect(einsum("i,i,i->", {three, three, three}), {36});
  m.expect(einsum("ii", {square}), {5});
}

TEST(Einsum, TakesSizesThatOnlyTheRunKnows) {
  Model m;
  Output x = m.g.placeholder(float32, {kUnknown, 2, kUnknown}), y = m.ramp({3, 2});
  Tensor got = Session(m.g).run(einsum("bij,jk->bik", {x, y}), {{x, converted(testing::ramp({1, 2, 3}), float32)}});
  expect_near(got, Tensor::from<float>({22, 28, 49, 64}, {1, 2, 2}), 1e-6);
}

TEST(Einsum, RejectsEquationsThatDoNotFit) {
  Model m;
  Output square = m.ramp({2, 2});
  for (const char* equation : {"ij,jk->ik", "ijk->i", "ii->i", "ij->k", "i1->i"}) {
    SCOPED_TRACE(equation);
    expect_error([&] { einsum(equation, {square}); }, Code::InvalidArgument, "");
  }
}

}  // namespace
}  // namespace weir::nn
