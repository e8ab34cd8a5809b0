#include "weir/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/check_op.h"
#include "weir/bijectors.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::distributions {
namespace {

using testing::expect_error;

double value(const Output& x) { return Session(x.graph()).run(cast(x, float64)).scalar<double>(); }

std::vector<double> values(const Output& x) {
  const Tensor t = Session(x.graph()).run(cast(x, float64));
  return {t.data<double>().begin(), t.data<double>().end()};
}

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

// A distribution of numbers: its density integrates to its distribution function, and samples have its moments.
struct Case {
  std::string name;
  std::function<AnyDistribution(Graph&)> make;
  double x;     // where it is looked at
  double from;  // where the density begins, near enough
  bool counts = false;
  bool moments = true;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

class Scalar : public ::testing::TestWithParam<Case> {
 protected:
  Graph g;
  AnyDistribution d = GetParam().make(g);
};

TEST_P(Scalar, DensitiesAddUpToTheDistributionFunction) {
  const Case& c = GetParam();
  double sum = 0;
  if (c.counts) {
    std::vector<double> xs;
    for (double x = c.from; x <= c.x; ++x) xs.push_back(x);
    for (double p : values(d->prob(g.constant(Tensor(xs), {})))) sum += p;
  } else {
    // Simpson's rule.
    constexpr int kSteps = 2000;
    std::vector<double> xs;
    const double h = (c.x - c.from) / kSteps;
    for (int i = 0; i <= kSteps; ++i) xs.push_back(c.from + h * i);
    const std::vector<double> p = values(d->prob(g.constant(Tensor(xs), {})));
    for (int i = 0; i <= kSteps; ++i) {
      sum += p[static_cast<size_t>(i)] * (i == 0 || i == kSteps ? 1 : i % 2 ? 4 : 2) * h / 3;
    }
  }
  const Output x = g.constant(Tensor(c.x), {});
  const double cdf = value(d->cdf(x)), before = c.counts ? 0 : value(d->cdf(g.constant(Tensor(c.from), {})));
  EXPECT_NEAR(cdf - before, sum, 1e-5);
  EXPECT_NEAR(value(d->log_cdf(x)), std::log(cdf), 1e-9);
  EXPECT_NEAR(value(d->survival_function(x)), 1 - cdf, 1e-9);
  EXPECT_NEAR(value(d->log_prob(x)), std::log(value(d->prob(x))), 1e-6);
}

TEST_P(Scalar, SamplesHaveItsMoments) {
  const Case& c = GetParam();
  const Output drawn = d->sample({20000}, {.seed = 7});
  EXPECT_EQ(drawn.shape(), Shape({20000}));
  const std::vector<double> samples = values(drawn);
  EXPECT_EQ(samples, values(d->sample({20000}, {.seed = 7}))) << "a seed repeats";
  if (!c.moments) return;
  const double mean = mean_of(samples), deviation = value(d->stddev());
  EXPECT_NEAR(mean, value(d->mean()), 4 * deviation / std::sqrt(20000.0));
  double square = 0;
  for (double x : samples) square += (x - mean) * (x - mean);
  EXPECT_NEAR(square / 20000, value(d->variance()), 0.1 * deviation * deviation);
}

TEST_P(Scalar, DivergesFromItselfByNothing) {
  try {
    EXPECT_NEAR(value(kl_divergence(*d, *d)), 0, 1e-9);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Unimplemented) << error.what();
  }
}

template <class D, class... P>
std::function<AnyDistribution(Graph&)> of(P... parameters) {
  return [=](Graph& g) -> AnyDistribution { return D(g.constant(Tensor(double(parameters)), {})...); };
}

INSTANTIATE_TEST_SUITE_P(
    Distributions, Scalar,
    ::testing::Values(
        Case{"Normal", of<Normal>(1, 2), 1.5, -20}, Case{"Laplace", of<Laplace>(1, 2), 1.0, -60},
        Case{"Logistic", of<Logistic>(1, 0.5), 1.5, -20}, Case{"Cauchy", of<Cauchy>(0, 1), 0.5, -5, false, false},
        Case{"Uniform", of<Uniform>(1, 3), 2.5, 1}, Case{"Gamma", of<Gamma>(3, 2), 1.5, 0},
        Case{"Exponential", of<Exponential>(2), 1.0, 0}, Case{"Chi2", of<Chi2>(6), 5, 0},
        Case{"Beta", of<Beta>(2, 3), 0.4, 0}, Case{"StudentT", of<StudentT>(5, 1, 2), 2, -20},
        Case{"Poisson", [](Graph& g) -> AnyDistribution { return Poisson({.rate = g.constant(3.0, float64)}); }, 4, 0,
             true},
        Case{"Binomial",
             [](Graph& g) -> AnyDistribution { return Binomial(10.0, {.probs = g.constant(0.3, float64)}); }, 4, 0,
             true}),
    [](const auto& one) { return one.param.name; });

TEST(Normal, HasTheNumbersOfTensorFlow) {
  Graph g;
  const Normal normal(g.constant({0.0, 1.0}, float32), g.constant({1.0, 2.0}, float32));
  EXPECT_EQ(normal.name(), "Normal/");
  EXPECT_EQ(normal.batch_shape(), Shape({2}));
  const Output drawn = normal.sample({3}, {.seed = 1});
  EXPECT_EQ(drawn.shape(), Shape({3, 2}));
  EXPECT_TRUE(drawn.op().name().starts_with("Normal/sample/")) << drawn.op().name();
  EXPECT_NEAR(values(normal.log_prob(0.5))[0], -1.0439385, 1e-6);
  EXPECT_NEAR(values(normal.quantile(0.975))[0], 1.959964, 1e-5);
  EXPECT_NEAR(values(normal.log_cdf(-40.0))[0], -804.6084, 1e-2) << "far out in the tail";
  EXPECT_NEAR(values(normal.entropy())[0], 1.4189385, 1e-6);
  const Output kl = kl_divergence(normal, Normal(0, 1, {.graph = &g}));
  EXPECT_NEAR(values(kl)[1], 0.5 * (4 + 1 - 1) - std::log(2.0), 1e-5);
}

TEST(Normal, GradientsOfSamplesGoToItsParameters) {
  Graph g;
  const Output scale = g.constant(2.0, float64);
  const Output drawn = Normal(g.constant(1.0, float64), scale).sample({}, {.seed = 3});
  const double slope = value(gradients({drawn}, {scale})[0].dense());
  EXPECT_NEAR(slope, (value(drawn) - 1) / 2, 1e-12);
}

TEST(Distribution, SaysWhatItNeedsAtTheUsersLine) {
  Graph g;
  expect_error([&] { Normal(0, 1); }, Code::InvalidArgument, ".graph");
  expect_error([&] { Normal(0, 1, {.graph = &g}).covariance(); }, Code::Unimplemented, "covariance");
  expect_error([&] { Bernoulli({.logits = g.constant(0.0, float32), .probs = 0.5}); }, Code::InvalidArgument,
               "logits, but not both");
  expect_error([&] { kl_divergence(Normal(0, 1, {.graph = &g}), Uniform(0, 1, {.graph = &g})); }, Code::Unimplemented,
               "KL");
  const Normal normal(g.constant({0.0, 1.0}, float32), 1);
  expect_error([&] { normal.log_prob({1, 2, 3}); }, Code::InvalidArgument, "distributions_test.cc");
}

TEST(Distribution, ChecksParametersInTheRun) {
  Graph g;
  const Output scale = g.placeholder(float32, {}, "scale");
  const Output x = Normal(0.0, scale, {.validate_args = true}).log_prob(1.0);
  Session session(g);
  EXPECT_NEAR(session.run(x, {{scale, 1.f}}).scalar<float>(), -1.4189385f, 1e-6);
  expect_error([&] { session.run(x, {{scale, -1.f}}); }, Code::InvalidArgument, "scale must be positive");
}

TEST(Gamma, HasNoModeWhereTheConcentrationIsSmall) {
  Graph g;
  EXPECT_TRUE(std::isnan(value(Gamma(g.constant(0.5, float32), 1).mode())));
  const Gamma strict(g.constant(0.5, float32), 1, {.allow_nan_stats = false});
  expect_error([&] { value(strict.mode()); }, Code::InvalidArgument, "mode not defined");
}

TEST(Categorical, DrawsItsClasses) {
  Graph g;
  const Categorical c({.probs = g.constant({{0.1, 0.2, 0.7}, {1.0, 0.0, 0.0}}, float32)});
  EXPECT_EQ(c.batch_shape(), Shape({2}));
  const Tensor drawn = Session(g).run(c.sample({5000}, {.seed = 1}));
  EXPECT_EQ(drawn.shape(), Shape({5000, 2}));
  int last = 0, other = 0;
  for (int i = 0; i < 5000; ++i) {
    last += drawn.data<int32_t>()[static_cast<size_t>(2 * i)] == 2 ? 1 : 0;
    other += drawn.data<int32_t>()[static_cast<size_t>(2 * i + 1)] != 0 ? 1 : 0;
  }
  EXPECT_NEAR(last, 3500, 150);
  EXPECT_EQ(other, 0);
  EXPECT_NEAR(values(c.prob({2, 0}))[0], 0.7, 1e-6);
  EXPECT_NEAR(values(c.cdf({2, 2}))[0], 0.3, 1e-6) << "of the classes before it";
  EXPECT_EQ(values(c.mode()), (std::vector<double>{2, 0}));
  EXPECT_NEAR(values(c.entropy())[0], -(0.1 * std::log(0.1) + 0.2 * std::log(0.2) + 0.7 * std::log(0.7)), 1e-6);
  EXPECT_NEAR(values(c.entropy())[1], 0, 1e-6);
}

TEST(OneHotCategorical, IsARowOfZerosAndAOne) {
  Graph g;
  const OneHotCategorical c({.logits = g.constant({0.0, 1.0, 2.0}, float32)});
  EXPECT_EQ(c.event_shape(), Shape({3}));
  const std::vector<double> row = values(c.sample({}, {.seed = 5}));
  EXPECT_EQ(row[0] + row[1] + row[2], 1);
  EXPECT_NEAR(value(c.log_prob({0, 0, 1})), 2 - std::log(1 + std::exp(1.0) + std::exp(2.0)), 1e-5);
  EXPECT_EQ(values(c.mode()), (std::vector<double>{0, 0, 1}));
}

TEST(Multinomial, CountsAddUp) {
  Graph g;
  const Multinomial m(g.constant({4.0, 6.0}, float32), {.probs = g.constant({0.2, 0.3, 0.5}, float32)});
  EXPECT_EQ(m.batch_shape(), Shape({2}));
  const std::vector<double> sums = values(reduce_sum(m.sample({7}, {.seed = 1}), -1));
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], i % 2 ? 6 : 4);
  EXPECT_NEAR(values(m.prob({{1, 1, 2}, {1, 2, 3}}))[0], 12 * 0.2 * 0.3 * 0.25, 1e-6);
  EXPECT_NEAR(values(m.covariance())[1], -4 * 0.2 * 0.3, 1e-6);
}

