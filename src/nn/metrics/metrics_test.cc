#include <gtest/gtest.h>

#include <any>
#include <functional>
#include <utility>

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

// After the two batches, where an update gives no value.
void expect_after_two_batches(
    const std::function<std::pair<std::vector<Output>, Operation>(const Output& p, const Output& l, const Output& w)>&
        make,
    const std::vector<std::vector<double>>& expected) {
  Graph g;
  Output p = g.placeholder(float32, {4}), l = g.placeholder(int64, {4}), w = g.placeholder(float32, {4});
  const auto [values, update] = make(p, l, w);
  std::vector<Output> wanted;
  for (const Output& value : values) wanted.push_back(cast(value, float64));
  Session session(g);
  session.run(initializer(g));
  const std::vector<std::vector<float>> ps = {{.1f, .8f, .4f, .35f}, {.9f, .2f, .6f, .5f}};
  const std::vector<std::vector<int64_t>> ls = {{0, 1, 1, 0}, {1, 0, 0, 1}};
  const std::vector<std::vector<float>> ws = {{1, 2, 1, .5f}, {.5f, 1, 1, 2}};
  for (size_t i : {0u, 1u}) {
    session.run(std::vector<Output>{}, {{p, Tensor(ps[i])}, {l, Tensor(ls[i])}, {w, Tensor(ws[i])}}, {update});
  }
  const std::vector<Tensor> found = session.run(wanted, {{p, Tensor(ps[1])}, {l, Tensor(ls[1])}, {w, Tensor(ws[1])}});
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(static_cast<size_t>(found[i].elements()), expected[i].size()) << i;
    for (size_t k = 0; k < expected[i].size(); ++k) {
      EXPECT_NEAR(found[i].data<double>()[k], expected[i][k], 2e-6) << i << ' ' << k;
    }
  }
}

TEST(Metrics, SayHowOftenClassesAgree) {
  using O = Output;
  auto kappa = [](const O& p, const O& l, const MetricOptions& options) {
    const Metric metric = cohen_kappa(l, hard(p), 2, options);
    return std::pair(std::vector<O>{metric.value}, metric.update.op());
  };
  expect_after_two_batches([&](const O& p, const O& l, const O&) { return kappa(p, l, {}); }, {{0.5}});
  expect_after_two_batches([&](const O& p, const O& l, const O& w) { return kappa(p, l, {.weights = In(w)}); },
                           {{0.5324675}});
  Graph g;
  const O x = g.constant({1, 0}, int64);
  expect_error([&] { cohen_kappa(x, x, 1); }, Code::InvalidArgument, "`num_classes` must be >= 2");
  EXPECT_EQ(after_two_batches([](const O& p, const O&, const O& w) { return count(p, {.weights = In(w)}); }), 9);
}

TEST(Metrics, KeepAllValues) {
  using O = Output;
  expect_after_two_batches(
      [](const O& p, const O&, const O& w) {
        const Metric metric = streaming_concat(stack({p, w}), {.axis = 1, .max_size = 6});
        return std::pair(std::vector<O>{metric.value}, metric.update.op());
      },
      {{.1, .8, .4, .35, .9, .2, 1, 2, 1, .5, .5, 1}});
  Graph g;
  expect_error(
      [&] {
        streaming_concat(g.placeholder(float32, {2, kUnknown}));
      },
      Code::InvalidArgument, "must have statically known size");
}

TEST(Metrics, FindExactAreas) {
  using O = Output;
  auto area = [](const OperationMetric& metric) { return std::pair(std::vector<O>{metric.value}, metric.update); };
  expect_after_two_batches([&](const O& p, const O& l, const O&) { return area(streaming_dynamic_auc(l, p)); },
                           {{0.875}});
  expect_after_two_batches(
      [&](const O& p, const O& l, const O& w) { return area(streaming_dynamic_auc(l, p, "PR", {.weights = In(w)})); },
      {{0.8844792}});
  expect_after_two_batches(
      [&](const O& p, const O& l, const O&) {
        return area(auc_using_histogram(cast(l, boolean), p, 0.f, 1.f, {.nbins = 8}));
      },
      {{0.90625}});
  auto bounds = [](const AreaWithBounds& a) { return std::pair(std::vector<O>{a.auc, a.lower, a.upper}, a.update); };
  expect_after_two_batches(
      [&](const O& p, const O& l, const O&) { return bounds(auc_with_confidence_intervals(l, p)); },
      {{0.875}, {0.3451176}, {0.9893594}});
  expect_after_two_batches(
      [&](const O& p, const O& l, const O& w) {
        return bounds(
            auc_with_confidence_intervals(l, p, {.alpha = 0.9, .logit_transformation = false}, {.weights = In(w)}));
      },
      {{0.8441558}, {0.5650873}, {1.1232244}});
}

TEST(Metrics, FindTheBestThreshold) {
  using O = Output;
  EXPECT_NEAR(
      after_two_batches([](const O& p, const O& l, const O& w) { return f1_score(l, p, 200, {.weights = In(w)}); }),
      0.9166666, 1e-6);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O& w) {
                return recall_at_precision(l, p, 0.6f, 200, false, {.weights = In(w)});
              }),
              1, 1e-6);
  EXPECT_NEAR(
      after_two_batches([](const O& p, const O& l, const O&) { return recall_at_precision(l, p, 0.6f, 200, true); }), 1,
      1e-6);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O& w) {
                return precision_at_recall(l, p, 0.6f, 200, {.weights = In(w)});
              }),
              0.8181818, 1e-6);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O& w) {
                return streaming_false_positive_rate(hard(p), l, {.weights = In(w)});
              }),
              0.2857143, 1e-6);
  EXPECT_NEAR(after_two_batches([](const O& p, const O& l, const O& w) {
                return streaming_false_negative_rate(hard(p), l, {.weights = In(w)});
              }),
              0.1818182, 1e-6);
}

TEST(Metrics, DrawCurves) {
  using O = Output;
  auto of = [](const Metric& metric) { return std::pair(std::vector<O>{metric.value}, metric.update.op()); };
  expect_after_two_batches(
      [&](const O& p, const O& l, const O& w) {
        return of(streaming_false_positive_rate_at_thresholds(p, l, {.3f, .55f}, {.weights = In(w)}));
      },
      {{0.4285714, 0.2857143}});
  expect_after_two_batches(
      [&](const O& p, const O& l, const O& w) {
        return of(streaming_false_negative_rate_at_thresholds(p, l, {.3f, .55f}, {.weights = In(w)}));
      },
      {{0, 0.5454546}});
  expect_after_two_batches(
      [](const O& p, const O& l, const O& w) {
        const OperationMetric points =
            streaming_curve_points(l, p, {.num_thresholds = 4, .curve = "PR"}, {.weights = In(w)});
        return std::pair(std::vector<O>{points.value}, points.update);
      },
      {{1, 0.6111112, 1, 0.7857144, 0.4545456, 1, 2e-7, 1}});
  expect_after_two_batches(
      [](const O& p, const O& l, const O& w) {
        const PrecisionRecallData d = precision_recall_at_equal_thresholds(cast(l, boolean), p, 3, {.weights = In(w)});
        return std::pair(std::vector<O>{d.tp, d.fp, d.tn, d.fn, d.precision, d.recall, d.thresholds}, d.update);
      },
      {{5.5, 4.5, 0},
       {3.5, 1, 0},
       {0, 2.5, 3.5},
       {0, 1, 5.5},
       {0.6111111, 0.8181818, 0},
       {1, 0.8181818, 0},
       {0, 0.5, 1}});
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
