// Functions of the program that C++ calls: gradients and the functions of py_func.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "building.h"
#include "ops/control/py_func.h"
#include "weir/custom_gradient.h"

namespace weir::python {
namespace {

// The gradient that a Python function gave for one input.
Gradient to_gradient(GraphObject& graph, nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance(value, package().indexed_slices)) {
    nb::object shape = value.attr("dense_shape");
    return IndexedSlices{to_output(graph, value.attr("values"), DType::Invalid, {}),
                         to_output(graph, value.attr("indices"), DType::Invalid, {}),
                         shape.is_none() ? Output() : to_output(graph, shape, DType::Invalid, {})};
  }
  return to_output(graph, value, DType::Invalid, {});
}

std::vector<Gradient> call_gradient(const std::string& type, const Operation& op, const std::vector<Output>& grads) {
  GraphObject& graph = graph_of(op.node());
  nb::object given = package().call_gradient(type, wrap(op), wrap(grads));
  std::vector<Gradient> result;
  for (nb::handle item : given) result.push_back(to_gradient(graph, item));
  return result;
}

// A context manager's scope; see _Entered in graph.py.
struct OverrideGuard {
  OverrideGuard(GraphObject& graph, const std::map<std::string, std::string>& types)
      : scope(std::make_unique<GradientOverride>(graph, types)) {}
  std::unique_ptr<GradientOverride> scope;
};

Code code_of(const nb::python_error& raised) {
  if (raised.matches(PyExc_TypeError) || raised.matches(PyExc_ValueError)) return Code::InvalidArgument;
  if (raised.matches(PyExc_StopIteration)) return Code::OutOfRange;
  if (raised.matches(PyExc_MemoryError)) return Code::ResourceExhausted;
  if (raised.matches(PyExc_NotImplementedError)) return Code::Unimplemented;
  return Code::Unknown;
}

// A run holds no interpreter lock; exceptions become errors of the run.
std::vector<Tensor> call_function(std::string_view token, const std::vector<Tensor>& inputs,
                                  const std::vector<DType>& types) {
  nb::gil_scoped_acquire lock;
  try {
    need_numpy();
    nb::list arguments, wanted;
    for (const Tensor& input : inputs) arguments.append(to_numpy(input.copy(), true));
    for (DType type : types) wanted.append(from_dtype(type));
    nb::object given = package().call_function(nb::str(token.data(), token.size()), arguments, wanted);
    std::vector<Tensor> outputs;
    for (nb::handle item : given) outputs.push_back(to_tensor(item, types[outputs.size()], false));
    return outputs;
  } catch (nb::python_error& raised) {
    const std::string text = nb::str(raised.value()).c_str();
    throw Error(code_of(raised), std::string(nb::str(raised.type().attr("__name__")).c_str()) + ": " + text);
  }
}

}  // namespace

void use_gradient_functions(GraphObject& graph) {
  for (nb::handle name : package().gradient_types(wrap_graph(graph))) {
    const std::string type = nb::cast<std::string>(name);
    if (graph.impl().gradient_rules.contains(type)) continue;
    set_gradient(graph, type, [type](const Operation& op, const std::vector<Output>& grads) {
      return call_gradient(type, op, grads);
    });
  }
}

void bind_callbacks(nb::module_& m) {
  ops::set_python_caller(&call_function);
  nb::class_<OverrideGuard>(m, "GradientOverride")
      .def(nb::init<GraphObject&, const std::map<std::string, std::string>&>())
      .def("exit", [](OverrideGuard& self) { self.scope.reset(); });
}

}  // namespace weir::python
