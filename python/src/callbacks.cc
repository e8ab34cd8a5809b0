// Functions of the program that C++ calls: gradients and the functions of py_func.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "building.h"
#include "graph/op.h"
#include "ops/control/py_func.h"
#include "weir/custom_gradient.h"

namespace weir::python {
namespace {

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

// A run holds no interpreter lock. The package answers with the values, or with the code and the message of an error.
std::vector<Tensor> call_function(std::string_view token, std::vector<Tensor> inputs, const std::vector<DType>& types) {
  nb::gil_scoped_acquire lock;
  try {
    need_numpy();
    nb::list arguments, wanted;
    for (Tensor& input : inputs) arguments.append(to_numpy(std::move(input), true));
    for (DType type : types) wanted.append(from_dtype(type));
    nb::object given = package().call_function(nb::str(token.data(), token.size()), arguments, wanted);
    if (PyTuple_Check(given.ptr())) {
      throw Error(static_cast<Code>(nb::cast<int>(given[0])), nb::cast<std::string>(given[1]));
    }
    std::vector<Tensor> outputs;
    for (nb::handle item : given) outputs.push_back(to_tensor(item, types[outputs.size()], false));
    return outputs;
  } catch (nb::python_error& raised) {
    if (raised.matches(PyExc_KeyboardInterrupt)) {  // Ctrl-C came while the function ran: it is for the program
      PyErr_SetInterrupt();
      throw Error(Code::Cancelled, "interrupted");
    }
    throw Error(Code::InvalidArgument, raised.what());  // an array of objects that are no strings
  }
}

}  // namespace

void use_gradient_functions(GraphObject& graph) {
  for (nb::handle name : package().gradient_types(wrap_graph(graph))) {
    const std::string type = nb::cast<std::string>(name);
    if (graph.impl().gradients.rules.contains(type)) continue;
    set_gradient(graph, type, [type](const Operation& op, const std::vector<Output>& grads) {
      return call_gradient(type, op, grads);
    });
  }
}

void bind_callbacks(nb::module_& m) {
  ops::set_python_caller(&call_function);
  m.def("has_gradient", [](const std::string& type) {
    const Op* op = find_op(type);
    return op && op->def->gradient;
  });
  nb::class_<OverrideGuard>(m, "GradientOverride")
      .def(nb::init<GraphObject&, const std::map<std::string, std::string>&>())
      .def("exit", [](OverrideGuard& self) { self.scope.reset(); });
}

}  // namespace weir::python
