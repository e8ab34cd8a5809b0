#include <gtest/gtest.h>

#include <any>
#include <functional>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::metrics {
namespace {

using testing::expect_error;
using testing::expect_near;

// Two batches of four; what each gives is TensorFlow 1.15's.
float after_two_batches(const std::function<Metric(const Output& p, const Output& l, const Output& w)>& make) {
  Graph g;
  Output p = g.placeholder(float32, {4}), l = g.placeholder(int64, {4}), w = g.placeholder(float32, {4});
  const Metric metric = make(p, l, w);
  Session session(g);
  session.run(initializer(g));
  const std::vector<std::vector<float>> ps = {{.1f, .8f, .4f, .35f}, {.9f, .2f, .6f, .5f}};
  const std::vector<std::vector<int64_t>> ls = {{0, 1, 1, 0}, {1, 0, 0, 1}};
  const std::vector<std::vector<float>> ws = {{1, 2, 1, .5f}, {.5f, 1, 1, 2}};
  float last = 0;
  for (size_t i : {0u, 1u}) {
    last = session.run(metric.update, {{p, Tensor(ps[i])}, {l, Tensor(ls[i])}, {w, Tensor(ws[i])}}).scalar<float>();
  }
  const float value = session.run(metric.value).scalar<float>();
  EXPECT_FLOAT_EQ(value, last);
  return value;
}

Output hard(const Output& p) { return cast(greater(p, 0.45f), int64); }

TEST(Metrics, AddUpOverBatches) {
  using O = Output;
  auto plain = [](auto metric) {
    return after_two_batches([&](const O& p, const O& l, const O&) { return metric(l, hard(p), MetricOptions{}); });
  };
  auto weighted = [](auto metric) {
    return after_two_batches(
        [&](const O& p, const O& l, const O& w) { return metric(l, hard(p), MetricOptions{.weights = In(w)}); });
  };
  EXPECT_NEAR(plain(accuracy), 0.75, 1e-5);
  EXPECT_NEAR(weighted(accuracy), 7. / 9, 1e-5);
  EXPECT_NEAR(plain(precision), 0.75, 1e-5);
  EXPECT_NEAR(plain(recall), 0.75, 1e-5);
  EXPECT_NEAR(weighted(precision), 4.5 / 5.5, 1e-5);
  EXPECT_EQ(plain(true_positives), 3);
  EXPECT_EQ(plain(false_positives), 1);
  EXPECT_EQ(plain(true_negatives), 3);
  EXPECT_EQ(weighted(false_negatives), 1);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O&) { return mean_iou(l, hard(p), 2); }), 0.6, 1e-5);
  EXPECT_NEAR(
      after_two_batches([](const O& p, const O& l, const O&) { return mean_per_class_accuracy(l, hard(p), 2); }), 0.75,
      1e-5);
}

TEST(Metrics, AverageErrors) {
  using O = Output;
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O&) { return mean_absolute_error(l, p); }), 0.33125,
              1e-5);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O&) { return root_mean_squared_error(l, p); }),
              0.38609, 1e-4);
  EXPECT_NEAR(after_two_batches([](const O& p, const O&, const O&) { return percentage_below(p, 0.45f); }), 0.5, 1e-5);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O&) { return auc(l, p); }), 0.875, 1e-2);
}

TEST(Metrics, FindRatesAtRates) {
  using O = Output;
  EXPECT_NEAR(
      after_two_batches([](const O& p, const O& l, const O&) { return sensitivity_at_specificity(l, p, 0.7f); }), 1,
      1e-5);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O& w) {
                return specificity_at_sensitivity(l, p, 0.7f, 200, {.weights = In(w)});
              }),
              0.7142857, 1e-5);
  Graph g;
  Output x = g.constant({0.5f, 1}, float32);
  expect_error([&] { sensitivity_at_specificity(x, x, 2); }, Code::InvalidArgument, "must be in the range [0, 1]");
}

TEST(Metrics, FollowTwoStreams) {
  using O = Output;
  EXPECT_NEAR(after_two_batches(
                  [](const O& p, const O& l, const O& w) { return streaming_covariance(p, l, {.weights = In(w)}); }),
              0.0855903, 1e-5);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O&) { return streaming_pearson_correlation(p, l); }),
              0.649707, 1e-5);
}

