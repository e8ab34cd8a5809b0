#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <any>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gil.h"
#include "weir/weir.h"

// The Python objects that stand for a graph and its parts.
namespace weir::python {

namespace nb = nanobind;

// What the Python package gives the extension at import: its own classes and functions.
struct Package {
  nb::object tensor, operation, variable;  // subclasses of the classes below
  nb::object indexed_slices;               // IndexedSlices(values, indices, dense_shape)
  nb::object as_dtype;                     // anything that names a type -> DType
  nb::object dtypes;                       // {TensorFlow's number: DType}
  nb::object make_error;                   // errors.from_parts(code, message, op, node, file, line)
  nb::object make_build_error;             // errors.of_building(code, message)
  nb::object convert;                      // an object of another kind -> Tensor, or None
  nb::object expand_fetch;                 // an object of another kind -> (tensors, function that puts it together)
  nb::object expand_feed;                  // (key, value) of another kind -> [(tensor, value)]
  nb::object tensor_handle;                // (bytes, DType, session): what fetching a GetSessionHandle gives
  nb::object record_metadata;              // (RunMetadata, serialised StepStats)
  nb::object gradient_types;               // graph -> the types that the program has gradient functions for
  nb::object call_gradient;                // (type, Operation, [output gradient]) -> [input gradient]
  nb::object call_function;                // (token, [array], [DType]) -> [array], or (code, message): tf.py_func
  std::string directory;                   // frames of files below it are not the user's
};
Package& package();

// A graph and the Python objects of its parts: one for each, so that `is` and attributes that programs set on them
// work. They refer to the graph and the graph to them; the garbage collector sees both.
struct GraphObject : Graph {
  struct Key {
    const Node* node;
    int index;  // of the output; kOperation, kVariable
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.node) * 31 + static_cast<size_t>(key.index);
    }
  };
  static constexpr int kOperation = -1, kVariable = -2;
  ~GraphObject();
  void forget();
  // Keeps a function of the program for the graph's own structures, which refer to it weakly (see Function).
  void keep(nb::handle function);

  std::unordered_map<Key, PyObject*, Hash> objects;
  std::vector<PyObject*> functions;
};

// A part of a graph and a reference to the graph's object.
template <class Part>
struct PartObject {
  PartObject() = default;
  PartObject(const Part& p, PyObject* g) : part(p), graph(g) { Py_INCREF(g); }
  ~PartObject() { Py_XDECREF(graph); }
  PartObject(const PartObject&) = delete;
  PartObject& operator=(const PartObject&) = delete;

  Part part;
  PyObject* graph = nullptr;
};

// A scope of a graph's construction context, left by leave(). It keeps the graph: a program may leave a scope when it
// has forgotten the graph.
template <class Guard>
struct ScopeObject {
  ScopeObject(std::unique_ptr<Guard> s, GraphObject& g);
  ScopeObject(ScopeObject&& other) noexcept
      : scope(std::move(other.scope)), graph(std::exchange(other.graph, nullptr)) {}
  ~ScopeObject() { leave(); }
  void leave() {
    scope.reset();
    Py_CLEAR(graph);
  }

  std::unique_ptr<Guard> scope;
  PyObject* graph;  // null when the scope is left
};
struct TensorObject : PartObject<Output> {
  using PartObject::PartObject;
};
struct OperationObject : PartObject<Operation> {
  using PartObject::PartObject;
};
struct VariableObject : PartObject<Variable> {
  using PartObject::PartObject;
};

// The attributes that a program has set on an object, for the garbage collector: null when there are none.
PyObject* attributes_of(PyObject* self);
void clear_attributes(PyObject* self);

GraphObject& graph_of(const Node* node);
// Of a Variable; throw ValueError when its constructor failed.
const Variable& made(const VariableObject& variable);
GraphObject& graph_of(const VariableObject& variable);
nb::object wrap_graph(Graph& graph);
nb::object wrap(const Output& output);  // None for an empty one
nb::object wrap(const Operation& operation);
nb::object wrap(const Variable& variable);
nb::object wrap(const Gradient& gradient);
nb::list wrap(const std::vector<Output>& outputs);
nb::list wrap(const std::vector<Variable>& variables);

