#include "nn/distributions/helpers.h"
#include "weir/index_ops.h"
#include "weir/special_ops.h"

namespace weir::distributions {
namespace {

Graph& graph_of_odds(const Options& options, const Odds& odds, const In* more = nullptr) {
  const In none = 0;
  return graph_of(options,
                  {odds.logits ? &*odds.logits : &none, odds.probs ? &*odds.probs : &none, more ? more : &none});
}

In::Where where_of(const Odds& odds) {
  return odds.logits ? odds.logits->where() : odds.probs ? odds.probs->where() : In::Where::current();
}

// Counts, after checks where the distribution has them: whole, not negative, and no more than there are in all.
Output valid_counts(const Distribution& distribution, const Output& value, const std::optional<Output>& total = {},
                    bool of_classes = false) {
  const Output counts = cast(value, distribution.dtype());
  return checked(distribution.validate_args(), counts, [&] {
    std::vector<Check> checks = {
        {counts >= 0, "counts must be non-negative.", counts},
        {equal(counts, floor(counts)), "counts cannot contain fractional components.", counts}};
    if (total && of_classes) {
      checks.push_back({equal(*total, reduce_sum(counts, -1)), "counts must sum to `self.total_count`", counts});
    } else if (total) {
      checks.push_back({counts <= *total, "counts are not less than or equal to n.", counts});
    }
    return checks;
  });
}

// sum(p log p) over the classes, 0 where p is.
Output weighted_logs(const Output& probs, const Output& logs) {
  return where(equal(probs, 0.0), zeros_like(logs), exp(logs) * logs);
}

}  // namespace

// 0 or 1

Bernoulli::Bernoulli(const Odds& odds, DType dtype, const Options& options) {
  Graph& graph = graph_of_odds(options, odds);
  const LineScope line(graph, source_line(where_of(odds)));
  auto scope = enter(graph, options, "Bernoulli");
  std::tie(logits_, probs_) = [&] {
    const LogitsAndProbs both = logits_and_probs(graph, odds, options.validate_args, false);
    return std::pair(both.logits, both.probs);
  }();
  set_parameters({logits_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = dtype, .reparameterized = false}, options);
}

Output Bernoulli::do_sample_n(const Output& n, Seed seed) const {
  const Output drawn =
      random_uniform(graph(), samples_shape(n), {.maxval = 1.0, .dtype = probs_.dtype(), .seed = seed});
  return cast(drawn < probs_, dtype());
}
Output Bernoulli::do_log_prob(const Output& x) const {
  const Output event = cast(x, logits_.dtype());
  const Output logits = logits_ + zeros_like(event);
  return -nn::sigmoid_cross_entropy_with_logits(event + zeros_like(logits), logits);
}
Output Bernoulli::do_entropy() const { return -logits_ * (sigmoid(logits_) - 1) + nn::softplus(-logits_); }
Output Bernoulli::do_mean() const { return identity(probs_); }
Output Bernoulli::do_variance() const { return probs_ * (1.0 - probs_); }
Output Bernoulli::do_mode() const { return cast(probs_ > 0.5, dtype()); }
Output Bernoulli::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Bernoulli*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_bernoulli_bernoulli");
  const Output one = nn::softplus(-b->logits()) - nn::softplus(-logits_);
  const Output zero = nn::softplus(b->logits()) - nn::softplus(logits_);
  return sigmoid(logits_) * one + sigmoid(-logits_) * zero;
}

// Classes

ClassDistribution::ClassDistribution(std::string_view name, const Odds& odds, DType dtype, const Options& options) {
  Graph& graph = graph_of_odds(options, odds);
  const LineScope line(graph, source_line(where_of(odds)));
  auto scope = enter(graph, options, name);
  const LogitsAndProbs both = logits_and_probs(graph, odds, options.validate_args, true);
  logits_ = both.logits;
  probs_ = both.probs;
  set_up({.graph = &graph, .name = scope.name(), .dtype = dtype, .reparameterized = false}, options);
}

Output ClassDistribution::event_size() const {
  const Shape size = last(logits_.shape());
  if (size.is_known()) return graph().constant(size[0], int32);
  return subscript(shape(logits_), {-1});
}
Shape ClassDistribution::do_batch_shape() const { return without_last(logits_.shape()); }
Output ClassDistribution::do_batch_shape_tensor() const { return without_last(shape(logits_)); }
Output ClassDistribution::draw(const Output& n, Seed seed) const {
  const Shape size = last(logits_.shape());
  const Output rows = size.is_known() ? reshape(logits_, {-1, size[0]})
                                      : reshape(logits_, stack({-1, subscript(shape(logits_), {-1})}));
  const Output drawn = transpose(multinomial(rows, n, {.seed = seed}));
  return reshape(drawn, concat({reshape(n, {1}), batch_shape_tensor()}, 0));
}
Output ClassDistribution::do_entropy() const {
  return -reduce_sum(weighted_logs(probs_, nn::log_softmax(logits_)), -1);
}
Output ClassDistribution::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const ClassDistribution*>(&other);
  if (!b || typeid(*b) != typeid(*this)) return {};
  auto scope = graph().name_scope("kl_categorical_categorical");
  const Output logs = nn::log_softmax(logits_), others = nn::log_softmax(b->logits());
  return reduce_sum(nn::softmax(logits_) * (logs - others), -1);
}

