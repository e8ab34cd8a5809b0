#include <gtest/gtest.h>

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
