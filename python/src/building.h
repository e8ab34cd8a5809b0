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

// A new scope, to be entered more than once: the name that the program gives, which may be one already, or the usual.
inline std::string scope_name(GraphObject& graph, const std::string& name, std::string_view usual) {
  if (name.ends_with('/')) return name;
  return graph.unique_name(name.empty() ? usual : name) + "/";
}

inline std::optional<int64_t> to_seed(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return nb::cast<int64_t>(nb::steal(PyNumber_Long(value.ptr())));
}

inline Axes to_axes(GraphObject& graph, nb::handle axis) {
  if (axis.is_none()) return {};
  return to_in(graph, axis, find_tensor(axis) ? DType::Invalid : DType::Int32);
}

// A list of integers, or one of them.
inline std::vector<int64_t> to_ints(nb::handle list) {
  auto number = [](nb::handle item) { return nb::cast<int64_t>(nb::steal(PyNumber_Index(item.ptr()))); };
  if (PyIndex_Check(list.ptr()) && !nb::hasattr(list, "__len__")) return {number(list)};
  std::vector<int64_t> numbers;
  for (nb::handle item : nb::iter(list)) numbers.push_back(number(item));
  return numbers;
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