Output Categorical::do_sample_n(const Output& n, Seed seed) const { return cast(draw(n, seed), dtype()); }

namespace {

// Class numbers and logits of one batch shape.
std::pair<Output, Output> matched(const Output& k, const Output& logits) {
  const Shape batch = without_last(logits.shape());
  if (batch.is_known() && k.shape() == batch) return {k, logits};
  const Output numbers = k * ones(k.graph(), without_last(shape(logits)), k.dtype());
  const Output all = logits * ones_like(expand_dims(numbers, -1), logits.dtype());
  numbers.set_shape(Shape::broadcast(numbers.shape(), without_last(all.shape())));
  return {numbers, all};
}

}  // namespace

Output Categorical::do_log_prob(const Output& value) const {
  const auto [k, logits] = matched(value, this->logits());
  return -nn::sparse_softmax_cross_entropy_with_logits(is_integer(k.dtype()) ? k : cast(k, int32), logits);
}
Output Categorical::do_cdf(const Output& value) const {
  const auto [k, logits] = matched(cast(value, int32), this->logits());
  const Output below = sequence_mask(k, subscript(shape(logits), {-1}), logits.dtype());
  return reduce_sum(nn::softmax(logits) * below, -1);
}
Output Categorical::do_mode() const { return cast(argmax(logits(), -1), dtype()); }

Shape OneHotCategorical::do_event_shape() const { return last(logits().shape()); }
Output OneHotCategorical::do_event_shape_tensor() const { return last(shape(logits())); }
Output OneHotCategorical::do_sample_n(const Output& n, Seed seed) const {
  return one_hot(draw(n, seed), event_size(), {.dtype = dtype()});
}
Output OneHotCategorical::do_log_prob(const Output& x) const {
  return reduce_sum(cast(x, logits().dtype()) * nn::log_softmax(logits()), -1);
}
Output OneHotCategorical::do_mean() const { return nn::softmax(logits()); }
Output OneHotCategorical::do_variance() const {
  const Output p = nn::softmax(logits());
  return p * (1.0 - p);
}
Output OneHotCategorical::do_mode() const { return one_hot(argmax(logits(), -1), event_size(), {.dtype = dtype()}); }
Output OneHotCategorical::do_covariance() const {
  const Output p = nn::softmax(logits());
  return covariance_of(p, p, p * (1.0 - p));
}

// Counts

Binomial::Binomial(const In& total_count, const Odds& odds, const Options& options) {
  Graph& graph = graph_of_odds(options, odds, &total_count);
  const LineScope line(graph, source_line(total_count.where()));
  auto scope = enter(graph, options, "Binomial");
  const LogitsAndProbs both = logits_and_probs(graph, odds, options.validate_args, false);
  logits_ = both.logits;
  probs_ = both.probs;
  total_count_ = cast(nn::as_output(graph, total_count, logits_.dtype(), "total_count"), logits_.dtype());
  set_parameters({total_count_, probs_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = probs_.dtype(), .reparameterized = false}, options);
}

// As many draws of 0 or 1 as there are trials.
Output Binomial::do_sample_n(const Output& n, Seed seed) const {
  const Output trials = spread(total_count_), probs = spread(probs_);
  const Output most = cast(reduce_max(trials), int32);
  const Output drawn = random_uniform(graph(), concat({samples_shape(n), reshape(most, {1})}, 0),
                                      {.maxval = 1.0, .dtype = dtype(), .seed = seed});
  const Output counted = logical_and(drawn < column(probs), expand_dims(sequence_mask(cast(trials, int32), most), 0));
  return reduce_sum(cast(counted, dtype()), -1);
}
Output Binomial::do_log_prob(const Output& value) const {
  const Output counts = valid_counts(*this, value, total_count_);
  return log_choose(total_count_, counts) + counts * log(probs_) + (total_count_ - counts) * log1p(-probs_);
}
Output Binomial::do_cdf(const Output& value) const {
  const Output counts = floor(cast(value, dtype())) + zeros(graph(), batch_shape_tensor(), dtype());
  return betainc(total_count_ - counts, 1.0 + counts, 1.0 - probs_ + zeros_like(counts));
}
Output Binomial::do_mean() const { return total_count_ * probs_; }
Output Binomial::do_variance() const { return do_mean() * (1.0 - probs_); }
Output Binomial::do_mode() const { return floor((1.0 + total_count_) * probs_); }
Output Binomial::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Binomial*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_binomial_binomial");
  return total_count_ *
         (probs_ * (log(probs_) - log(b->probs())) + (1.0 - probs_) * (log1p(-probs_) - log1p(-b->probs())));
}