TEST(Dirichlet, SamplesSumToOne) {
  Graph g;
  const Dirichlet d(g.constant({1.0, 2.0, 3.0}, float64));
  for (double sum : values(reduce_sum(d.sample({5}, {.seed = 1}), -1))) EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(value(d.prob({0.2, 0.3, 0.5})), 60 * 0.3 * 0.25, 1e-9);
  EXPECT_NEAR(values(d.mean())[2], 0.5, 1e-12);
  EXPECT_NEAR(value(kl_divergence(d, d)), 0, 1e-12);
}

TEST(MultivariateNormal, IsTheSameWithAnyScale) {
  Graph g;
  const Output loc = g.constant({1.0, 2.0}, float64);
  const MultivariateNormalDiag diag(loc, {2.0, 3.0});
  const MultivariateNormalTriL tril(loc, {{2.0, 0.0}, {0.0, 3.0}});
  const MultivariateNormalFullCovariance full(loc, {{4.0, 0.0}, {0.0, 9.0}});
  const double expected = -0.5 * (0.25 + 4.0 / 9) - std::log(2 * M_PI) - std::log(6.0);
  for (const MultivariateNormal* d : std::initializer_list<const MultivariateNormal*>{&diag, &tril, &full}) {
    EXPECT_EQ(d->event_shape(), Shape({2}));
    EXPECT_NEAR(value(d->log_prob({2.0, 4.0})), expected, 1e-9) << d->name();
    EXPECT_NEAR(value(kl_divergence(*d, diag)), 0, 1e-9);
    EXPECT_NEAR(values(d->covariance())[3], 9, 1e-9);
    EXPECT_NEAR(value(d->entropy()), 1 + std::log(2 * M_PI) + std::log(6.0), 1e-9);
    const std::vector<double> samples = values(d->sample({4}, {.seed = 2}));
    EXPECT_EQ(samples, values(diag.sample({4}, {.seed = 2}))) << d->name();
  }
  EXPECT_EQ(values(MultivariateNormalDiag(loc, 3.0).stddev()), (std::vector<double>{3, 3}));
}

