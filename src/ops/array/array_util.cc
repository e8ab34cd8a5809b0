#include "ops/array/array_util.h"

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir::ops {

std::string subscript_of(const Shape& shape, int64_t i) {
  std::string at;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at = std::to_string(i % shape[d]) + (at.empty() ? "" : ",") + at;
    i /= shape[d];
  }
  return at.empty() ? at : "[" + at + "]";
}

int packed_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) throw invalid_argument("axis = {} not in [{}, {})", axis, -rank, rank);
  return wrap_axis(axis, rank);
}

Shape shape_argument(InferContext& c, int input) {
  c.require_rank(input, 1);
  std::optional<std::vector<int64_t>> sizes = c.value_as_ints(input);
  if (!sizes) return c.value_as_shape(input);
  for (int64_t size : *sizes) {
    if (size < 0) throw invalid_argument("input {} holds the negative size {}", input, size);
  }
  return Shape(*sizes);
}

std::optional<int64_t> scalar_argument(InferContext& c, int input) {
  c.require_scalar(input);
  std::optional<std::vector<int64_t>> value = c.value_as_ints(input);
  if (!value) return std::nullopt;
  return value->at(0);
}

Output to_output(Graph& graph, const In& in, std::string_view name, DType dtype) {
  if (in.output()) return in.output();
  Tensor value = in.value();
  if (in.weak()) value = convert_literal(value, dtype == DType::Invalid ? default_literal_type(value) : dtype);
  return graph.constant(value, name, in.where());
}

Graph& graph_of(std::initializer_list<const In*> arguments) {
  for (const In* in : arguments) {
    if (in->output()) return in->output().graph();
  }
  throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
}

Graph& graph_of(const InList& arguments) {
  for (const In& in : arguments.values()) {
    if (in.output()) return in.output().graph();
  }
  throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
}

}  // namespace weir::ops
