#include "weir/distributions.h"

#include "base/md5.h"
#include "nn/distributions/helpers.h"

namespace weir::distributions {
namespace {

Error missing(const Distribution& distribution, std::string_view function) {
  return error(Code::Unimplemented, "{} is not implemented: {}", function, distribution.name());
}

Output constant_shape(Graph& graph, const Shape& shape, std::string_view name) {
  return graph.constant(In(shape).value(), name);
}

}  // namespace

Distribution::~Distribution() = default;

void Distribution::set_up(const Setup& setup, const Options& options) {
  graph_ = setup.graph;
  name_ = setup.name;
  dtype_ = setup.dtype;
  reparameterized_ = setup.reparameterized;
  validate_args_ = options.validate_args;
  allow_nan_stats_ = options.allow_nan_stats;
}

template <class Body>
Output Distribution::in_scope(std::string_view name, const In::Where& where, const Body& body) const {
  const LineScope line(*graph_, source_line(where));
  auto outer = graph_->name_scope(name_);
  auto inner = graph_->name_scope(name);
  const Output result = body();
  if (!result) throw missing(*this, name);
  return result;
}

Output Distribution::value(const In& x) const { return nn::as_output(*graph_, x, dtype_, "value"); }

Shape Distribution::batch_shape() const { return do_batch_shape(); }
Shape Distribution::event_shape() const { return do_event_shape(); }

Output Distribution::batch_shape_tensor(Where where) const {
  return in_scope("batch_shape_tensor", where, [&] {
    const Shape shape = do_batch_shape();
    return shape.is_known() ? constant_shape(*graph_, shape, "batch_shape") : do_batch_shape_tensor();
  });
}

Output Distribution::event_shape_tensor(Where where) const {
  return in_scope("event_shape_tensor", where, [&] {
    const Shape shape = do_event_shape();
    return shape.is_known() ? constant_shape(*graph_, shape, "event_shape") : do_event_shape_tensor();
  });
}

Output Distribution::do_event_shape_tensor() const { return constant_shape(*graph_, Shape{}, {}); }

Output Distribution::sample(const In& sample_shape, const SampleOptions& options) const {
  return in_scope("sample", sample_shape.where(), [&]() -> Output {
    const bool empty = !sample_shape.output() && sample_shape.value().elements() == 0;
    Output shape = nn::as_output(*graph_, empty ? In(Shape{}) : sample_shape, int32, "sample_shape");
    if (shape.shape().is_scalar()) shape = reshape(shape, {1});
    Output samples = do_sample_n(reduce_prod(shape), options.seed);
    if (!samples) return samples;
    samples = do_transform(reshape(samples, concat({shape, subscript(weir::shape(samples), {from(1)})}, 0)));
    const Shape known = constant_value_as_shape(shape), batch = batch_shape(), event = event_shape();
    if (known.is_known() && batch.has_rank() && event.has_rank()) {
      samples.set_shape(joined(joined(known, batch), event));
    }
    return samples;
  });
}

Output Distribution::log_prob(const In& x) const {
  return in_scope("log_prob", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_log_prob(v)) return found;
    const Output found = do_prob(v);
    return found ? log(found) : found;
  });
}

Output Distribution::prob(const In& x) const {
  return in_scope("prob", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_prob(v)) return found;
    const Output found = do_log_prob(v);
    return found ? exp(found) : found;
  });
}

Output Distribution::log_cdf(const In& x) const {
  return in_scope("log_cdf", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_log_cdf(v)) return found;
    const Output found = do_cdf(v);
    return found ? log(found) : found;
  });
}

Output Distribution::cdf(const In& x) const {
  return in_scope("cdf", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_cdf(v)) return found;
    const Output found = do_log_cdf(v);
    return found ? exp(found) : found;
  });
}

Output Distribution::survival_function(const In& x) const {
  return in_scope("survival_function", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_survival_function(v)) return found;
    return 1.0 - cdf(v);
  });
}

