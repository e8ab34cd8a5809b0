#include <algorithm>

#include "nn/distributions/helpers.h"
#include "weir/bijectors.h"

namespace weir::bijectors {

// By tensor: what it becomes, what it came from, and the forward determinant by the dimensions of an event.
struct Bijector::Known {
  using Key = std::pair<const Node*, int>;
  static Key key(const Output& x) { return {x.node(), x.index()}; }
  std::map<Key, Output> y_of, x_of;
  std::map<std::pair<Key, int>, Output> log_det_of;
};

Bijector::Bijector(Setup setup) : setup_(std::move(setup)), known_(std::make_shared<Known>()) {}
Bijector::~Bijector() = default;

Output Bijector::remembered_forward(const Output& x) const {
  const auto known = known_->y_of.find(Known::key(x));
  if (known != known_->y_of.end()) return known->second;
  const Output y = do_forward(x);
  known_->y_of.emplace(Known::key(x), y);
  known_->x_of.emplace(Known::key(y), x);
  return y;
}

Output Bijector::remembered_inverse(const Output& y) const {
  const auto known = known_->x_of.find(Known::key(y));
  if (known != known_->x_of.end()) return known->second;
  const Output x = do_inverse(y);
  known_->x_of.emplace(Known::key(y), x);
  known_->y_of.emplace(Known::key(x), y);
  return x;
}

namespace {

// Enters the scope of a function of a bijector.
template <class Body>
Output in_scope(const Bijector& bijector, std::string_view name, const In& value, const Body& body) {
  if (!value.output()) throw invalid_argument("{}.{} needs a tensor of a graph", bijector.name(), name);
  Graph& graph = value.output().graph();
  const LineScope line(graph, source_line(value.where()));
  auto outer = graph.name_scope(bijector.name());
  auto inner = graph.name_scope(name);
  return body(value.output());
}

}  // namespace

Output Bijector::forward(const In& x) const {
  return in_scope(*this, "forward", x, [&](const Output& v) { return remembered_forward(v); });
}
Output Bijector::inverse(const In& y) const {
  return in_scope(*this, "inverse", y, [&](const Output& v) { return remembered_inverse(v); });
}
Output Bijector::forward_log_det_jacobian(const In& x, std::optional<int> event_ndims) const {
  return in_scope(*this, "forward_log_det_jacobian", x,
                  [&](const Output& v) { return log_det(v, {}, true, event_ndims); });
}
Output Bijector::inverse_log_det_jacobian(const In& y, std::optional<int> event_ndims) const {
  return in_scope(*this, "inverse_log_det_jacobian", y,
                  [&](const Output& v) { return -log_det({}, v, false, event_ndims); });
}

// The forward determinant's logarithm, of x, or of y where the inverse is asked for.
Output Bijector::log_det(const Output& x, const Output& y, bool of_forward, std::optional<int> event_ndims) const {
  const int ndims = event_ndims.value_or(setup_.min_event_ndims);
  if (ndims < setup_.min_event_ndims) {
    throw invalid_argument("event_ndims ({}) must be larger than min_event_ndims ({})", ndims, setup_.min_event_ndims);
  }
  const Output& given = of_forward ? x : y;
  // Noted under x, so that both directions find it.
  const auto from = known_->x_of.find(Known::key(given));
  const std::pair key(of_forward || from == known_->x_of.end() ? Known::key(given) : Known::key(from->second), ndims);
  if (auto found = known_->log_det_of.find(key); found != known_->log_det_of.end()) return found->second;
  Output result;
  if (of_forward) {
    if (const Output direct = do_forward_log_det_jacobian(x)) {
      result = over_event(direct, x, ndims);
    } else {
      const Output value = remembered_forward(x);
      if (const Output inverse = do_inverse_log_det_jacobian(value)) result = -over_event(inverse, value, ndims);
    }
  } else {
    if (const Output direct = do_inverse_log_det_jacobian(y)) {
      result = -over_event(direct, y, ndims);
    } else {
      const Output value = remembered_inverse(y);
      if (const Output forward = do_forward_log_det_jacobian(value)) result = over_event(forward, value, ndims);
    }
  }
  if (!result) throw error(Code::Unimplemented, "the bijector {} has no Jacobian determinant", name());
  known_->log_det_of.emplace(key, result);
  return result;
}

// Adds what the further dimensions of an event have; a number that is the same everywhere counts for each.
Output Bijector::over_event(const Output& log_det, const Output& tensor, int event_ndims) const {
  const int extra = event_ndims - setup_.min_event_ndims;
  if (extra == 0) return log_det;
  Output each = log_det;
  if (setup_.is_constant_jacobian) {
    const Output rank = weir::rank(tensor);
    const Output sizes = subscript(shape(tensor), {between(rank - event_ndims, rank - setup_.min_event_ndims)});
    each = log_det * ones(tensor.graph(), sizes, log_det.dtype());
  }
  std::vector<int> axes;
  for (int i = -extra; i < 0; ++i) axes.push_back(i);
  return reduce_sum(each, ReduceOptions{.axes = axes});
}

Invert::Invert(AnyBijector bijector)
    : Bijector({.name = "invert_" + bijector->name(),
                .min_event_ndims = bijector->forward_min_event_ndims(),
                .is_constant_jacobian = bijector->is_constant_jacobian()}),
      bijector_(std::move(bijector)) {}

namespace {

std::string chain_name(const std::vector<AnyBijector>& bijectors) {
  if (bijectors.empty()) return "identity";
  std::string name = "chain";
  for (const AnyBijector& each : bijectors) name += "_of_" + each->name();
  return name;
}

int most_event_ndims(const std::vector<AnyBijector>& bijectors) {
  int most = 0;
  for (const AnyBijector& each : bijectors) most = std::max(most, each->forward_min_event_ndims());
  return most;
}

}  // namespace

Chain::Chain(std::vector<AnyBijector> bijectors)
    : Bijector({.name = chain_name(bijectors),
                .min_event_ndims = most_event_ndims(bijectors),
                .is_constant_jacobian = std::ranges::all_of(
                    bijectors, [](const AnyBijector& each) { return each->is_constant_jacobian(); })}),
      bijectors_(std::move(bijectors)) {}

Output Chain::do_forward(const Output& x) const {
  Output value = x;
  for (auto each = bijectors_.rbegin(); each != bijectors_.rend(); ++each) value = (*each)->forward(value);
  return value;
}

Output Chain::do_inverse(const Output& y) const {
  Output value = y;
  for (const AnyBijector& each : bijectors_) value = each->inverse(value);
  return value;
}

Output Chain::do_forward_log_det_jacobian(const Output& x) const {
  Output value = x, total = distributions::number_like(x, 0);
  for (auto each = bijectors_.rbegin(); each != bijectors_.rend(); ++each) {
    total = total + (*each)->forward_log_det_jacobian(value, forward_min_event_ndims());
    value = (*each)->forward(value);
  }
  return total;
}

}  // namespace weir::bijectors

