#include <cmath>
#include <limits>
#include <numbers>

#include "nn/distributions/helpers.h"

namespace weir::distributions {
namespace {

using std::numbers::e;
using std::numbers::ln2;
using std::numbers::pi;
using std::numbers::sqrt2;

}  // namespace

LocScale::LocScale(std::string_view name, const In& loc, const In& scale, const Options& options) {
  Graph& graph = graph_of(options, {&loc, &scale});
  const LineScope line(graph, source_line(loc.where()));
  auto scope = enter(graph, options, name);
  const std::vector<Output> found = tensors(graph, {{&loc, "loc"}, {&scale, "scale"}});
  loc_ = found[0];
  scale_ = positive(options.validate_args, found[1], "scale");
  set_parameters({loc_, scale_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = loc_.dtype(), .reparameterized = true}, options);
}

Output LocScale::z(const Output& x) const { return (x - loc_) / scale_; }

Output Normal::do_sample_n(const Output& n, Seed seed) const {
  return standard_normal(samples_shape(n), dtype(), seed) * scale() + loc();
}
Output Normal::do_log_prob(const Output& x) const {
  return -0.5 * square(z(x)) - (0.5 * std::log(2.0 * pi) + log(scale()));
}
Output Normal::do_cdf(const Output& x) const { return 0.5 * erfc(-z(x) / sqrt2); }
Output Normal::do_survival_function(const Output& x) const { return 0.5 * erfc(z(x) / sqrt2); }
Output Normal::do_log_cdf(const Output& x) const { return log_ndtr(z(x)); }
Output Normal::do_log_survival_function(const Output& x) const { return log_ndtr(-z(x)); }
Output Normal::do_quantile(const Output& p) const { return ndtri(p) * scale() + loc(); }
Output Normal::do_entropy() const { return 0.5 * std::log(2.0 * pi * e) + log(spread(scale())); }
Output Normal::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Normal*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_normal_normal");
  const Output ratio = square(scale()) / square(b->scale());
  return square(loc() - b->loc()) / (2.0 * square(b->scale())) + 0.5 * (ratio - 1.0 - log(ratio));
}

Output Laplace::do_sample_n(const Output& n, Seed seed) const {
  // Of the open interval (-1, 1).
  const double low = dtype() == float64 ? std::nextafter(-1.0, 0.0) : double{std::nextafter(-1.0f, 0.0f)};
  const Output drawn =
      random_uniform(graph(), samples_shape(n), {.minval = low, .maxval = 1.0, .dtype = dtype(), .seed = seed});
  return loc() - scale() * sign(drawn) * log1p(-abs(drawn));
}
Output Laplace::do_log_prob(const Output& x) const { return -abs(z(x)) - (ln2 + log(scale())); }
Output Laplace::do_cdf(const Output& x) const {
  const Output y = z(x);
  return 0.5 + 0.5 * sign(y) * (1.0 - exp(-abs(y)));
}
Output Laplace::do_entropy() const { return ln2 + 1.0 + log(spread(scale())); }
Output Laplace::do_stddev() const { return sqrt2 * spread(scale()); }
Output Laplace::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Laplace*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_laplace_laplace");
  const Output distance = abs(loc() - b->loc()), ratio = scale() / b->scale();
  return -log(ratio) - 1.0 + distance / b->scale() + ratio * exp(-distance / scale());
}

Output Logistic::do_sample_n(const Output& n, Seed seed) const {
  const Output drawn = uniform(n, seed);
  return (log(drawn) - log1p(-drawn)) * scale() + loc();
}
Output Logistic::do_log_prob(const Output& x) const {
  const Output y = z(x);
  return -y - 2.0 * nn::softplus(-y) - log(scale());
}
Output Logistic::do_cdf(const Output& x) const { return sigmoid(z(x)); }
Output Logistic::do_log_cdf(const Output& x) const { return -nn::softplus(-z(x)); }
Output Logistic::do_survival_function(const Output& x) const { return sigmoid(-z(x)); }
Output Logistic::do_log_survival_function(const Output& x) const { return -nn::softplus(z(x)); }
Output Logistic::do_entropy() const { return 2.0 + log(spread(scale())); }
Output Logistic::do_stddev() const { return spread(scale()) * pi / std::numbers::sqrt3; }

Output Cauchy::do_sample_n(const Output& n, Seed seed) const {
  return do_quantile(
      random_uniform(graph(), samples_shape(n), {.minval = 0.0, .maxval = 1.0, .dtype = dtype(), .seed = seed}));
}
Output Cauchy::do_log_prob(const Output& x) const { return -log1p(square(z(x))) - (std::log(pi) + log(scale())); }
Output Cauchy::do_cdf(const Output& x) const { return atan(z(x)) / pi + 0.5; }
Output Cauchy::do_quantile(const Output& p) const { return loc() + scale() * tan(pi * (p - 0.5)); }
Output Cauchy::do_entropy() const { return std::log(4 * pi) + log(spread(scale())); }
Output Cauchy::do_mean() const {
  if (!allow_nan_stats()) throw invalid_argument("`mean` is undefined for Cauchy distribution.");
  return fill(batch_shape_tensor(), number_like(loc(), std::numeric_limits<double>::quiet_NaN()));
}

Uniform::Uniform(const In& low, const In& high, const Options& options) {
  Graph& graph = graph_of(options, {&low, &high});
  const LineScope line(graph, source_line(low.where()));
  auto scope = enter(graph, options, "Uniform");
  const std::vector<Output> found = tensors(graph, {{&low, "low"}, {&high, "high"}});
  high_ = found[1];
  low_ = checked(options.validate_args, found[0], [&] {
    return std::vector<Check>{{found[0] < high_, "uniform not defined when low >= high.", high_}};
  });
  set_parameters({low_, high_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = low_.dtype(), .reparameterized = true}, options);
}

Output Uniform::do_sample_n(const Output& n, Seed seed) const {
  const Output drawn = random_uniform(graph(), samples_shape(n), {.maxval = 1.0, .dtype = dtype(), .seed = seed});
  return low_ + (high_ - low_) * drawn;
}
Output Uniform::do_prob(const Output& x) const {
  const Output width = high_ - low_;
  const Output inside = logical_and(x >= low_ + zeros_like(x), x < high_ + zeros_like(x));
  const Output value = where(inside, ones_like(x) / width, zeros_like(x) + zeros_like(width));
  return where(is_nan(x + zeros_like(width)), x + zeros_like(width), value);
}
Output Uniform::do_cdf(const Output& x) const { return clip_by_value((x - low_) / (high_ - low_), 0.0, 1.0); }
Output Uniform::do_entropy() const { return log(high_ - low_); }
Output Uniform::do_mean() const { return (low_ + high_) / 2.0; }
Output Uniform::do_variance() const { return square(high_ - low_) / 12.0; }
Output Uniform::do_stddev() const { return (high_ - low_) / std::sqrt(12.0); }
Output Uniform::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Uniform*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_uniform_uniform");
  const Output inside = logical_and(b->low() <= low_, high_ <= b->high());
  const Output value = log(b->high() - b->low()) - log(high_ - low_);
  return where(inside, value, filled_like(value, std::numeric_limits<double>::infinity()));
}

}  // namespace weir::distributions
