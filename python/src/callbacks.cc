// Functions of the program that C++ calls: gradients and the functions of py_func.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "building.h"
#include "graph/op.h"
#include "interrupt.h"
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
using OverrideObject = ScopeObject<GradientOverride>;

// A run holds no interpreter lock. The package answers with the values, or with the code and the message of an error.
std::vector<Tensor> call_function(std::string_view token, std::vector<Tensor> inputs, const std::vector<DType>& types,
                                  const std::stop_token* stop) {
  TryLocked locked;
  if (!locked) throw Error(Code::Cancelled, "the interpreter ends");
  try {
    need_numpy();
    nb::list arguments, wanted;
    for (Tensor& input : inputs) arguments.append(to_numpy(std::move(input)));
    for (DType type : types) wanted.append(from_dtype(type));
    nb::object given;
    stay_if_unwound([&] {
      InsideRun inside(stop);
      given = package().call_function(readable(token), arguments, wanted);
    });
    // A signal that came too late for the function.
    if (PyErr_CheckSignals() != 0) throw RaisedInRun(nb::python_error());
    if (PyTuple_Check(given.ptr())) throw Error(static_cast<Code>(to_int(given[0], "code")), to_name(given[1]));
    std::vector<Tensor> outputs;
    if (nb::len(given) != types.size()) raise(PyExc_ValueError, "the function gave another number of values");
    for (nb::handle item : given) outputs.push_back(to_tensor(item, types[outputs.size()], false));
    return outputs;
  } catch (nb::python_error& raised) {
    if (raised.matches(PyExc_KeyboardInterrupt)) throw RaisedInRun(raised);
    if (raised.matches(PyExc_MemoryError)) throw Error(Code::ResourceExhausted, raised.what());
    throw Error(Code::InvalidArgument, raised.what());  // an array of objects that are no strings
  }
}

}  // namespace

void use_gradient_functions(GraphObject& graph) {
  for (nb::handle name : package().gradient_types(wrap_graph(graph))) {
    const std::string type = to_name(name);
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
  nb::class_<OverrideObject>(m, "GradientOverride", nb::type_slots(scope_slots<OverrideObject>()))
      .def("__init__",
           [](OverrideObject* self, GraphObject& graph, const std::map<std::string, std::string>& types) {
             new (self) OverrideObject(std::make_unique<GradientOverride>(graph, types), graph);
           })
      .def("exit", &OverrideObject::leave);
}

}  // namespace weir::python