Output Distribution::log_survival_function(const In& x) const {
  return in_scope("log_survival_function", x.where(), [&] {
    const Output v = value(x);
    if (const Output found = do_log_survival_function(v)) return found;
    return log1p(-cdf(v));
  });
}

Output Distribution::quantile(const In& p) const {
  return in_scope("quantile", p.where(), [&] { return do_quantile(value(p)); });
}
Output Distribution::entropy(Where where) const {
  return in_scope("entropy", where, [&] { return do_entropy(); });
}
Output Distribution::mean(Where where) const {
  return in_scope("mean", where, [&] { return do_mean(); });
}
Output Distribution::mode(Where where) const {
  return in_scope("mode", where, [&] { return do_mode(); });
}
Output Distribution::covariance(Where where) const {
  return in_scope("covariance", where, [&] { return do_covariance(); });
}

Output Distribution::variance(Where where) const {
  return in_scope("variance", where, [&] {
    if (const Output found = do_variance()) return found;
    const Output deviation = do_stddev();
    return deviation ? square(deviation) : deviation;
  });
}

Output Distribution::stddev(Where where) const {
  return in_scope("stddev", where, [&] {
    if (const Output found = do_stddev()) return found;
    const Output found = do_variance();
    return found ? sqrt(found) : found;
  });
}

Output Distribution::cross_entropy(const Distribution& other, Where where) const {
  return in_scope("cross_entropy", where, [&] { return kl_divergence(*this, other, allow_nan_stats_) + entropy(); });
}

Output kl_divergence(const Distribution& a, const Distribution& b, bool allow_nan_stats, In::Where where) {
  Graph& graph = a.graph();
  const LineScope line(graph, source_line(where));
  auto scope = graph.name_scope("KullbackLeibler");
  const Output value = a.do_kl(b);
  if (!value) throw error(Code::Unimplemented, "no KL(a || b) is known for {} and {}", a.name(), b.name());
  if (allow_nan_stats) return value;
  const std::string message = fmt::format(
      "KL calculation between {} and {} returned NaN values (and was called with allow_nan_stats=False). Values:",
      a.name(), b.name());
  auto after = graph.control_dependencies({assert_true(logical_not(reduce_any(is_nan(value))), {message, value})});
  return identity(value, "checked_kl");
}

std::optional<int64_t> derived_seed(std::optional<int64_t> seed, std::string_view salt) {
  if (!seed) return seed;
  const auto digest = md5(std::to_string(*seed) + std::string(salt));
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | digest[static_cast<size_t>(i)];
  return value & 0x7FFFFFFF;
}

// Numbers whose parameters broadcast to the batch.

Shape ScalarDistribution::do_batch_shape() const {
  Shape shape{};
  for (const Output& parameter : parameters_) shape = Shape::broadcast(shape, parameter.shape());
  return shape;
}

Output ScalarDistribution::do_batch_shape_tensor() const {
  Output found = shape(parameters_[0]);
  for (size_t i = 1; i < parameters_.size(); ++i) {
    found = NodeBuilder("BroadcastArgs").input(found).input(shape(parameters_[i])).output();
  }
  return found;
}

Output ScalarDistribution::samples_shape(const Output& n) const {
  return concat({reshape(n, {1}), batch_shape_tensor()}, 0);
}

Output ScalarDistribution::spread(const Output& parameter) const {
  return parameter * ones(graph(), batch_shape_tensor(), parameter.dtype());
}

Output ScalarDistribution::uniform(const Output& n, Seed seed) const {
  return random_uniform(graph(), samples_shape(n),
                        {.minval = smallest(dtype()), .maxval = 1.0, .dtype = dtype(), .seed = seed});
}

Output ScalarDistribution::or_nan(const Output& defined, const Output& value, std::string_view message) const {
  return distributions::or_nan(allow_nan_stats(), defined, value, message);
}

}  // namespace weir::distributions
