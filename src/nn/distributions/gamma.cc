#include <cmath>
#include <limits>
#include <numbers>

#include "nn/distributions/helpers.h"
#include "weir/special_ops.h"

namespace weir::distributions {
namespace {

constexpr std::string_view kConcentration = "Concentration parameter";

Output log_beta_of(const Output& concentration) {
  auto scope = concentration.graph().name_scope("lbeta");
  return reduce_sum(lgamma(concentration), -1) - lgamma(reduce_sum(concentration, -1));
}

}  // namespace

// Gamma, and what is made of it.

Gamma::Gamma(std::string_view name, const In& concentration, const In& rate, const Options& options) {
  Graph& graph = graph_of(options, {&concentration, &rate});
  const LineScope line(graph, source_line(rate.where()));
  auto scope = enter(graph, options, name);
  const std::vector<Output> found = tensors(graph, {{&concentration, "concentration"}, {&rate, "rate"}});
  concentration_ = positive(options.validate_args, found[0], "concentration");
  rate_ = positive(options.validate_args, found[1], "rate");
  set_parameters({concentration_, rate_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = rate_.dtype(), .reparameterized = true}, options);
}

Output Gamma::do_sample_n(const Output& n, Seed seed) const {
  return random_gamma(n, spread(concentration_), spread(rate_), seed);
}
Output Gamma::do_log_prob(const Output& x) const {
  return (concentration_ - 1.0) * log(x) - rate_ * x - (lgamma(concentration_) - concentration_ * log(rate_));
}
Output Gamma::do_cdf(const Output& x) const { return igamma(spread(concentration_) + zeros_like(x), rate_ * x); }
Output Gamma::do_entropy() const {
  return concentration_ - log(rate_) + lgamma(concentration_) + (1.0 - concentration_) * digamma(concentration_);
}
Output Gamma::do_mean() const { return concentration_ / rate_; }
Output Gamma::do_variance() const { return concentration_ / square(rate_); }
Output Gamma::do_stddev() const { return sqrt(concentration_) / rate_; }
Output Gamma::do_mode() const {
  const Output mode = (concentration_ - 1.0) / rate_;
  return or_nan(concentration_ > 1.0, mode, "mode not defined when any concentration <= 1");
}
Output Gamma::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Gamma*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_gamma_gamma");
  return (concentration_ - b->concentration()) * digamma(concentration_) + lgamma(b->concentration()) -
         lgamma(concentration_) + b->concentration() * log(rate_) - b->concentration() * log(b->rate()) +
         concentration_ * (b->rate() / rate_ - 1.0);
}

Output Exponential::do_sample_n(const Output& n, Seed seed) const { return -log(uniform(n, seed)) / rate(); }
Output Exponential::do_log_prob(const Output& x) const { return log(rate()) - rate() * x; }

Chi2::Chi2(const In& df, const Options& options)
    : Gamma("Chi2", 0.5 * tensors(graph_of(options, {&df}), {{&df, "df"}})[0], 0.5, options) {}

// Beta

Beta::Beta(const In& concentration1, const In& concentration0, const Options& options) {
  Graph& graph = graph_of(options, {&concentration1, &concentration0});
  const LineScope line(graph, source_line(concentration1.where()));
  auto scope = enter(graph, options, "Beta");
  const std::vector<Output> found =
      tensors(graph, {{&concentration1, "concentration1"}, {&concentration0, "concentration0"}});
  a_ = positive(options.validate_args, found[0], kConcentration);
  b_ = positive(options.validate_args, found[1], kConcentration);
  total_ = a_ + b_;
  set_parameters({a_, b_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = a_.dtype(), .reparameterized = true}, options);
}

Output Beta::do_sample_n(const Output& n, Seed seed) const {
  const Output one = random_gamma(n, spread(a_), {}, seed);
  const Output other = random_gamma(n, spread(b_), {}, derived_seed(seed, "beta"));
  return one / (one + other);
}
Output Beta::do_log_prob(const Output& x) const { return (a_ - 1.0) * log(x) + (b_ - 1.0) * log1p(-x) - log_beta(); }
Output Beta::log_beta() const { return lgamma(a_) + lgamma(b_) - lgamma(total_); }
Output Beta::do_cdf(const Output& x) const {
  return betainc(spread(a_) + zeros_like(x), spread(b_) + zeros_like(x),
                 x + zeros(graph(), batch_shape_tensor(), dtype()));
}
Output Beta::do_entropy() const {
  return log_beta() - (a_ - 1.0) * digamma(a_) - (b_ - 1.0) * digamma(b_) + (total_ - 2.0) * digamma(total_);
}
Output Beta::do_mean() const { return a_ / total_; }
Output Beta::do_variance() const {
  const Output mean = a_ / total_;
  return mean * (1.0 - mean) / (1.0 + total_);
}
Output Beta::do_mode() const {
  return or_nan(logical_and(a_ > 1.0, b_ > 1.0), (a_ - 1.0) / (total_ - 2.0), "Mode undefined for concentration <= 1.");
}
Output Beta::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Beta*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_beta_beta");
  return b->log_beta() - log_beta() - digamma(a_) * (b->a_ - a_) - digamma(b_) * (b->b_ - b_) +
         digamma(total_) * (b->total_ - total_);
}

// Student's t

