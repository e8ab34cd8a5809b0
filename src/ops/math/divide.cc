#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/ops.h"

namespace weir {
namespace {

Graph& graph_of(const In& x, const In& y) {
  const In& in = x.output() ? x : y;
  if (!in.output()) throw invalid_argument("no argument of the division belongs to a graph");
  return in.output().graph();
}

// What both operands of a division are: the type of the tensor among them.
DType common_type(const In& x, const In& y) {
  if (x.output()) return x.output().dtype();
  if (y.output()) return y.output().dtype();
  return x.value().dtype();
}

// The type in which integers are divided as real numbers.
DType quotient_type(DType dtype) {
  switch (dtype) {
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      return float32;
    case DType::Int32:
    case DType::Int64:
    case DType::UInt32:
    case DType::UInt64:
      return float64;
    default:
      return dtype;
  }
}

Output as_output(Graph& graph, const In& in, DType dtype, std::string_view name) {
  if (in.output()) return in.output();
  return graph.constant(in.weak() ? convert_literal(in.value(), dtype) : in.value(), name);
}

}  // namespace

Output truediv(const In& x, const In& y, std::string_view name) {
  if (name.empty()) name = "truediv";
  DType dtype = common_type(x, y), quotient = quotient_type(dtype);
  if (quotient == dtype) return NodeBuilder("RealDiv", name).input(x).input(y).output();
  Graph& graph = graph_of(x, y);
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope(name);
  Output left = as_output(graph, x, dtype, "x"), right = as_output(graph, y, dtype, "y");
  return NodeBuilder("RealDiv", scope.name()).input(cast(left, quotient)).input(cast(right, quotient)).output();
}

Output divide(const In& x, const In& y, std::string_view name) { return truediv(x, y, name); }

Output operator/(const In& x, const In& y) { return truediv(x, y); }

Output div(const In& x, const In& y, std::string_view name) {
  DType dtype = common_type(x, y);
  bool real = is_floating(dtype) || is_complex(dtype);
  return NodeBuilder(real ? "RealDiv" : "FloorDiv", name.empty() ? "div" : name).input(x).input(y).output();
}

}  // namespace weir
