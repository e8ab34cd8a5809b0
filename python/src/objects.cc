#include "objects.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>

#include "convert.h"
#include "graph/graph_impl.h"

namespace weir::python {
namespace {

// A Python object in a collection of the C++ graph.
struct Foreign {
  explicit Foreign(PyObject* o) : object(o, release) { Py_INCREF(o); }
  std::shared_ptr<PyObject> object;
};

// An item of a collection that only C++ knows, on its way through Python.
struct ItemObject {
  std::any item;
};

int traverse_graph(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(attributes_of(self));
  if (!nb::inst_ready(self)) return 0;
  auto* graph = nb::inst_ptr<GraphObject>(self);
  for (auto& [key, object] : graph->objects) Py_VISIT(object);
  for (PyObject* function : graph->functions) Py_VISIT(function);
  for (const std::string& name : graph->collection_names()) {
    for (const std::any& item : graph->collection(name)) {
      if (const auto* foreign = std::any_cast<Foreign>(&item)) Py_VISIT(foreign->object.get());
    }
  }
  return 0;
}

int clear_graph(PyObject* self) {
  clear_attributes(self);
  if (!nb::inst_ready(self)) return 0;
  nb::inst_ptr<GraphObject>(self)->forget();
  return 0;
}

template <class Object>
int traverse_part(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(attributes_of(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Object>(self)->graph);
  return 0;
}

template <class Object>
int clear_part(PyObject* self) {
  clear_attributes(self);
  if (nb::inst_ready(self)) Py_CLEAR(nb::inst_ptr<Object>(self)->graph);
  return 0;
}

template <class Object>
PyType_Slot* part_slots() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_part<Object>)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_part<Object>)},
                                {0, nullptr}};
  return slots;
}

PyType_Slot kGraphSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_graph)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_graph)},
                             {0, nullptr}};

// The object of a part, made at the first request.
template <class Object, class Part>
nb::object wrap_part(const Node* node, int index, const Part& part, const nb::object& type) {
  GraphObject& graph = graph_of(node);
  auto [entry, fresh] = graph.objects.try_emplace({node, index}, nullptr);
  if (fresh) {
    nb::object object = nb::inst_alloc(type);
    new (nb::inst_ptr<Object>(object)) Object(part, wrap_graph(graph).ptr());
    nb::inst_mark_ready(object);
    entry->second = object.release().ptr();
  }
  return nb::borrow(entry->second);
}

// The part inside an object, if it has been made (a Variable whose constructor failed has none).
template <class Object>
auto part_of(nb::handle object) -> decltype(&nb::inst_ptr<Object>(object)->part) {
  if (!nb::isinstance<Object>(object) || !nb::inst_ready(object)) return nullptr;
  auto* part = &nb::inst_ptr<Object>(object)->part;
  return *part ? part : nullptr;
}

}  // namespace

PyObject* attributes_of(PyObject* self) {
  PyObject** dict = _PyObject_GetDictPtr(self);
  return dict ? *dict : nullptr;
}

void clear_attributes(PyObject* self) {
  if (PyObject** dict = _PyObject_GetDictPtr(self)) Py_CLEAR(*dict);
}

Package& package() {
  static auto* instance = new Package;  // never destroyed: the interpreter is gone by then
  return *instance;
}

GraphObject::~GraphObject() { forget(); }

void GraphObject::forget() {
  auto gone = std::exchange(objects, {});
  auto kept = std::exchange(functions, {});
  auto items = std::exchange(impl().collections, {});  // also of a finalized graph; they hold objects of the program
  for (auto& [key, object] : gone) Py_DECREF(object);
  for (PyObject* function : kept) Py_DECREF(function);
}

void GraphObject::keep(nb::handle function) {
  if (std::find(functions.begin(), functions.end(), function.ptr()) != functions.end()) return;
  functions.push_back(function.ptr());
  Py_INCREF(function.ptr());
}

Function::Function(GraphObject& owner, nb::handle function) {
  PyObject* reference = PyWeakref_NewRef(function.ptr(), nullptr);
  weak_ = reference != nullptr;
  if (weak_) {
    owner.keep(function);
  } else {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    reference = nb::borrow(function).release().ptr();
  }
  reference_ = {reference, release};
}

nb::object Function::get() const {
  if (!weak_) return nb::borrow(reference_.get());
  nb::object function = nb::handle(reference_.get())();
  if (function.is_none()) raise(PyExc_RuntimeError, "a function of a scope is gone with the graph of the scope");
  return function;
}

GraphObject& graph_of(const Node* node) { return static_cast<GraphObject&>(*node->graph); }

const Variable& made(const VariableObject& variable) {
  if (!variable.part) raise(PyExc_ValueError, "the variable was not made: its constructor failed");
  return variable.part;
}

GraphObject& graph_of(const VariableObject& variable) { return graph_of(made(variable).handle().node()); }

nb::object wrap_graph(Graph& graph) { return nb::find(static_cast<GraphObject&>(graph)); }

nb::object wrap(const Output& output) {
  if (!output) return nb::none();
  return wrap_part<TensorObject>(output.node(), output.index(), output, package().tensor);
}

