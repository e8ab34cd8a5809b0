#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/shared.h"

// Distributions: tf.distributions, and the usual ones of tf.contrib.distributions.
//
//   distributions::Normal posterior(mean, stddev);
//   Output z = posterior.sample({}, {.seed = 1});
//   Output loss = reduce_mean(kl_divergence(posterior, distributions::Normal(0, 1, {.graph = &g})));
//
// Parameters are broadcast: a batch of distributions is one object. A sample has the shape sample_shape + batch_shape +
// event_shape. Nodes stand in a scope of the distribution's name ("Normal/log_prob/..."). Objects are handles: copying
// is cheap, and they must not outlive their graph.
namespace weir::distributions {

struct Options {
  bool validate_args = false;   // parameters and values are checked in each run: InvalidArgument
  bool allow_nan_stats = true;  // moments that are not defined are NaN; false: asking for them fails, or throws
  std::string name = {};        // of the scope; empty: the class's
  Graph* graph = nullptr;       // needed when no parameter belongs to a graph
};
struct SampleOptions {
  std::optional<int64_t> seed = {};
};

class WEIR_API Distribution {
 public:
  using Where = In::Where;
  virtual ~Distribution();

  const std::string& name() const { return name_; }  // the scope: "Normal/"
  Graph& graph() const { return *graph_; }
  DType dtype() const { return dtype_; }                     // of samples
  bool reparameterized() const { return reparameterized_; }  // whether gradients of samples go to the parameters
  bool validate_args() const { return validate_args_; }
  bool allow_nan_stats() const { return allow_nan_stats_; }

  Shape batch_shape() const;  // what is known when the graph is built
  Shape event_shape() const;
  Output batch_shape_tensor(Where where = Where::current()) const;
  Output event_shape_tensor(Where where = Where::current()) const;

  // These throw Unimplemented where a distribution has no such function.
  Output sample(const In& sample_shape = Shape{}, const SampleOptions& options = {}) const;
  Output log_prob(const In& value) const;
  Output prob(const In& value) const;
  Output log_cdf(const In& value) const;
  Output cdf(const In& value) const;
  Output survival_function(const In& value) const;  // 1 - cdf
  Output log_survival_function(const In& value) const;
  Output quantile(const In& p) const;
  Output entropy(Where where = Where::current()) const;
  Output mean(Where where = Where::current()) const;
  Output variance(Where where = Where::current()) const;
  Output stddev(Where where = Where::current()) const;
  Output mode(Where where = Where::current()) const;
  Output covariance(Where where = Where::current()) const;
  Output cross_entropy(const Distribution& other, Where where = Where::current()) const;

  // What a class defines, without scopes; an empty handle is "not defined". The functions above call them, and make
  // what follows: a density of its logarithm, a deviation of a variance.
  using Seed = std::optional<int64_t>;
  virtual Shape do_batch_shape() const = 0;
  virtual Output do_batch_shape_tensor() const = 0;
  virtual Shape do_event_shape() const { return Shape{}; }
  virtual Output do_event_shape_tensor() const;
  virtual Output do_sample_n(const Output& /*n*/, Seed /*seed*/) const { return {}; }  // [n] + batch + event
  virtual Output do_transform(const Output& sample) const { return sample; }           // of the final shape
  virtual Output do_log_prob(const Output& /*x*/) const { return {}; }
  virtual Output do_prob(const Output& /*x*/) const { return {}; }
  virtual Output do_log_cdf(const Output& /*x*/) const { return {}; }
  virtual Output do_cdf(const Output& /*x*/) const { return {}; }
  virtual Output do_survival_function(const Output& /*x*/) const { return {}; }
  virtual Output do_log_survival_function(const Output& /*x*/) const { return {}; }
  virtual Output do_quantile(const Output& /*p*/) const { return {}; }
  virtual Output do_entropy() const { return {}; }
  virtual Output do_mean() const { return {}; }
  virtual Output do_variance() const { return {}; }
  virtual Output do_stddev() const { return {}; }
  virtual Output do_mode() const { return {}; }
  virtual Output do_covariance() const { return {}; }
  virtual Output do_kl(const Distribution& /*other*/) const { return {}; }  // KL(this || other)