TEST(Independent, AddsWhatItsDimensionsHave) {
  Graph g;
  const Normal normal(g.constant({{0.0, 1.0}, {2.0, 3.0}}, float64), 1);
  const Independent d(normal);
  EXPECT_EQ(d.batch_shape(), Shape({2}));
  EXPECT_EQ(d.event_shape(), Shape({2}));
  EXPECT_NEAR(values(d.log_prob({{0.0, 1.0}, {2.0, 3.0}}))[0], -std::log(2 * M_PI), 1e-9);
  EXPECT_NEAR(values(kl_divergence(d, d))[1], 0, 1e-12);
}

TEST(Mixture, WeighsItsComponents) {
  Graph g;
  const Categorical cat({.probs = g.constant({0.25, 0.75}, float64)});
  const Output loc = g.constant({-1.0, 2.0}, float64);
  const Mixture list(cat, {Normal(g.constant(-1.0, float64), 1), Normal(g.constant(2.0, float64), 1)});
  const MixtureSameFamily family(cat, Normal(loc, 1));
  for (const Distribution* d : std::initializer_list<const Distribution*>{&list, &family}) {
    const double density = (0.25 * std::exp(-0.5) + 0.75 * std::exp(-2.0)) / std::sqrt(2 * M_PI);
    EXPECT_NEAR(value(d->prob(0.0)), density, 1e-9) << d->name();
    EXPECT_NEAR(value(d->mean()), 1.25, 1e-9);
    EXPECT_NEAR(value(d->variance()), 1 + 0.25 * 0.75 * 9, 1e-9);
    EXPECT_NEAR(mean_of(values(d->sample({20000}, {.seed = 1}))), 1.25, 0.06);
    EXPECT_NEAR(value(d->cdf(100.0)), 1, 1e-9);
  }
  expect_error([&] { Mixture(cat, {Normal(loc, 1)}); }, Code::InvalidArgument, "2 vs. 1");
}