StudentT::StudentT(const In& df, const In& loc, const In& scale, const Options& options) {
  Graph& graph = graph_of(options, {&df, &loc, &scale});
  const LineScope line(graph, source_line(df.where()));
  auto scope = enter(graph, options, "StudentT");
  const std::vector<Output> found = tensors(graph, {{&df, "df"}, {&loc, "loc"}, {&scale, "scale"}});
  df_ = positive(options.validate_args, found[0], "df");
  loc_ = found[1];
  scale_ = positive(options.validate_args, found[2], "scale");
  set_parameters({df_, loc_, scale_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = df_.dtype(), .reparameterized = true}, options);
}

Output StudentT::do_sample_n(const Output& n, Seed seed) const {
  const Output normal = standard_normal(samples_shape(n), dtype(), seed);
  const Output df = spread(df_);
  const Output gamma = random_gamma(n, 0.5 * df, number_like(df, 0.5), derived_seed(seed, "student_t"));
  return normal * rsqrt(gamma / df) * scale_ + loc_;
}
Output StudentT::do_log_prob(const Output& x) const {
  const Output y = (x - loc_) / scale_;
  return -0.5 * (df_ + 1.0) * log1p(y * y / df_) -
         (log(abs(scale_)) + 0.5 * log(df_) + 0.5 * std::log(std::numbers::pi) + lgamma(0.5 * df_) -
          lgamma(0.5 * (df_ + 1.0)));
}
Output StudentT::do_cdf(const Output& x) const {
  const Output y = (x - loc_) / abs(scale_);
  const Output df = df_ + zeros_like(y);
  const Output half = 0.5 * betainc(0.5 * df, 0.5 * ones_like(df), df / (y * y + df));
  return where(y < 0.0, half, 1.0 - half);
}
Output StudentT::do_entropy() const {
  const Output half = 0.5 * df_, more = 0.5 * (df_ + 1.0);
  const Output beta = lgamma(half) + std::lgamma(0.5) - lgamma(half + 0.5);
  return log(abs(scale_)) + 0.5 * log(df_) + beta + more * (digamma(more) - digamma(half)) +
         zeros(graph(), batch_shape_tensor(), dtype());
}
Output StudentT::do_mean() const {
  return or_nan(spread(df_) > 1.0, spread(loc_), "mean not defined for components of df <= 1");
}
Output StudentT::do_variance() const {
  const Output df = spread(df_);
  const Output finite = square(spread(scale_)) * df / maximum(df - 2.0, 1e-30);
  const Output value = where(df > 2.0, finite, filled_like(finite, std::numeric_limits<double>::infinity()));
  return or_nan(df > 1.0, value, "variance not defined for components of df <= 1");
}
Output StudentT::do_mode() const { return spread(loc_); }

// Dirichlet

Dirichlet::Dirichlet(const In& concentration, const Options& options) {
  Graph& graph = graph_of(options, {&concentration});
  const LineScope line(graph, source_line(concentration.where()));
  auto scope = enter(graph, options, "Dirichlet");
  concentration_ =
      positive(options.validate_args, tensors(graph, {{&concentration, "concentration"}})[0], kConcentration);
  total_ = reduce_sum(concentration_, -1);
  set_up({.graph = &graph, .name = scope.name(), .dtype = concentration_.dtype(), .reparameterized = true}, options);
}

Output Dirichlet::do_batch_shape_tensor() const { return shape(total_); }
Shape Dirichlet::do_event_shape() const { return last(concentration_.shape()); }
Output Dirichlet::do_event_shape_tensor() const { return last(shape(concentration_)); }
Output Dirichlet::do_sample_n(const Output& n, Seed seed) const {
  const Output drawn = random_gamma(n, concentration_, {}, seed);
  return drawn / reduce_sum(drawn, -1, true);
}
Output Dirichlet::do_log_prob(const Output& value) const {
  const Output x = checked(validate_args(), value, [&] {
    return std::vector<Check>{
        {value > 0, "samples must be positive", value},
        {abs(reduce_sum(value, -1) - 1.0) < 1e-3, "sample last-dimension must sum to `1`", value}};
  });
  return reduce_sum((concentration_ - 1.0) * log(x), -1) - log_beta_of(concentration_);
}
Output Dirichlet::do_entropy() const {
  const Output k = cast(subscript(event_shape_tensor(), {0}), dtype());
  return log_beta_of(concentration_) + (total_ - k) * digamma(total_) -
         reduce_sum((concentration_ - 1.0) * digamma(concentration_), -1);
}
Output Dirichlet::do_mean() const { return concentration_ / column(total_); }
Output Dirichlet::do_variance() const {
  const Output scale = rsqrt(1.0 + column(total_)), mean = do_mean() * scale;
  return scale * mean - square(mean);
}
Output Dirichlet::do_covariance() const {
  const Output x = rsqrt(1.0 + column(total_)) * do_mean();
  return covariance_of(x, x, do_variance());
}
Output Dirichlet::do_mode() const {
  const Output k = cast(subscript(event_shape_tensor(), {0}), dtype());
  const Output mode = (concentration_ - 1.0) / (column(total_) - k);
  const Output defined = reduce_all(concentration_ > 1.0, -1, true);
  return or_nan(allow_nan_stats(), defined, mode, "Mode undefined when any concentration <= 1");
}
Output Dirichlet::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Dirichlet*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_dirichlet_dirichlet");
  const Output difference = digamma(concentration_) - column(digamma(total_));
  return reduce_sum((concentration_ - b->concentration()) * difference, -1) - log_beta_of(concentration_) +
         log_beta_of(b->concentration());
}

}  // namespace weir::distributions