 protected:
  struct Setup {
    Graph* graph;
    std::string name;
    DType dtype;
    bool reparameterized;
  };
  Distribution() = default;
  void set_up(const Setup& setup, const Options& options);

 private:
  template <class Body>
  Output in_scope(std::string_view name, const Where& where, const Body& body) const;
  Output value(const In& x) const;

  Graph* graph_ = nullptr;
  std::string name_;
  DType dtype_ = DType::Invalid;
  bool reparameterized_ = false, validate_args_ = false, allow_nan_stats_ = true;
};
using AnyDistribution = Shared<const Distribution>;

// The Kullback-Leibler divergence KL(a || b). Throws Unimplemented for pairs that have none.
WEIR_API Output kl_divergence(const Distribution& a, const Distribution& b, bool allow_nan_stats = true,
                              In::Where where = In::Where::current());

// A seed that follows from another one: TensorFlow's, for distributions that draw more than once.
WEIR_API std::optional<int64_t> derived_seed(std::optional<int64_t> seed, std::string_view salt);

// Numbers whose parameters broadcast to the batch.
class WEIR_API ScalarDistribution : public Distribution {
 public:
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;

 protected:
  void set_parameters(std::vector<Output> parameters) { parameters_ = std::move(parameters); }
  Output samples_shape(const Output& n) const;
  Output spread(const Output& parameter) const;      // in the shape of the batch
  Output uniform(const Output& n, Seed seed) const;  // of the open interval: its logarithm is taken
  Output or_nan(const Output& defined, const Output& value, std::string_view message) const;

 private:
  std::vector<Output> parameters_;
};

class WEIR_API LocScale : public ScalarDistribution {
 public:
  const Output& loc() const { return loc_; }
  const Output& scale() const { return scale_; }
  Output do_mean() const override { return spread(loc_); }
  Output do_mode() const override { return spread(loc_); }

 protected:
  LocScale(std::string_view name, const In& loc, const In& scale, const Options& options);
  Output z(const Output& x) const;

