#pragma once

#include <string_view>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/graph.h"

// What composed functions need to take arguments as programs write them.
namespace weir::nn {

// The graph of the first argument that belongs to one.
template <class... Args>
Graph& graph_of(const Args&... args) {
  Graph* graph = nullptr;
  ((graph = !graph && args.output() ? &args.output().graph() : graph), ...);
  if (!graph) throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
  return *graph;
}

// The argument as an output: a value becomes a constant of that name, a literal takes the type `weak`.
inline Output as_output(Graph& graph, const In& value, DType weak, std::string_view name) {
  if (value.output()) return value.output();
  return graph.constant(value.weak() ? convert_literal(value.value(), weak) : value.value(), name);
}

// The type that literals beside these arguments take.
template <class... Args>
DType type_of(const Args&... args) {
  DType dtype = DType::Invalid;
  ((dtype = dtype == DType::Invalid && args.output() ? args.output().dtype() : dtype), ...);
  ((dtype = dtype == DType::Invalid && !args.weak() ? args.value().dtype() : dtype), ...);
  return dtype == DType::Invalid ? float32 : dtype;
}

}  // namespace weir::nn
