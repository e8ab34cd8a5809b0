// What metrics are made of. Scopes, collections and the shapes of what the program gives are the package's business.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nn/metrics/parts.h"
#include "sequences.h"

namespace weir::python {
namespace {

metrics::Kind to_kind(H name) {
  const std::string given = to_name(name);
  for (auto kind : {metrics::Kind::TruePositives, metrics::Kind::FalsePositives, metrics::Kind::TrueNegatives,
                    metrics::Kind::FalseNegatives}) {
    if (metrics::name_of(kind) == given) return kind;
  }
  throw nb::key_error(given.c_str());
}

nb::object pair(const metrics::Metric& metric) { return nb::make_tuple(wrap(metric.value), wrap(metric.update)); }

// tp, fn, tn, fp, each of which may be None.
metrics::Counts to_counts(G graph, H counts) {
  auto at = [&](Py_ssize_t i) { return optional_tensor(graph, item_of(counts, i)); };
  metrics::Counts made;
  made.tp = at(0);
  made.fn = at(1);
  made.tn = at(2);
  made.fp = at(3);
  return made;
}

std::vector<float> to_floats(H list, const char* name) {
  std::vector<float> numbers;
  for (H item : nb::iter(list)) numbers.push_back(static_cast<float>(to_double(item, name)));
  return numbers;
}

void bind_thresholds(nb::module_& m) {
  def(m, "counts_at_thresholds", [](G g, H labels, H predictions, H thresholds, H weights, H wanted) {
    return build(g, {labels, predictions}, [&](G graph) {
      std::vector<metrics::Kind> kinds;
      for (H name : nb::iter(wanted)) kinds.push_back(to_kind(name));
      nb::list made;
      for (const metrics::Metric& count :
           metrics::counts_at_thresholds(tensor_of(graph, labels), tensor_of(graph, predictions),
                                         to_floats(thresholds, "thresholds"), optional_tensor(graph, weights), kinds)) {
        made.append(pair(count));
      }
      return made;
    });
  });
  def(m, "threshold_spread", [](H count) { return metrics::spread(to_int(count, "num_thresholds")); });
  def(m, "curve_points_of", [](G g, H counts, H roc) {
    return build(g, {item_of(counts, 0)},
                 [&](G graph) { return wrap(metrics::curve_points_of(to_counts(graph, counts), to_bool(roc))); });
  });
  def(m, "f1_of", [](G g, H counts, H node) {
    return build(g, {item_of(counts, 0)},
                 [&](G graph) { return wrap(metrics::f1_of(to_counts(graph, counts), to_name(node))); });
  });
  def(m, "recall_near_precision", [](G g, H counts, H precision, H strict, H node) {
    return build(g, {item_of(counts, 0)}, [&](G graph) {
      return wrap(metrics::recall_near_precision(to_counts(graph, counts),
                                                 static_cast<float>(to_double(precision, "precision")), to_bool(strict),
                                                 to_name(node)));
    });
  });
  def(m, "precision_near_recall", [](G g, H counts, H target_recall, H node) {
    return build(g, {item_of(counts, 0)}, [&](G graph) {
      return wrap(metrics::precision_near_recall(
          to_counts(graph, counts), static_cast<float>(to_double(target_recall, "target_recall")), to_name(node)));
    });
  });
  def(m, "equal_thresholds_part", [](G g, H labels, H predictions, H weights, H count, H use_locking) {
    return build(g, {labels, predictions}, [&](G graph) {
      std::optional<bool> locking;
      if (!use_locking.is_none()) locking = to_bool(use_locking);
      const metrics::PrecisionRecallData d =
          metrics::equal_thresholds_part(tensor_of(graph, labels), tensor_of(graph, predictions),
                                         optional_tensor(graph, weights), to_int64(count, "num_thresholds"), locking);
      return nb::make_tuple(wrap(std::vector<Output>{d.tp, d.fp, d.tn, d.fn, d.precision, d.recall, d.thresholds}),
                            wrap(d.update));
    });
  });
}

void bind_metric_parts(nb::module_& m) {
  def(m, "count_part", [](G g, H values, H weights) {
    return build(g, {values}, [&](G graph) {
      return pair(metrics::count_part(tensor_of(graph, values), optional_tensor(graph, weights)));
    });
  });
  def(m, "kappa_part", [](G g, H labels, H predictions, H num_classes, H weights) {
    return build(g, {labels, predictions}, [&](G graph) {
      return pair(metrics::kappa_part(tensor_of(graph, labels), tensor_of(graph, predictions),
                                      to_int64(num_classes, "num_classes"), optional_tensor(graph, weights)));
    });
  });
  def(m, "concat_part", [](G g, H values, H axis, H max_size, H scope) {
    return build(g, {values}, [&](G graph) {
      metrics::ConcatOptions options{.axis = to_int(axis, "axis")};
      if (!max_size.is_none()) options.max_size = to_int64(max_size, "max_size");
      return pair(metrics::concat_part(tensor_of(graph, values), options, to_name(scope)));
    });
  });
  def(m, "exact_area_part", [](G g, H labels, H predictions, H weights, H roc) {
    return build(g, {labels, predictions}, [&](G graph) {
      const metrics::OperationMetric metric = metrics::exact_area_part(
          tensor_of(graph, labels), tensor_of(graph, predictions), optional_tensor(graph, weights), to_bool(roc));
      return nb::make_tuple(wrap(metric.value), wrap(metric.update));
    });
  });
  def(m, "bounded_area_part", [](G g, H labels, H predictions, H weights, H alpha, H logit) {
    return build(g, {labels, predictions}, [&](G graph) {
      const metrics::AreaWithBounds area = metrics::bounded_area_part(
          tensor_of(graph, labels), tensor_of(graph, predictions), optional_tensor(graph, weights),
          {.alpha = to_double(alpha, "alpha"), .logit_transformation = to_bool(logit)});
      return nb::make_tuple(wrap(std::vector<Output>{area.auc, area.lower, area.upper}), wrap(area.update));
    });
  });
  def(m, "histogram_bins", [](G g, H scores, H low, H high, H nbins) {
    return build(g, {scores}, [&](G graph) {
      return wrap(metrics::histogram_bins(tensor_of(graph, scores), tensor_of(graph, low), tensor_of(graph, high),
                                          to_int64(nbins, "nbins")));
    });
  });
  def(m, "histogram_area", [](G g, H positives, H negatives) {
    return build(g, {positives, negatives}, [&](G graph) {
      return wrap(metrics::histogram_area(tensor_of(graph, positives), tensor_of(graph, negatives)));
    });
  });
}

}  // namespace

void bind_metrics(nb::module_& m) {
  bind_thresholds(m);
  bind_metric_parts(m);
}

}  // namespace weir::python