Multinomial::Multinomial(const In& total_count, const Odds& odds, const Options& options) {
  Graph& graph = graph_of_odds(options, odds, &total_count);
  const LineScope line(graph, source_line(total_count.where()));
  auto scope = enter(graph, options, "Multinomial");
  const LogitsAndProbs both = logits_and_probs(graph, odds, options.validate_args, true);
  logits_ = both.logits;
  probs_ = both.probs;
  total_count_ = cast(nn::as_output(graph, total_count, logits_.dtype(), "total_count"), logits_.dtype());
  mean_ = column(total_count_) * probs_;
  set_up({.graph = &graph, .name = scope.name(), .dtype = probs_.dtype(), .reparameterized = false}, options);
}

Shape Multinomial::do_batch_shape() const { return without_last(mean_.shape()); }
Output Multinomial::do_batch_shape_tensor() const { return without_last(shape(mean_)); }
Shape Multinomial::do_event_shape() const { return last(mean_.shape()); }
Output Multinomial::do_event_shape_tensor() const { return last(shape(mean_)); }
Output Multinomial::do_sample_n(const Output& n, Seed seed) const {
  const Output classes = subscript(event_shape_tensor(), {0});
  const Output logits = reshape(logits_ + zeros_like(mean_), stack({-1, classes}));
  const Output all = total_count_ * ones(graph(), batch_shape_tensor(), dtype());
  const Output trials = reshape(cast(all, int32), {-1});
  const Output most = reduce_max(trials);
  const Output drawn = reshape(multinomial(logits, n * most, {.seed = seed}), stack({-1, n, most}));
  const Output counted = subscript(cast(sequence_mask(trials, most), dtype()), {kAll, kNewAxis, kAll, kNewAxis});
  const Output counts = reduce_sum(one_hot(drawn, classes, {.dtype = dtype()}) * counted, 2);
  return reshape(transpose(counts, {1, 0, 2}),
                 concat({reshape(n, {1}), batch_shape_tensor(), reshape(classes, {1})}, 0));
}
Output Multinomial::do_log_prob(const Output& value) const {
  const Output counts = valid_counts(*this, value, total_count_, true);
  const Output coefficient = lgamma(total_count_ + 1.0) - reduce_sum(lgamma(counts + 1.0), -1);
  return reduce_sum(counts * nn::log_softmax(logits_), -1) + coefficient;
}
Output Multinomial::do_mean() const { return identity(mean_); }
Output Multinomial::do_variance() const { return mean_ - mean_ * probs_; }
Output Multinomial::do_covariance() const {
  return covariance_of(mean_, probs_ * column(ones_like(total_count_)), do_variance());
}

Poisson::Poisson(const Rate& rate, const Options& options) {
  if (rate.rate.has_value() == rate.log_rate.has_value()) {
    throw invalid_argument("Must specify exactly one of `rate` and `log_rate`.");
  }
  const In& given = rate.rate ? *rate.rate : *rate.log_rate;
  Graph& graph = graph_of(options, {&given});
  const LineScope line(graph, source_line(given.where()));
  auto scope = enter(graph, options, "Poisson");
  if (rate.rate) {
    rate_ = positive(options.validate_args, tensors(graph, {{&given, "rate"}})[0], "rate");
    log_rate_ = log(rate_);
  } else {
    log_rate_ = tensors(graph, {{&given, "log_rate"}})[0];
    rate_ = exp(log_rate_);
  }
  set_parameters({rate_});
  set_up({.graph = &graph, .name = scope.name(), .dtype = rate_.dtype(), .reparameterized = false}, options);
}

Output Poisson::do_sample_n(const Output& n, Seed seed) const {
  auto scope = graph().name_scope("random_poisson");
  const Seeds seeds = graph().next_seeds(seed);
  return NodeBuilder("RandomPoissonV2")
      .input(reshape(n, {1}))
      .input(rate_)
      .attr("dtype", dtype())
      .attr("seed", seeds.seed)
      .attr("seed2", seeds.seed2)
      .output();
}
Output Poisson::do_log_prob(const Output& value) const {
  const Output x = valid_counts(*this, value);
  return x * log_rate_ - lgamma(1.0 + x) - rate_;
}
Output Poisson::do_cdf(const Output& value) const {
  const Output x = cast(value, dtype());
  return igammac(floor(x) + 1.0, rate_ + zeros_like(x));
}
Output Poisson::do_mean() const { return identity(rate_); }
Output Poisson::do_variance() const { return identity(rate_); }
Output Poisson::do_mode() const { return floor(rate_); }
Output Poisson::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const Poisson*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_poisson_poisson");
  return rate_ * (log_rate_ - b->log_rate()) - rate_ + b->rate();
}

}  // namespace weir::distributions