TEST(Metrics, CountAtThresholds) {
  Graph g;
  Output p = g.constant(Tensor::from<float>({.1f, .8f, .4f, .35f, .9f, .2f, .6f, .5f}, {8}));
  Output l = g.constant({0, 1, 1, 0, 1, 0, 0, 1}, int64);
  const MetricOptions weights{.weights = In(g.constant(Tensor::from<float>({1, 2, 1, .5f, .5f, 1, 1, 2}, {8})))};
  const std::vector<float> thresholds = {0.3f, 0.55f};
  std::vector<Output> updates = {true_positives_at_thresholds(l, p, thresholds, weights).update,
                                 false_positives_at_thresholds(l, p, thresholds, weights).update,
                                 true_negatives_at_thresholds(l, p, thresholds, weights).update,
                                 false_negatives_at_thresholds(l, p, thresholds, weights).update};
  Session session(g);
  session.run(initializer(g));
  expect_near(session.run(stack(updates)), Tensor::from<float>({5.5f, 2.5f, 1.5f, 1, 2, 2.5f, 0, 3}, {4, 2}), 1e-5);
}

// After the same three rows twice; what TensorFlow 1.15 gives, and its names.
double of_three_rows(const std::function<Metric(const Output& p, const Output& l, const Output& w)>& make,
                     const std::vector<std::string>& names) {
  Graph g;
  Output p = g.constant(Tensor::from<float>({.1f, .5f, .2f, .7f, .9f, .3f, .4f, .2f, .2f, .1f, .6f, .3f}, {3, 4}));
  const Metric metric = make(p, g.constant({{1, 3}, {2, 1}, {0, 3}}, int64), g.constant({1, 2, 0.5}, float32));
  std::vector<std::string> found;
  for (const std::any& item : g.collection("local_variables")) found.push_back(std::any_cast<Variable>(item).name());
  EXPECT_EQ(found, names);
  Session session(g);
  session.run(initializer(g));
  session.run(metric.update);
  const double last = session.run(metric.update).scalar<double>();
  const double value = session.run(metric.value).scalar<double>();
  EXPECT_DOUBLE_EQ(value, last);
  return value;
}

TEST(Metrics, LookAtTheBestOfManyClasses) {
  using O = Output;
  EXPECT_NEAR(of_three_rows([](const O& p, const O& l, const O&) { return precision_at_k(l, p, 2); },
                            {"precision_at_2/true_positive_at_2", "precision_at_2/false_positive_at_2"}),
              2. / 3, 1e-6);
  EXPECT_NEAR(
      of_three_rows([](const O& p, const O& l, const O& w) { return recall_at_k(l, p, 2, 3, {.weights = In(w)}); },
                    {"recall_at_2_class3/true_positive_at_2_class3", "recall_at_2_class3/false_negative_at_2_class3"}),
      1, 1e-6);
  EXPECT_NEAR(of_three_rows([](const O& p, const O& l,
                               const O& w) { return average_precision_at_k(l, p, 3, {.weights = In(w)}); },
                            {"average_precision_at_3/max_1", "average_precision_at_3/total"}),
              0.7023810, 1e-6);
  EXPECT_NEAR(of_three_rows(
                  [](const O& p, const O& l, const O& w) {
                    Output best = p.graph().constant({{1, 0}, {1, 2}, {3, 1}}, int64);
                    return recall_at_top_k(l, best, {}, {.weights = In(w)});
                  },
                  {"recall_at_k/true_positive_at_k", "recall_at_k/false_negative_at_k"}),
              0.7857143, 1e-6);
  Graph g;
  Output x = g.constant(Tensor::from<float>({1, 2}, {1, 2}));
  expect_error([&] { precision_at_k(g.constant({{1}}, int64), x, 0); }, Code::InvalidArgument, "Invalid k=0");
}

TEST(Metrics, LeaveTheModelsVariablesAlone) {
  Graph g;
  Output x = g.constant({1, 2}, float32);
  mean(x, {.metrics_collections = {"mine"}});
  EXPECT_TRUE(g.trainable_variables().empty());
  EXPECT_TRUE(g.global_variables().empty());
  EXPECT_EQ(g.collection("mine").size(), 1u);
  EXPECT_EQ(g.collection("local_variables").size(), 2u);
  expect_error([&] { auc(x, x, {.curve = "XYZ"}); }, Code::InvalidArgument, "curve must be either ROC or PR");
  expect_error(
      [&] {
        mean_squared_error(x, g.constant({1, 2, 3}, float32));
      },
      Code::InvalidArgument, "labels of shape");
}

}  // namespace
}  // namespace weir::metrics
