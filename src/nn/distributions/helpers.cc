#include "nn/distributions/helpers.h"

#include <limits>

#include "weir/linalg_ops.h"

namespace weir::distributions {

Graph& graph_of(const Options& options, std::initializer_list<const In*> parameters) {
  for (const In* parameter : parameters) {
    if (parameter->output()) return parameter->output().graph();
  }
  if (!options.graph) throw invalid_argument("no parameter belongs to a graph; say which by {{.graph = &g}}");
  return *options.graph;
}

Scope enter(Graph& graph, const Options& options, std::string_view usual) {
  return graph.name_scope(options.name.empty() ? usual : options.name);
}

std::vector<Output> tensors(Graph& graph, std::initializer_list<std::pair<const In*, std::string_view>> parameters,
                            DType preferred) {
  for (const auto& [in, name] : parameters) {
    if (preferred == DType::Invalid && in->output()) preferred = in->output().dtype();
  }
  std::vector<Output> found;
  for (const auto& [in, name] : parameters) {
    if (preferred == DType::Invalid) {
      const DType own = in->weak() ? float32 : in->value().dtype();
      preferred = is_floating(own) || is_complex(own) ? own : float32;
    }
    const Output tensor = nn::as_output(graph, *in, preferred, name);
    found.push_back(in->output() ? tensor : cast(tensor, preferred));
  }
  return found;
}

Output checked(bool wanted, const Output& tensor, const std::function<std::vector<Check>()>& checks) {
  if (!wanted) return tensor;
  std::vector<Operation> made;
  for (const Check& check : checks()) {
    made.push_back(assert_true(reduce_all(check.condition), {std::string(check.message), check.shown}));
  }
  auto after = tensor.graph().control_dependencies(made);
  return identity(tensor);
}

Output positive(bool wanted, const Output& tensor, std::string_view name) {
  const std::string message = fmt::format("{} must be positive.", name);
  return checked(wanted, tensor, [&] { return std::vector<Check>{{tensor > 0, message, tensor}}; });
}

Output number_like(const Output& x, double value) { return x.graph().constant(Literal(value), x.dtype()); }
Output filled_like(const Output& x, double value) { return fill(shape(x), number_like(x, value)); }
Output column(const Output& x) { return subscript(x, {kEllipsis, kNewAxis}); }
Output row(const Output& x) { return subscript(x, {kEllipsis, kNewAxis, kAll}); }
Output without_last(const Output& vector) { return subscript(vector, {until(-1)}); }
Output last(const Output& vector) { return subscript(vector, {from(-1)}); }

Shape without_last(const Shape& shape) {
  if (!shape.has_rank()) return shape;
  return Shape(shape.dims().first(shape.dims().size() - 1));
}

Shape last(const Shape& shape) { return shape.has_rank() ? Shape{shape.dim(-1)} : Shape::unknown_dims(1); }

Shape joined(const Shape& first, const Shape& second) {
  if (!first.has_rank() || !second.has_rank()) return Shape::unknown();
  Shape both = first;
  for (int64_t size : second.dims()) both.append(size);
  return both;
}

double smallest(DType dtype) {
  constexpr double kHalf = 6.103515625e-05;
  if (dtype == float64) return std::numeric_limits<double>::min();
  return dtype == float16 ? kHalf : static_cast<double>(std::numeric_limits<float>::min());
}

Output random_gamma(const Output& n, const Output& alpha, const std::optional<Output>& beta, Seed seed) {
  Graph& graph = alpha.graph();
  auto scope = graph.name_scope("random_gamma");
  const Output rate = beta ? *beta : number_like(alpha, 1);
  const Output shapes = alpha + zeros_like(rate);
  const Seeds seeds = graph.next_seeds(seed);
  const Output drawn = NodeBuilder("RandomGamma")
                           .input(reshape(n, {1}))
                           .input(shapes)
                           .attr("seed", seeds.seed)
                           .attr("seed2", seeds.seed2)
                           .output();
  return maximum(number_like(alpha, smallest(alpha.dtype())), drawn / rate);
}

Output standard_normal(const Output& shape, DType dtype, Seed seed) {
  return random_normal(shape.graph(), shape, {.mean = 0.0, .stddev = 1.0, .dtype = dtype, .seed = seed});
}

Output or_nan(bool allow_nan_stats, const Output& defined, const Output& value, std::string_view message) {
  const Output everywhere = logical_and(defined, ones_like(value, boolean));
  if (allow_nan_stats) return where(everywhere, value, filled_like(value, std::numeric_limits<double>::quiet_NaN()));
  auto after = value.graph().control_dependencies({assert_true(reduce_all(everywhere), {std::string(message)})});
  return identity(value);
}

Output covariance_of(const Output& x, const Output& y, const Output& diagonal) {
  return matrix_set_diag(-matmul(column(x), row(y)), diagonal);
}

LogitsAndProbs logits_and_probs(Graph& graph, const Odds& odds, bool validate_args, bool multidimensional) {
  if (odds.logits.has_value() == odds.probs.has_value()) {
    throw invalid_argument("Must pass probs or logits, but not both.");
  }
  auto scope = graph.name_scope("get_logits_and_probs");
  if (odds.logits) {
    const Output logits = tensors(graph, {{&*odds.logits, "logits"}})[0];
    return {logits, multidimensional ? nn::softmax(logits, "probs") : sigmoid(logits, "probs")};
  }
  const Output given = tensors(graph, {{&*odds.probs, "probs"}})[0];
  const Output probs = checked(validate_args, given, [&] {
    std::vector<Check> checks = {{given >= 0, "probs must be non-negative.", given},
                                 {given <= 1, "probs has components greater than 1.", given}};
    if (multidimensional) {
      checks.push_back({abs(reduce_sum(given, -1) - 1.0) < 1e-3, "probs does not sum to 1.", given});
    }
    return checks;
  });
  return {multidimensional ? log(probs) : log(probs) - log1p(-probs), probs};
}

Output log_choose(const Output& total, const Output& counts) {
  return lgamma(1.0 + total) - lgamma(1.0 + counts) - lgamma(1.0 + total - counts);
}

}  // namespace weir::distributions
