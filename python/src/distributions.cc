// What Python's distributions have of the C++ ones: parameters that follow from others, samples, densities, moments and
// divergences. Python's classes keep what programs override, and their checks.
#include "weir/distributions.h"

#include <nanobind/stl/string.h>

#include <map>

#include "building.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;
using distributions::Distribution;
using distributions::Options;
using Given = std::vector<std::optional<Output>>;

struct DistributionObject {
  std::shared_ptr<const Distribution> of;
  std::map<std::string, Output> parameters;
};

std::optional<In> optional_in(const std::optional<Output>& x) { return x ? std::optional<In>(In(*x)) : std::nullopt; }

distributions::Odds odds(const Given& given, size_t at) {
  return {.logits = optional_in(given[at]), .probs = optional_in(given[at + 1])};
}

template <class D>
DistributionObject with_odds(D distribution) {
  std::map<std::string, Output> found{{"logits", distribution.logits()}, {"probs", distribution.probs()}};
  if constexpr (std::is_same_v<D, distributions::Multinomial>) found["mean"] = distribution.do_mean();
  return {std::make_shared<D>(std::move(distribution)), std::move(found)};
}

template <class D>
DistributionObject of_two(const Given& p, DType /*dtype*/, const Options& options) {
  return {std::make_shared<D>(*p[0], *p[1], options), {}};
}
template <class D>
DistributionObject of_classes(const Given& p, DType dtype, const Options& options) {
  return with_odds(D(odds(p, 0), dtype, options));
}
template <class D>
DistributionObject of_counts(const Given& p, DType /*dtype*/, const Options& options) {
  return with_odds(D(*p[0], odds(p, 1), options));
}

DistributionObject exponential(const Given& p, DType /*dtype*/, const Options& options) {
  return {std::make_shared<distributions::Exponential>(*p[1], options), {}};
}
DistributionObject beta(const Given& p, DType /*dtype*/, const Options& options) {
  auto made = std::make_shared<distributions::Beta>(*p[0], *p[1], options);
  return {made, {{"total_concentration", made->total_concentration()}}};
}
DistributionObject student_t(const Given& p, DType /*dtype*/, const Options& options) {
  return {std::make_shared<distributions::StudentT>(*p[0], *p[1], *p[2], options), {}};
}
DistributionObject dirichlet(const Given& p, DType /*dtype*/, const Options& options) {
  auto made = std::make_shared<distributions::Dirichlet>(*p[0], options);
  return {made, {{"total_concentration", made->total_concentration()}}};
}
DistributionObject poisson(const Given& p, DType /*dtype*/, const Options& options) {
  auto made = std::make_shared<distributions::Poisson>(
      distributions::Rate{.rate = optional_in(p[0]), .log_rate = optional_in(p[1])}, options);
  return {made, {{"rate", made->rate()}, {"log_rate", made->log_rate()}}};
}

using Make = DistributionObject (*)(const Given&, DType, const Options&);
const std::map<std::string_view, Make> kMakers = {
    {"Normal", of_two<distributions::Normal>},
    {"Laplace", of_two<distributions::Laplace>},
    {"Logistic", of_two<distributions::Logistic>},
    {"Cauchy", of_two<distributions::Cauchy>},
    {"Uniform", of_two<distributions::Uniform>},
    {"Gamma", of_two<distributions::Gamma>},
    {"Exponential", exponential},
    {"Beta", beta},
    {"StudentT", student_t},
    {"Dirichlet", dirichlet},
    {"Bernoulli", of_classes<distributions::Bernoulli>},
    {"Categorical", of_classes<distributions::Categorical>},
    {"OneHotCategorical", of_classes<distributions::OneHotCategorical>},
    {"Binomial", of_counts<distributions::Binomial>},
    {"Multinomial", of_counts<distributions::Multinomial>},
    {"Poisson", poisson},
};

using OfValue = Output (Distribution::*)(const Output&) const;
const std::map<std::string_view, OfValue> kOfValue = {
    {"log_prob", &Distribution::do_log_prob},
    {"prob", &Distribution::do_prob},
    {"log_cdf", &Distribution::do_log_cdf},
    {"cdf", &Distribution::do_cdf},
    {"survival_function", &Distribution::do_survival_function},
    {"log_survival_function", &Distribution::do_log_survival_function},
    {"quantile", &Distribution::do_quantile},
};

using Moment = Output (Distribution::*)() const;
const std::map<std::string_view, Moment> kMoments = {
    {"entropy", &Distribution::do_entropy},   {"mean", &Distribution::do_mean},
    {"variance", &Distribution::do_variance}, {"stddev", &Distribution::do_stddev},
    {"mode", &Distribution::do_mode},         {"covariance", &Distribution::do_covariance},
};

}  // namespace

void bind_distributions(nb::module_& m) {
  nb::class_<DistributionObject>(m, "Distribution")
      .def("parameter",
           [](const DistributionObject& d, const std::string& name) { return wrap(d.parameters.at(name)); });
  // The parameters are tensors, or None where the other one of a pair is given.
  def(m, "distribution", [](G g, H kind, H parameters, H dtype, H allow_nan_stats, H name) {
    const Make make = kMakers.at(nb::cast<std::string>(kind));
    std::vector<nb::object> items;
    for (H item : nb::iter(parameters)) items.push_back(nb::borrow(item));
    H first = items[0].is_none() ? items[1] : items[0];
    return build(g, {first}, [&](G graph) {
      Given given;
      for (const nb::object& item : items) {
        given.push_back(item.is_none() ? std::nullopt : std::optional(to_output(graph, item, DType::Invalid, {})));
      }
      const DType type = dtype.is_none() ? DType::Invalid : to_dtype(dtype);
      return make(given, type, {.allow_nan_stats = to_bool(allow_nan_stats), .name = to_name(name), .graph = &graph});
    });
  });
  def(m, "distribution_sample_n", [](G g, const DistributionObject& d, H n, H seed) {
    return build(g, {n}, [&](G graph) {
      return wrap(d.of->do_sample_n(to_output(graph, n, DType::Int32, "n"), to_seed(seed)));
    });
  });
  def(m, "distribution_of_value", [](G g, const DistributionObject& d, const std::string& function, H x) {
    const OfValue call = kOfValue.at(function);
    return build(g, {x}, [&](G graph) { return wrap(((*d.of).*call)(to_output(graph, x, d.of->dtype(), "value"))); });
  });
  def(m, "distribution_moment", [](G g, const DistributionObject& d, const std::string& function) {
    const Moment call = kMoments.at(function);
    return build(g, {}, [&](G) { return wrap(((*d.of).*call)()); });
  });
  def(m, "distribution_kl", [](G g, const DistributionObject& a, const DistributionObject& b) {
    return build(g, {}, [&](G) { return wrap(a.of->do_kl(*b.of)); });
  });
}

}  // namespace weir::python