TEST(TransformedDistribution, KnowsTheProbabilityOfWhatItDrew) {
  Graph g;
  const Output loc = g.constant(0.5, float64);
  const TransformedDistribution log_normal(Normal(loc, 2), bijectors::Exp());
  EXPECT_EQ(log_normal.name(), "expNormal/");
  const double x = 1.5, z = (std::log(x) - 0.5) / 2;
  EXPECT_NEAR(value(log_normal.log_prob(x)), -0.5 * z * z - std::log(2 * std::sqrt(2 * M_PI)) - std::log(x), 1e-9);
  EXPECT_NEAR(value(log_normal.cdf(x)), 0.5 * std::erfc(-z / std::sqrt(2.0)), 1e-9);
  const TransformedDistribution soft(Normal(loc, 2), bijectors::Softplus());
  soft.log_prob(soft.sample({3}, {.seed = 1}));
  for (const Operation& op : g.operations()) EXPECT_NE(op.type(), "Expm1") << "the inverse of a sample is known";
  const TransformedDistribution shifted(Normal(loc, 2), bijectors::AffineScalar({.shift = 1.0, .scale = -3.0}));
  EXPECT_NEAR(value(shifted.mean()), -0.5, 1e-9);
  EXPECT_NEAR(value(shifted.entropy()), 0.5 * std::log(2 * M_PI * M_E) + std::log(6.0), 1e-9);
}

