#pragma once

#include <initializer_list>
#include <utility>

#include "convert.h"
#include "graph/graph_impl.h"

namespace weir::python {

// Calls a function that makes nodes: in the graph of the first tensor among `arguments`, else in `fallback`; the nodes
// carry the line of the user's program, and mistakes become Python's exceptions.
template <class F>
auto build(GraphObject& fallback, std::initializer_list<nb::handle> arguments, F f) {
  need_numpy();
  GraphObject* graph = &fallback;
  for (nb::handle argument : arguments) {
    if (const Output* found = find_tensor(argument)) {
      graph = &graph_of(found->node());
      break;
    }
  }
  LineScope line(*graph, user_line());
  try {
    return f(*graph);
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// The first argument of a composed function: it must belong to a graph.
inline In first_in(GraphObject& graph, nb::handle value, const char* name, DType want = DType::Invalid) {
  return to_output(graph, value, want, name);
}

inline std::optional<int64_t> to_seed(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return nb::cast<int64_t>(nb::steal(PyNumber_Long(value.ptr())));
}

// Defines a function of positional arguments, each of which may be None.
template <class R, class... Args, class F, size_t... I>
void def_positional(nb::module_& m, const char* name, F f, R (F::*)(Args...) const, std::index_sequence<I...>) {
  m.def(name, f, (static_cast<void>(I), nb::arg().none())...);
}
template <class R, class F, class... Args>
void def_lambda(nb::module_& m, const char* name, F f, R (F::*call)(Args...) const) {
  def_positional(m, name, f, call, std::index_sequence_for<Args...>());
}
template <class F>
void def(nb::module_& m, const char* name, F f) {
  def_lambda(m, name, f, &F::operator());
}

inline std::vector<Output> to_outputs(GraphObject& graph, nb::handle list, DType want = DType::Invalid) {
  std::vector<Output> outputs;
  for (nb::handle item : nb::iter(list)) outputs.push_back(to_output(graph, item, want, {}));
  return outputs;
}

}  // namespace weir::python
