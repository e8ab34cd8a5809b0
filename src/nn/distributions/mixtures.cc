#include <numeric>

#include "nn/distributions/helpers.h"
#include "weir/linalg_ops.h"

namespace weir::distributions {
namespace {

Output ones_of(Graph& graph, int count) {
  return graph.constant(Tensor(std::vector<int32_t>(static_cast<size_t>(count), 1)));
}

// A value with so many dimensions of size 1 at its end.
Output padded_with(const Output& x, int count) {
  if (count == 0) return x;
  return reshape(x, concat({shape(x), ones_of(x.graph(), count)}, 0));
}

void require_type(DType expected, const Distribution& found) {
  if (found.dtype() != expected) {
    throw wrong_type("All components must have the same dtype: {} is {}, not {}", found.name(),
                     dtype_name(found.dtype()), dtype_name(expected));
  }
}

}  // namespace

// Independent

Independent::Independent(AnyDistribution distribution, int reinterpreted_batch_ndims, const Options& options)
    : distribution_(std::move(distribution)), ndims_(reinterpreted_batch_ndims) {
  const Shape batch = distribution_->batch_shape();
  if (ndims_ < 0 && !batch.has_rank()) {
    throw invalid_argument("the rank of the batch is not known: say reinterpreted_batch_ndims");
  }
  if (ndims_ < 0) ndims_ = std::max(0, batch.rank() - 1);
  if (batch.has_rank() && ndims_ > batch.rank()) {
    throw invalid_argument("reinterpreted_batch_ndims ({}) cannot exceed distribution.batch_ndims ({})", ndims_,
                           batch.rank());
  }
  Graph& graph = distribution_->graph();
  const std::string& base = distribution_->name();
  const std::string usual = "Independent" + base.substr(base.rfind('/', base.size() - 2) + 1);
  auto scope = enter(graph, options, std::string_view(usual).substr(0, usual.size() - 1));
  set_up({.graph = &graph,
          .name = scope.name(),
          .dtype = distribution_->dtype(),
          .reparameterized = distribution_->reparameterized()},
         {.validate_args = options.validate_args, .allow_nan_stats = distribution_->allow_nan_stats()});
}

Shape Independent::do_batch_shape() const {
  const Shape shape = distribution_->batch_shape();
  if (!shape.has_rank()) return shape;
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - ndims_)));
}
Output Independent::do_batch_shape_tensor() const {
  const Output shape = distribution_->batch_shape_tensor();
  return subscript(shape, {until(size(shape) - ndims_)});
}
Shape Independent::do_event_shape() const {
  const Shape shape = distribution_->batch_shape();
  if (!shape.has_rank()) return shape;
  return joined(Shape(shape.dims().last(static_cast<size_t>(ndims_))), distribution_->event_shape());
}
Output Independent::do_event_shape_tensor() const {
  const Output shape = distribution_->batch_shape_tensor();
  return concat({subscript(shape, {from(size(shape) - ndims_)}), distribution_->event_shape_tensor()}, 0);
}
Output Independent::summed(const Output& value) const {
  if (ndims_ == 0) return value;
  std::vector<int> axes(static_cast<size_t>(ndims_));
  std::iota(axes.rbegin(), axes.rend(), -ndims_);
  return reduce_sum(value, ReduceOptions{.axes = axes});
}
Output Independent::do_sample_n(const Output& n, Seed seed) const { return distribution_->sample(n, {.seed = seed}); }
Output Independent::do_log_prob(const Output& x) const { return summed(distribution_->log_prob(x)); }
Output Independent::do_entropy() const { return summed(distribution_->entropy()); }
Output Independent::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Independent*>(&other);
  if (!b || b->ndims_ != ndims_) return {};
  return summed(kl_divergence(*distribution_, *b->distribution_));
}

// Mixture