 private:
  Output loc_, scale_;
};

class WEIR_API Normal final : public LocScale {
 public:
  Normal(const In& loc, const In& scale, const Options& options = {}) : LocScale("Normal", loc, scale, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_log_cdf(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_survival_function(const Output& x) const override;
  Output do_log_survival_function(const Output& x) const override;
  Output do_quantile(const Output& p) const override;
  Output do_entropy() const override;
  Output do_stddev() const override { return spread(scale()); }
  Output do_kl(const Distribution& other) const override;
};

class WEIR_API Laplace final : public LocScale {
 public:
  Laplace(const In& loc, const In& scale, const Options& options = {}) : LocScale("Laplace", loc, scale, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_entropy() const override;
  Output do_stddev() const override;
  Output do_kl(const Distribution& other) const override;
};

class WEIR_API Logistic final : public LocScale {
 public:
  Logistic(const In& loc, const In& scale, const Options& options = {}) : LocScale("Logistic", loc, scale, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_log_cdf(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_survival_function(const Output& x) const override;
  Output do_log_survival_function(const Output& x) const override;
  Output do_entropy() const override;
  Output do_stddev() const override;
};

class WEIR_API Cauchy final : public LocScale {
 public:
  Cauchy(const In& loc, const In& scale, const Options& options = {}) : LocScale("Cauchy", loc, scale, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_quantile(const Output& p) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_stddev() const override { return do_mean(); }
};

// Numbers from `low` to below `high`.
class WEIR_API Uniform final : public ScalarDistribution {
 public:
  explicit Uniform(const In& low = 0.0, const In& high = 1.0, const Options& options = {});
  const Output& low() const { return low_; }
  const Output& high() const { return high_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_stddev() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output low_, high_;
};

class WEIR_API Gamma : public ScalarDistribution {
 public:
  Gamma(const In& concentration, const In& rate, const Options& options = {})
      : Gamma("Gamma", concentration, rate, options) {}
  const Output& concentration() const { return concentration_; }
  const Output& rate() const { return rate_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_stddev() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 protected:
  Gamma(std::string_view name, const In& concentration, const In& rate, const Options& options);

 private:
  Output concentration_, rate_;
};

class WEIR_API Exponential final : public Gamma {
 public:
  explicit Exponential(const In& rate, const Options& options = {}) : Gamma("Exponential", 1.0, rate, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
};

class WEIR_API Chi2 final : public Gamma {
 public:
  explicit Chi2(const In& df, const Options& options = {});
};

class WEIR_API Beta final : public ScalarDistribution {
 public:
  Beta(const In& concentration1, const In& concentration0, const Options& options = {});
  const Output& concentration1() const { return a_; }
  const Output& concentration0() const { return b_; }
  const Output& total_concentration() const { return total_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output log_beta() const;

  Output a_, b_, total_;
};

class WEIR_API StudentT final : public ScalarDistribution {
 public:
  StudentT(const In& df, const In& loc, const In& scale, const Options& options = {});
  const Output& df() const { return df_; }
  const Output& loc() const { return loc_; }
  const Output& scale() const { return scale_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;

 private:
  Output df_, loc_, scale_;
};

// Probabilities of classes: vectors that sum to one.
class WEIR_API Dirichlet final : public Distribution {
 public:
  explicit Dirichlet(const In& concentration, const Options& options = {});
  const Output& concentration() const { return concentration_; }
  const Output& total_concentration() const { return total_; }
  Shape do_batch_shape() const override { return total_.shape(); }
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_covariance() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output concentration_, total_;
};

// Of classes and counts. Logits or probabilities are given, the other follows.
struct Odds {
  std::optional<In> logits = {}, probs = {};
};

// 0 or 1.
class WEIR_API Bernoulli final : public ScalarDistribution {
 public:
  // Bernoulli({.logits = x})
  explicit Bernoulli(const Odds& odds, DType dtype = int32, const Options& options = {});
  const Output& logits() const { return logits_; }
  const Output& probs() const { return probs_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output logits_, probs_;
};

// One of the classes of the last dimension.
class WEIR_API ClassDistribution : public Distribution {
 public:
  const Output& logits() const { return logits_; }
  const Output& probs() const { return probs_; }
  Output event_size() const;  // how many classes
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Output do_entropy() const override;
  Output do_kl(const Distribution& other) const override;

 protected:
  ClassDistribution(std::string_view name, const Odds& odds, DType dtype, const Options& options);
  Output draw(const Output& n, Seed seed) const;  // class numbers [n] + batch

 private:
  Output logits_, probs_;
};

// The number of a class.
class WEIR_API Categorical final : public ClassDistribution {
 public:
  explicit Categorical(const Odds& odds, DType dtype = int32, const Options& options = {})
      : ClassDistribution("Categorical", odds, dtype, options) {}
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& k) const override;
  Output do_cdf(const Output& k) const override;  // of the classes before k, as in TensorFlow 1.15
  Output do_mode() const override;
};

// A class as a row of zeros and a one.
class WEIR_API OneHotCategorical final : public ClassDistribution {
 public:
  explicit OneHotCategorical(const Odds& odds, DType dtype = int32, const Options& options = {})
      : ClassDistribution("OneHotCategorical", odds, dtype, options) {}
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;
  Output do_covariance() const override;
};

class WEIR_API Binomial final : public ScalarDistribution {
 public:
  Binomial(const In& total_count, const Odds& odds, const Options& options = {});
  const Output& total_count() const { return total_count_; }
  const Output& logits() const { return logits_; }
  const Output& probs() const { return probs_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& counts) const override;
  Output do_cdf(const Output& counts) const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output total_count_, logits_, probs_;
};

// How often each class comes in a number of draws.
class WEIR_API Multinomial final : public Distribution {
 public:
  Multinomial(const In& total_count, const Odds& odds, const Options& options = {});
  const Output& total_count() const { return total_count_; }
  const Output& logits() const { return logits_; }
  const Output& probs() const { return probs_; }
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& counts) const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_covariance() const override;

 private:
  Output total_count_, logits_, probs_, mean_;
};

struct Rate {
  std::optional<In> rate = {}, log_rate = {};
};
class WEIR_API Poisson final : public ScalarDistribution {
 public:
  explicit Poisson(const Rate& rate, const Options& options = {});  // Poisson({.rate = x})
  const Output& rate() const { return rate_; }
  const Output& log_rate() const { return log_rate_; }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_mode() const override;
  Output do_kl(const Distribution& other) const override;

 private:
  Output rate_, log_rate_;
};

// loc + scale z for a vector z of standard normal numbers.
class WEIR_API MultivariateNormal : public Distribution {
 public:
  const Output& loc() const { return loc_; }
  Output scale() const;  // as a matrix
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override;
  Output do_mode() const override { return do_mean(); }
  Output do_variance() const override;
  Output do_stddev() const override;
  Output do_covariance() const override;
  Output do_kl(const Distribution& other) const override;

 protected:
  MultivariateNormal() = default;
  // A diagonal, or a lower triangle.
  void set_scale(std::string_view name, const Output& loc, const Output& diag, const Output& tril,
                 const Options& options);

 private:
  Output times_scale(const Output& z) const;
  Output by_scale(const Output& x) const;
  Output log_det() const;
  Output length() const;

  Output loc_, diag_, tril_, like_;  // like_: a vector of the whole batch
};

// The scale is a diagonal; one number stands for all of it.
class WEIR_API MultivariateNormalDiag final : public MultivariateNormal {
 public:
  MultivariateNormalDiag(const In& loc, const In& scale_diag, const Options& options = {});
};
class WEIR_API MultivariateNormalTriL final : public MultivariateNormal {
 public:
  MultivariateNormalTriL(const In& loc, const In& scale_tril, const Options& options = {});
};
class WEIR_API MultivariateNormalFullCovariance final : public MultivariateNormal {
 public:
  MultivariateNormalFullCovariance(const In& loc, const In& covariance_matrix, const Options& options = {});
};

// Dimensions of the batch as part of the event: their log probabilities are added. -1: all but the first.
class WEIR_API Independent final : public Distribution {
 public:
  explicit Independent(AnyDistribution distribution, int reinterpreted_batch_ndims = -1, const Options& options = {});
  const Distribution& distribution() const { return *distribution_; }
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_entropy() const override;
  Output do_mean() const override { return distribution_->mean(); }
  Output do_variance() const override { return distribution_->variance(); }
  Output do_stddev() const override { return distribution_->stddev(); }
  Output do_mode() const override { return distribution_->mode(); }
  Output do_kl(const Distribution& other) const override;

 private:
  Output summed(const Output& value) const;

  AnyDistribution distribution_;
  int ndims_;
};

// A mixture of a list of distributions.
class WEIR_API Mixture final : public Distribution {
 public:
  Mixture(Categorical cat, std::vector<AnyDistribution> components, const Options& options = {});
  const Categorical& cat() const { return cat_; }
  const std::vector<AnyDistribution>& components() const { return components_; }
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override;
  Output do_event_shape_tensor() const override;
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_mean() const override;
  Output do_variance() const override;

 private:
  Output probs() const;

  Categorical cat_;
  std::vector<AnyDistribution> components_;
};

// A mixture of the last dimension of a batch of distributions.
class WEIR_API MixtureSameFamily final : public Distribution {
 public:
  MixtureSameFamily(Categorical mixture_distribution, AnyDistribution components_distribution,
                    const Options& options = {});
  const Categorical& mixture_distribution() const { return mixture_; }
  const Distribution& components_distribution() const { return *components_; }
  Shape do_batch_shape() const override;
  Output do_batch_shape_tensor() const override;
  Shape do_event_shape() const override { return components_->event_shape(); }
  Output do_event_shape_tensor() const override { return components_->event_shape_tensor(); }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_log_prob(const Output& x) const override;
  Output do_cdf(const Output& x) const override;
  Output do_mean() const override;
  Output do_variance() const override;
  Output do_covariance() const override;

 private:
  Output over_components(const Output& value) const;
  Output padded(const Output& probs) const;

  Categorical mixture_;
  AnyDistribution components_;
  int event_ndims_;
};

}  // namespace weir::distributions