TEST(Bijectors, GoBackAndHaveTheirDeterminant) {
  using namespace bijectors;
  const std::vector<AnyBijector> all = {Identity(),
                                        Exp(),
                                        PowerTransform(0.5),
                                        bijectors::Sigmoid(),
                                        bijectors::Tanh(),
                                        bijectors::Softplus(),
                                        bijectors::Softplus(In(2.0)),
                                        bijectors::Softsign(),
                                        bijectors::Square(),
                                        Gumbel(0.5, 2.0),
                                        AffineScalar({.shift = 1.0, .scale = 3.0}),
                                        Invert(Exp()),
                                        Chain({Exp(), AffineScalar({.scale = 2.0})})};
  for (const AnyBijector& b : all) {
    Graph g;
    const Output x = g.constant({0.3, 0.7}, float64);
    const Output y = b->forward(x);
    // Through an identity, so that it must be computed.
    const std::vector<double> back = values(b->inverse(identity(y)));
    EXPECT_NEAR(back[0], 0.3, 1e-9) << b->name();
    EXPECT_NEAR(back[1], 0.7, 1e-9) << b->name();
    const std::vector<double> slopes = values(gradients({y}, {x})[0].dense());
    const double expected = std::log(std::abs(slopes[0])) + std::log(std::abs(slopes[1]));
    EXPECT_NEAR(value(b->forward_log_det_jacobian(x, 1)), expected, 1e-9) << b->name();
    EXPECT_NEAR(value(b->inverse_log_det_jacobian(identity(y), 1)), -expected, 1e-9) << b->name();
    expect_error([&] { b->forward_log_det_jacobian(x, -1); }, Code::InvalidArgument, "event_ndims");
  }
}

TEST(Affine, SolvesItsTriangle) {
  using namespace bijectors;
  Graph g;
  const Output x = g.constant({{1.0, 2.0}, {3.0, 4.0}}, float64);
  const Affine b(
      {.shift = Tensor(std::vector<double>{1, 1}), .scale_tril = g.constant({{2.0, 9.0}, {1.0, 3.0}}, float64)});
  const Output y = b.forward(x);
  EXPECT_EQ(values(y), (std::vector<double>{3, 8, 7, 16})) << "what stands above the diagonal does not count";
  const std::vector<double> back = values(b.inverse(identity(y)));
  EXPECT_NEAR(back[3], 4, 1e-12);
  EXPECT_NEAR(value(b.forward_log_det_jacobian(x)), std::log(6.0), 1e-12);
  expect_error([&] { Affine({.scale_diag = 1.0, .scale_tril = 1.0}); }, Code::InvalidArgument, "not both");
}

}  // namespace
}  // namespace weir::distributions