Mixture::Mixture(Categorical cat, std::vector<AnyDistribution> components, const Options& options)
    : cat_(std::move(cat)), components_(std::move(components)) {
  if (components_.empty()) throw invalid_argument("components must be a non-empty list");
  const Shape classes = last(cat_.logits().shape());
  if (!classes.is_known()) {
    throw invalid_argument(
        "Could not infer number of classes from cat and unable to compare this value to the number of components "
        "passed in.");
  }
  if (classes[0] != static_cast<int64_t>(components_.size())) {
    throw invalid_argument("cat.num_classes != len(components): {} vs. {}", classes[0], components_.size());
  }
  Shape batch = cat_.batch_shape(), event = components_[0]->event_shape();
  for (const AnyDistribution& component : components_) {
    require_type(components_[0]->dtype(), *component);
    batch = batch.merged(component->batch_shape());
    event = event.merged(component->event_shape());
  }
  if (!event.has_rank()) throw invalid_argument("the rank of the components' events must be known");
  auto scope = enter(cat_.graph(), options, "Mixture");
  set_up({.graph = &cat_.graph(), .name = scope.name(), .dtype = components_[0]->dtype(), .reparameterized = false},
         options);
}

Shape Mixture::do_batch_shape() const {
  Shape shape = components_[0]->batch_shape();
  for (const AnyDistribution& component : components_) shape = Shape::broadcast(shape, component->batch_shape());
  return shape;
}
Output Mixture::do_batch_shape_tensor() const { return components_[0]->batch_shape_tensor(); }
Shape Mixture::do_event_shape() const { return components_[0]->event_shape(); }
Output Mixture::do_event_shape_tensor() const { return components_[0]->event_shape_tensor(); }

// The components' probabilities, one beside another in a first dimension.
Output Mixture::probs() const {
  const Output batch = concat({batch_shape_tensor(), ones_of(graph(), 1)}, 0);
  const Output probs = cat_.probs() + zeros(graph(), batch, cat_.probs().dtype());
  const int rank = batch_shape().rank();
  std::vector<int32_t> order(static_cast<size_t>(rank) + 1);
  std::iota(order.begin() + 1, order.end(), 0);
  order[0] = rank;
  return padded_with(transpose(probs, order), event_shape().rank());
}

Output Mixture::do_sample_n(const Output& n, Seed seed) const {
  std::vector<Output> drawn;
  for (size_t i = 0; i < components_.size(); ++i) {
    drawn.push_back(components_[i]->sample(n, {.seed = derived_seed(seed, fmt::format("mixture{}", i))}));
  }
  const Output all = stack(drawn, -1);
  const Output chosen =
      cat_.sample(n, {.seed = seed}) + zeros(graph(), concat({reshape(n, {1}), batch_shape_tensor()}, 0), cat_.dtype());
  const Output mask =
      one_hot(padded_with(chosen, event_shape().rank()), static_cast<int64_t>(components_.size()), {.dtype = dtype()});
  return reduce_sum(all * mask, -1);
}

Output Mixture::do_log_prob(const Output& x) const {
  const std::vector<Output> weights =
      unstack(nn::log_softmax(cat_.logits()), static_cast<int64_t>(components_.size()), -1);
  std::vector<Output> all;
  for (size_t i = 0; i < components_.size(); ++i) all.push_back(components_[i]->log_prob(x) + weights[i]);
  return reduce_logsumexp(stack(all), {.axes = {0}});
}

Output Mixture::do_cdf(const Output& x) const {
  const std::vector<Output> probs = unstack(cat_.probs(), static_cast<int64_t>(components_.size()), -1);
  std::vector<Output> all;
  for (size_t i = 0; i < components_.size(); ++i) all.push_back(components_[i]->cdf(x) * probs[i]);
  return add_n(all);
}

Output Mixture::do_mean() const {
  std::vector<Output> means;
  for (const AnyDistribution& component : components_) means.push_back(component->mean());
  return reduce_sum(probs() * stack(means), 0);
}