// The part that an object stands for, or null.
const Output* tensor_of(nb::handle object);
const Operation* operation_of(nb::handle object);
const Variable* variable_of(nb::handle object);
// Throws TypeError when it is none.
const Variable& variable_in(nb::handle object);

// An item of a collection: parts as themselves, anything else as the Python object.
std::any to_item(nb::handle object);
nb::object from_item(const std::any& item);

template <class Guard>
ScopeObject<Guard>::ScopeObject(std::unique_ptr<Guard> s, GraphObject& g)
    : scope(std::move(s)), graph(wrap_graph(g).release().ptr()) {}

// The slots of a type of ScopeObject.
template <class Object>
PyType_Slot* scope_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) {
         Py_VISIT(Py_TYPE(self));
         if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Object>(self)->graph);
         return 0;
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) {
         if (nb::inst_ready(self)) nb::inst_ptr<Object>(self)->leave();
         return 0;
       })},
      {0, nullptr}};
  return slots;
}

// What a session is made with, from the dictionary that the package makes of a ConfigProto.
SessionOptions to_session_options(nb::dict given);

// The session that a Python object is; throws RuntimeError when it is closed, TypeError when it is none.
Session& session_of(nb::handle object);

// A function of the program that C++ structures of a graph refer to for as long as they live: the initializer of a
// variable scope. Such functions refer to the graph's tensors in turn, and the garbage collector does not see through
// C++; so this is a weak reference, and the graph's object holds the strong one. What cannot be referred to weakly
// (functions of extensions) refers to no graph, and is held here.
class Function {
 public:
  Function(GraphObject& owner, nb::handle function);
  nb::object get() const;  // throws RuntimeError when it is gone

 private:
  std::shared_ptr<PyObject> reference_;
  bool weak_;
};

// A KeyboardInterrupt that a function of the program raised while a run called it, or whatever its handler of SIGINT
// raised then. The run ends, and the exception is what the program gets of it.
class RaisedInRun : public Error {
 public:
  explicit RaisedInRun(const nb::python_error& raised)
      : Error(Code::Cancelled, "interrupted", "PyFunc", "py_func", {}), raised_(raised) {}
  [[noreturn]] void raise_again() const { throw nb::python_error(raised_); }

 private:
  nb::python_error raised_;  // acquires the interpreter lock by itself where it needs it
};

// Lets gradients() in this graph ask the functions that the program has registered.
void use_gradient_functions(GraphObject& graph);

// The line of the innermost Python frame that is not of this package.
SourceLine user_line();

// Raises a Python exception.
[[noreturn]] void raise(PyObject* type, const std::string& message);
// Turns weir::Error into the exception that the tables of errors.py have for its code: of building (errors.of_building)
// and of running (errors.from_parts). Called in handlers.
[[noreturn]] void raise_build_error(const Error& error);
// `graph` is where the operation that failed is looked up, if there is one.
[[noreturn]] void raise_run_error(const Error& error, GraphObject* graph = nullptr);

void bind_objects(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_session(nb::module_& m);
void bind_server(nb::module_& m);
void bind_variables(nb::module_& m);
void bind_composed(nb::module_& m);
void bind_layer_calls(nb::module_& m);
void bind_flow(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_functions(nb::module_& m);
void bind_distributions(nb::module_& m);
void bind_signal(nb::module_& m);
void bind_train(nb::module_& m);
void bind_training(nb::module_& m);
void bind_queues(nb::module_& m);
void bind_collectives(nb::module_& m);
void bind_image(nb::module_& m);
void bind_saved_models(nb::module_& m);
void bind_io(nb::module_& m);
void bind_callbacks(nb::module_& m);
void bind_old_numpy(nb::module_& m);

}  // namespace weir::python
