// Nested fetches: flattened into tensors and targets, and put together again from their values.
#include "graph/bodies.h"
#include "run_arguments.h"

namespace weir::python {
namespace {

// Counts a level of nested containers; throws RecursionError when there are too many, as in a list that holds itself.
struct Level {
  Level() {
    if (Py_EnterRecursiveCall(" in the fetches of a run")) throw nb::python_error();
  }
  ~Level() { Py_LeaveRecursiveCall(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
};

// The flow of an array stays in the session. As in TensorFlow, who fetches it gets the number 0, once it is there.
bool is_flow(const Output& output) { return output.dtype() == DType::Variant; }

// The handle of a tensor that the session keeps.
bool is_stored(const Output& output) {
  return output.dtype() == DType::String && output.op().type() == "GetSessionHandle";
}

// Tensors of a loop have one value in every iteration.
void check_fetchable(const Node& node) {
  if (node.body && enclosing_loop(node)) {
    raise(PyExc_ValueError, "Operation '" + node.name + "' has been marked as not fetchable.");
  }
}

// Functions of the program that the run called may have changed the containers meanwhile.
template <class T>
T& next_of(std::vector<T>& list, size_t& next) {
  if (next >= list.size()) raise(PyExc_RuntimeError, "the fetches were changed during the run");
  return list[next++];
}

}  // namespace

Fetches::Fetches(GraphObject& graph, nb::handle fetches, nb::handle session)
    : graph_(graph), structure_(fetches), session_(session) {
  visit(fetches);
}

nb::object Fetches::build(std::vector<Tensor>& values) {
  values_ = &values;
  next_ = next_foreign_ = 0;
  return build(structure_);
}

int Fetches::traverse(visitproc visitor, void* arg) const {
  for (const Foreign& foreign : foreign_) {
    for (PyObject* object : {foreign.tensors.ptr(), foreign.assemble.ptr()}) {
      if (const int stopped = visitor(object, arg)) return stopped;
    }
  }
  return 0;
}

void Fetches::check_graph(const Graph& graph, nb::handle object) const {
  if (&graph == static_cast<Graph*>(&graph_)) return;
  raise(PyExc_ValueError, "Fetch argument " + text_of(object) + " cannot be interpreted as a Tensor. (" +
                              text_of(object) + " is not an element of this graph.)");
}

// An operation or a tensor by name.
nb::object Fetches::by_name(nb::handle object) const {
  const std::string name = to_name(object);
  const bool is_tensor = name.find(':') != std::string::npos;
  try {
    return is_tensor ? wrap(graph_.output(name)) : wrap(graph_.operation(name));
  } catch (const Error& error) {
    const std::string reason =
        is_tensor ? error.message() : "The name '" + name + "' refers to an Operation not in the graph.";
    raise(PyExc_ValueError, "Fetch argument '" + name + "' cannot be interpreted as a Tensor. (" + reason + ")");
  }
}

void Fetches::visit(nb::handle object) {
  Level level;
  if (const Output* output = tensor_of(object)) {
    check_graph(output->graph(), object);
    check_fetchable(*output->node());
    if (is_flow(*output)) {
      targets.push_back(output->op());
    } else {
      outputs.push_back(*output);
    }
  } else if (const Operation* operation = operation_of(object)) {
    check_graph(operation->graph(), object);
    check_fetchable(*operation->node());
    targets.push_back(*operation);
  } else if (const Variable* variable = variable_of(object)) {
    check_graph(variable->graph(), object);
    outputs.push_back(variable->value());
  } else if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    for (nb::handle item : object) visit(item);
  } else if (PyDict_Check(object.ptr())) {
    for (auto [key, value] : nb::borrow<nb::dict>(object)) visit(value);
  } else if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr())) {
    foreign_.push_back({nb::make_tuple(by_name(object)), nb::none()});
    visit(foreign_.back().tensors[0]);
  } else {
    nb::object expanded = object.is_none() ? nb::none() : package().expand_fetch(object);
    if (expanded.is_none()) {
      raise(PyExc_TypeError, "Fetch argument " + text_of(object) + " has invalid type " +
                                 text_of(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())))) +
                                 ", must be a string or Tensor. (Can not convert a " + Py_TYPE(object.ptr())->tp_name +
                                 " into a Tensor or Operation.)");
    }
    foreign_.push_back({nb::borrow(expanded[0]), nb::borrow(expanded[1])});
    for (nb::handle tensor : nb::list(foreign_.back().tensors)) visit(tensor);
  }
}

nb::object Fetches::build(nb::handle object) {
  Level level;
  if (const Output* output = tensor_of(object); output && is_flow(*output)) return to_numpy(Tensor(0.f));
  if (const Output* output = tensor_of(object); output && is_stored(*output)) {
    nb::object handle = to_numpy(std::move(next_of(*values_, next_)));
    return package().tensor_handle(handle, from_dtype(output->op().input(0).dtype()), session_);
  }
  if (tensor_of(object) || variable_of(object)) return to_numpy(std::move(next_of(*values_, next_)));
  if (operation_of(object)) return nb::none();
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    nb::list items;
    for (nb::handle item : object) items.append(build(item));
    if (PyList_Check(object.ptr())) return items;
    if (nb::hasattr(object, "_fields")) {
      return nb::borrow<nb::object>(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())))(*items);
    }
    return nb::tuple(items);
  }
  if (PyDict_Check(object.ptr())) {
    nb::object result = PyDict_CheckExact(object.ptr())
                            ? nb::object(nb::dict())
                            : nb::borrow<nb::object>(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())))();
    for (auto [key, value] : nb::borrow<nb::dict>(object)) result[key] = build(value);
    return result;
  }
  const Foreign& foreign = next_of(foreign_, next_foreign_);
  if (foreign.assemble.is_none()) return build(foreign.tensors[0]);
  nb::list values;
  for (nb::handle tensor : nb::list(foreign.tensors)) values.append(build(tensor));
  return foreign.assemble(values);
}

}  // namespace weir::python