Output Mixture::do_variance() const {
  std::vector<Output> each, variances;
  for (const AnyDistribution& component : components_) {
    each.push_back(component->mean());
    variances.push_back(component->variance());
  }
  const Output weights = probs(), means = stack(each);
  const Output mean = reduce_sum(weights * means, 0);
  return reduce_sum(weights * (stack(variances) + squared_difference(means, mean)), 0);
}

// MixtureSameFamily

MixtureSameFamily::MixtureSameFamily(Categorical mixture_distribution, AnyDistribution components_distribution,
                                     const Options& options)
    : mixture_(std::move(mixture_distribution)), components_(std::move(components_distribution)) {
  const Shape event = components_->event_shape(), batch = components_->batch_shape();
  if (!event.has_rank()) throw invalid_argument("the rank of the components' events must be known");
  if (batch.has_rank() && batch.rank() == 0) {
    throw invalid_argument("the components are the last dimension of a batch, and {} has none", components_->name());
  }
  const Shape classes = last(mixture_.logits().shape()), components = last(batch);
  if (!classes.compatible(components)) {
    throw invalid_argument("the mixture has {} components, its distribution {}", classes.str(), components.str());
  }
  event_ndims_ = event.rank();
  auto scope = enter(components_->graph(), options, "MixtureSameFamily");
  set_up(
      {.graph = &components_->graph(), .name = scope.name(), .dtype = components_->dtype(), .reparameterized = false},
      options);
}

Shape MixtureSameFamily::do_batch_shape() const { return without_last(components_->batch_shape()); }
Output MixtureSameFamily::do_batch_shape_tensor() const { return without_last(components_->batch_shape_tensor()); }
Output MixtureSameFamily::over_components(const Output& value) const { return expand_dims(value, -1 - event_ndims_); }
Output MixtureSameFamily::padded(const Output& probs) const { return padded_with(probs, event_ndims_); }

Output MixtureSameFamily::do_sample_n(const Output& n, Seed seed) const {
  const Output drawn = components_->sample(n, {.seed = seed});
  Output chosen = mixture_.sample(n, {.seed = derived_seed(seed, "MixtureSameFamily")});
  // One choice for each of the batch where the mixture has none.
  const Shape own = mixture_.batch_shape(), batch = batch_shape();
  if (own.has_rank() && batch.has_rank() && own.rank() == 0) {
    for (int i = 0; i < batch.rank(); ++i) chosen = column(chosen);
  }
  const Output mask = one_hot(chosen, subscript(shape(mixture_.logits()), {-1}), {.dtype = dtype()});
  return reduce_sum(drawn * padded(mask), -1 - event_ndims_);
}

Output MixtureSameFamily::do_log_prob(const Output& x) const {
  const Output log_probs = components_->log_prob(over_components(x));
  return reduce_logsumexp(log_probs + nn::log_softmax(mixture_.logits()), {.axes = {-1}});
}
Output MixtureSameFamily::do_cdf(const Output& x) const {
  return reduce_sum(components_->cdf(over_components(x)) * mixture_.probs(), -1);
}
Output MixtureSameFamily::do_mean() const {
  return reduce_sum(padded(mixture_.probs()) * components_->mean(), -1 - event_ndims_);
}
Output MixtureSameFamily::do_variance() const {
  const int axis = -1 - event_ndims_;
  const Output probs = padded(mixture_.probs());
  const Output mean = expand_dims(do_mean(), axis);
  const Output inner = reduce_sum(probs * components_->variance(), axis);
  return inner + reduce_sum(probs * squared_difference(components_->mean(), mean), axis);
}
Output MixtureSameFamily::do_covariance() const {
  if (event_ndims_ != 1) return {};
  const Output probs = column(mixture_.probs()), means = components_->mean();
  const Output off = means - reduce_sum(probs * means, -2, true);
  const Output inner = reduce_sum(column(probs) * components_->covariance(), -3);
  return inner + reduce_sum(column(probs) * column(off) * row(off), -3);
}

}  // namespace weir::distributions