namespace weir::distributions {

TransformedDistribution::TransformedDistribution(AnyDistribution distribution, bijectors::AnyBijector bijector,
                                                 const Options& options)
    : distribution_(std::move(distribution)), bijector_(std::move(bijector)) {
  const Shape event = distribution_->event_shape();
  if (!event.has_rank()) throw invalid_argument("the rank of {}'s events is not known", distribution_->name());
  if (event.rank() < bijector_->forward_min_event_ndims()) {
    throw invalid_argument("the bijector {} takes events of {} dimensions at least, and {} has {}", bijector_->name(),
                           bijector_->forward_min_event_ndims(), distribution_->name(), event.rank());
  }
  Graph& graph = distribution_->graph();
  const std::string& base = distribution_->name();
  std::string usual = bijector_->name() + base.substr(base.rfind('/', base.size() - 2) + 1);
  usual.pop_back();
  auto scope = enter(graph, options, usual);
  set_up({.graph = &graph,
          .name = scope.name(),
          .dtype = distribution_->dtype(),
          .reparameterized = distribution_->reparameterized()},
         {.validate_args = options.validate_args, .allow_nan_stats = distribution_->allow_nan_stats()});
}

// In its final shape, so that the bijector knows x again when it is asked for the sample's probability.
Output TransformedDistribution::do_transform(const Output& x) const { return bijector_->forward(x); }
Output TransformedDistribution::do_sample_n(const Output& n, Seed seed) const {
  return distribution_->sample(n, {.seed = seed});
}
Output TransformedDistribution::do_log_prob(const Output& y) const {
  const Output x = bijector_->inverse(y);
  return distribution_->log_prob(x) + bijector_->inverse_log_det_jacobian(y, event_shape().rank());
}
Output TransformedDistribution::do_log_cdf(const Output& y) const {
  return distribution_->log_cdf(bijector_->inverse(y));
}
Output TransformedDistribution::do_cdf(const Output& y) const { return distribution_->cdf(bijector_->inverse(y)); }
Output TransformedDistribution::do_survival_function(const Output& y) const {
  return distribution_->survival_function(bijector_->inverse(y));
}
Output TransformedDistribution::do_log_survival_function(const Output& y) const {
  return distribution_->log_survival_function(bijector_->inverse(y));
}
Output TransformedDistribution::do_quantile(const Output& p) const {
  return bijector_->forward(distribution_->quantile(p));
}
Output TransformedDistribution::do_mean() const {
  if (!bijector_->is_constant_jacobian()) return {};
  return bijector_->forward(distribution_->mean());
}
Output TransformedDistribution::do_entropy() const {
  if (!bijector_->is_constant_jacobian()) return {};
  const Output zeros = weir::zeros(graph(), concat({batch_shape_tensor(), event_shape_tensor()}, 0), dtype());
  return distribution_->entropy() - bijector_->inverse_log_det_jacobian(zeros, event_shape().rank());
}

}  // namespace weir::distributions
