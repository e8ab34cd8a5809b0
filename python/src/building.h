#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <string>
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
  if (!PyFloat_Check(value.ptr())) return to_int64(value, "seed");
  nb::object whole = nb::steal(PyNumber_Long(value.ptr()));  // TensorFlow cuts the fraction off
  if (!whole.is_valid()) throw nb::python_error();
  return to_int64(whole, "seed");
}

inline Axes to_axes(GraphObject& graph, nb::handle axis) {
  if (axis.is_none()) return {};
  return to_in(graph, axis, find_tensor(axis) ? DType::Invalid : DType::Int32);
}

// A list of integers, or one of them.
inline std::vector<int64_t> to_ints(nb::handle list, const char* name) {
  if (!nb::hasattr(list, "__iter__")) return {to_int64(list, name)};
  std::vector<int64_t> numbers;
  for (nb::handle item : nb::iter(list)) numbers.push_back(to_int64(item, name));
  return numbers;
}

// An item of a list or tuple that the program gives.
inline nb::object item_of(nb::handle sequence, Py_ssize_t index) {
  nb::object item = nb::steal(PySequence_GetItem(sequence.ptr(), index));
  if (!item.is_valid()) throw nb::python_error();
  return item;
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

// Arguments by name, for functions with options: m.def(name, f, named("x"), option("cycle", Options().cycle)). The
// value of an option that the program does not give is the C++ API's own; the package shows it in its signatures (see
// core/defaults.py) and never repeats it.
inline auto named(const char* name) { return nb::arg(name).none(); }
// As Python writes the number: 0.1 for 0.1f.
inline nb::object shown(float value) { return nb::cast(std::stod(fmt::format("{}", value))); }
inline nb::object shown(double value) { return nb::cast(value); }
inline nb::object shown(bool value) { return nb::cast(value); }
inline nb::object shown(int64_t value) { return nb::cast(value); }
inline nb::object shown(std::string_view value) { return nb::cast(std::string(value)); }
inline nb::object shown(std::nullopt_t) { return nb::none(); }
inline nb::object shown(const In& value) {  // a number of the program's text
  return value.value().dtype() == DType::Int64 ? shown(value.value().scalar<int64_t>())
                                               : shown(static_cast<float>(value.value().scalar<double>()));
}
template <class T>
auto option(const char* name, const T& value) {
  if constexpr (std::is_convertible_v<T, std::string_view>) {
    return named(name) = shown(std::string_view(value));
  } else {
    return named(name) = shown(value);
  }
}

inline std::vector<Output> to_outputs(GraphObject& graph, nb::handle list, DType want = DType::Invalid) {
  std::vector<Output> outputs;
  for (nb::handle item : nb::iter(list)) outputs.push_back(to_output(graph, item, want, {}));
  return outputs;
}

}  // namespace weir::python