nb::object wrap(const Operation& operation) {
  if (!operation) return nb::none();
  return wrap_part<OperationObject>(operation.node(), GraphObject::kOperation, operation, package().operation);
}

nb::object wrap(const Variable& variable) {
  if (!variable) return nb::none();
  return wrap_part<VariableObject>(variable.handle().node(), GraphObject::kVariable, variable, package().variable);
}

nb::object wrap(const Gradient& gradient) {
  if (gradient.none()) return nb::none();
  if (!gradient.sparse()) return wrap(gradient.dense());
  const IndexedSlices& slices = gradient.slices();
  return package().indexed_slices(wrap(slices.values), wrap(slices.indices), wrap(slices.dense_shape));
}

nb::list wrap(const std::vector<Output>& outputs) {
  nb::list list;
  for (const Output& output : outputs) list.append(wrap(output));
  return list;
}

nb::list wrap(const std::vector<Variable>& variables) {
  nb::list list;
  for (const Variable& variable : variables) list.append(wrap(variable));
  return list;
}

const Output* tensor_of(nb::handle object) { return part_of<TensorObject>(object); }
const Operation* operation_of(nb::handle object) { return part_of<OperationObject>(object); }
const Variable* variable_of(nb::handle object) { return part_of<VariableObject>(object); }

const Variable& variable_in(nb::handle object) {
  const Variable* variable = variable_of(object);
  if (!variable) raise(PyExc_TypeError, "Argument is not a tf.Variable: " + text_of(object));
  return *variable;
}

std::any to_item(nb::handle object) {
  if (const Output* output = tensor_of(object)) return *output;
  if (const Operation* operation = operation_of(object)) return *operation;
  if (const Variable* variable = variable_of(object)) return *variable;
  if (nb::isinstance<ItemObject>(object)) return nb::cast<const ItemObject&>(object).item;
  return Foreign(object.ptr());
}

nb::object from_item(const std::any& item) {
  if (const auto* output = std::any_cast<Output>(&item)) return wrap(*output);
  if (const auto* operation = std::any_cast<Operation>(&item)) return wrap(*operation);
  if (const auto* variable = std::any_cast<Variable>(&item)) return wrap(*variable);
  if (const auto* foreign = std::any_cast<Foreign>(&item)) return nb::borrow(foreign->object.get());
  if (const auto* text = std::any_cast<std::string>(&item)) {
    PyObject* decoded = PyUnicode_DecodeUTF8(text->data(), static_cast<Py_ssize_t>(text->size()), "strict");
    if (decoded) return nb::steal(decoded);
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
    PyErr_Clear();
    return nb::bytes(text->data(), text->size());
  }
  if (const auto* number = std::any_cast<int64_t>(&item)) return nb::cast(*number);
  if (const auto* number = std::any_cast<float>(&item)) return nb::cast(*number);
  return nb::cast(ItemObject{item});
}

SourceLine user_line() {
  const std::string& own = package().directory;
  SourceLine line;
  auto frame = nb::steal<nb::object>(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame.is_valid()) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.ptr());
    auto code = nb::steal<nb::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    nb::object file = code.attr("co_filename");
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(file.ptr(), &size);
    if (!text) {  // a name that is no UTF-8
      if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) throw nb::python_error();
      PyErr_Clear();
      break;
    }
    std::string_view path(text, static_cast<size_t>(size));
    if (own.empty() || !path.starts_with(own)) {
      line.file = path;
      line.line = static_cast<uint32_t>(PyFrame_GetLineNumber(f));
      break;
    }
    frame = nb::steal<nb::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  return line;
}

void raise(PyObject* type, const std::string& message) {
  PyErr_SetObject(type, readable(message).ptr());
  throw nb::python_error();
}

void raise_build_error(const Error& error) {
  nb::object exception = package().make_build_error(static_cast<int>(error.code()), static_cast<int>(error.fault()),
                                                    readable(error.what()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void raise_run_error(const Error& error, GraphObject* graph) {
  nb::object failed = graph && !error.node().empty() ? wrap(graph->find(error.node())) : nb::none();
  nb::object exception =
      package().make_error(static_cast<int>(error.code()), readable(error.message()), readable(error.op()),
                           readable(error.node()), readable(error.line().file), error.line().line, failed);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

// The classes themselves; what they can do is in graph.cc.
void bind_objects(nb::module_& m) {
  nb::class_<GraphObject>(m, "Graph", nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(kGraphSlots))
      .def(nb::init<>());
  nb::class_<TensorObject>(m, "Tensor", nb::dynamic_attr(), nb::is_weak_referenceable(),
                           nb::type_slots(part_slots<TensorObject>()));
  nb::class_<OperationObject>(m, "Operation", nb::dynamic_attr(), nb::is_weak_referenceable(),
                              nb::type_slots(part_slots<OperationObject>()));
  nb::class_<VariableObject>(m, "Variable", nb::dynamic_attr(), nb::is_weak_referenceable(),
                             nb::type_slots(part_slots<VariableObject>()))
      .def(nb::init<>());
  nb::class_<ItemObject>(m, "CollectionItem");
}

}  // namespace weir::python
