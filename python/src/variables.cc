// Variables and the scopes that share them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "graph/variables.h"

namespace weir::python {
namespace {

using H = nb::handle;

// A Python function kept by the C++ side, released with the interpreter lock held.
std::shared_ptr<nb::object> keep(H function) {
  return {new nb::object(nb::borrow(function)), [](nb::object* object) {
            nb::gil_scoped_acquire gil;
            delete object;
          }};
}

// The package hands over functions of (shape, dtype) only; values have become functions there.
Initializer to_initializer(H function) {
  if (function.is_none()) return {};
  return Initializer::Function([kept = keep(function)](Graph& graph, const Shape& shape, DType dtype) {
    return to_output(static_cast<GraphObject&>(graph), (*kept)(from_shape(shape), from_dtype(dtype)), dtype, {});
  });
}

Regularizer to_regularizer(H function) {
  if (function.is_none()) return {};
  return [kept = keep(function)](const Output& weights) {
    nb::object loss = (*kept)(wrap(weights));
    const Output* output = tensor_of(loss);
    return output ? *output : Output();
  };
}

VariableOptions variable_options(bool trainable, H collections, H dtype, bool validate_shape, bool use_resource) {
  VariableOptions options{
      .trainable = trainable, .dtype = to_dtype(dtype), .use_resource = use_resource, .validate_shape = validate_shape};
  if (!collections.is_none()) {
    for (H name : nb::iter(collections)) options.collections.push_back(to_name(name));
  }
  return options;
}

// Fills a Variable that Python is constructing.
void create(H self, GraphObject& fallback, H initial_value, bool trainable, H collections, H name, H dtype,
            bool validate_shape, bool use_resource) {
  build(fallback, {initial_value}, [&](GraphObject& graph) {
    VariableOptions options = variable_options(trainable, collections, dtype, validate_shape, use_resource);
    const bool function =
        PyCallable_Check(initial_value.ptr()) && !tensor_of(initial_value) && !variable_of(initial_value);
    auto value = [&]() -> Output {
      nb::object given = function ? initial_value() : nb::borrow(initial_value);
      Output output = to_output(graph, given, options.dtype, "initial_value");
      if (options.dtype != DType::Invalid && output.dtype() != options.dtype) {
        PyErr_Format(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %s",
                     std::string(dtype_name(options.dtype)).c_str(), std::string(dtype_name(output.dtype())).c_str(),
                     output.name().c_str());
        throw nb::python_error();
      }
      return output;
    };
    Variable made = make_variable(graph, to_name(name), function, value, options);
    auto* object = nb::inst_ptr<VariableObject>(self);
    object->part = made;
    object->graph = wrap_graph(graph).release().ptr();
    Py_INCREF(self.ptr());
    graph.objects.insert_or_assign({made.handle().node(), GraphObject::kVariable}, self.ptr());
    return 0;
  });
}

// A variable whose nodes are in the graph already: of an imported meta graph.
nb::object from_parts(H self, H handle, H value, H initializer, H initial_value) {
  const Output ref = *tensor_of(handle);
  Output initial = initial_value.is_none() ? Output() : *tensor_of(initial_value);
  GraphObject& graph = graph_of(ref.node());
  auto known = graph.objects.find({ref.node(), GraphObject::kVariable});
  if (known != graph.objects.end()) return nb::borrow(known->second);
  auto* object = nb::inst_ptr<VariableObject>(self);
  object->part = Variable(ref, *tensor_of(value), *operation_of(initializer), initial);
  object->graph = wrap_graph(graph).release().ptr();
  Py_INCREF(self.ptr());
  graph.objects.insert_or_assign({ref.node(), GraphObject::kVariable}, self.ptr());
  return nb::borrow(self);
}

nb::object get_variable(GraphObject& g, const std::string& name, H shape, H dtype, H initializer, H regularizer,
                        bool trainable, H collections, H use_resource, bool validate_shape) {
  return build(g, {}, [&](GraphObject& graph) {
    GetVariableOptions options{.initializer = to_initializer(initializer),
                               .regularizer = to_regularizer(regularizer),
                               .trainable = trainable,
                               .validate_shape = validate_shape};
    if (!dtype.is_none()) options.dtype = to_dtype(dtype);
    if (!use_resource.is_none()) options.use_resource = nb::cast<bool>(use_resource);
    if (!collections.is_none()) {
      for (H collection : nb::iter(collections)) options.collections.push_back(to_name(collection));
    }
    return wrap(graph.get_variable(name, to_shape(shape), options));
  });
}

struct ScopeGuard {
  explicit ScopeGuard(VariableScope s) : handle(s.handle()), guard(std::make_unique<VariableScope>(std::move(s))) {}
  VariableScope handle;
  std::unique_ptr<VariableScope> guard;
};

ScopeGuard enter_scope(GraphObject& graph, H name_or_scope, bool unique, H reuse, H initializer, H regularizer, H dtype,
                       H use_resource) {
  try {
    VariableScopeOptions options{
        .initializer = to_initializer(initializer), .regularizer = to_regularizer(regularizer), .unique = unique};
    // True, False, or the number 2 for AUTO_REUSE.
    if (!reuse.is_none()) {
      const int mode = nb::cast<int>(reuse);
      options.reuse = mode == 2 ? kAutoReuse : Reuse(mode == 1);
    }
    if (!dtype.is_none()) options.dtype = to_dtype(dtype);
    if (!use_resource.is_none()) options.use_resource = nb::cast<bool>(use_resource);
    if (nb::isinstance<ScopeGuard>(name_or_scope)) {
      return ScopeGuard(variable_scope(graph, nb::inst_ptr<ScopeGuard>(name_or_scope)->handle, options));
    }
    return ScopeGuard(graph.variable_scope(to_name(name_or_scope), options));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

template <Output (*function)(const Variable&, const In&, std::string_view)>
void def_update(nb::module_& m, const char* name) {
  def(m, name, [](const VariableObject& v, H value, H node) {
    return build(graph_of(v.part.handle().node()), {}, [&](GraphObject& graph) {
      return wrap(function(v.part, to_in(graph, value, v.part.dtype()), to_name(node)));
    });
  });
}

template <Output (*function)(const Variable&, const In&, const In&, std::string_view)>
void def_scatter(nb::module_& m, const char* name) {
  def(m, name, [](const VariableObject& v, H indices, H updates, H node) {
    return build(graph_of(v.part.handle().node()), {}, [&](GraphObject& graph) {
      return wrap(function(v.part, to_in(graph, indices), to_in(graph, updates, v.part.dtype()), to_name(node)));
    });
  });
}

}  // namespace

void bind_variables(nb::module_& m) {
  auto variable = nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"));
  variable
      .def(
          "_create",
          [](H self, GraphObject& g, H initial, bool trainable, H collections, H name, H dtype, bool validate,
             bool use_resource) {
            create(self, g, initial, trainable, collections, name, dtype, validate, use_resource);
          },
          nb::arg("graph"), nb::arg("initial_value").none(), nb::arg("trainable"), nb::arg("collections").none(),
          nb::arg("name").none(), nb::arg("dtype").none(), nb::arg("validate_shape"), nb::arg("use_resource"))
      .def(
          "_from_parts",
          [](H self, H handle, H value, H initializer, H initial) {
            return from_parts(self, handle, value, initializer, initial);
          },
          nb::arg("handle"), nb::arg("value"), nb::arg("initializer"), nb::arg("initial_value").none())
      .def_prop_ro("_made", [](const VariableObject& v) { return static_cast<bool>(v.part); })
      .def_prop_ro("_handle", [](const VariableObject& v) { return wrap(v.part.handle()); })
      .def_prop_ro("_value", [](const VariableObject& v) { return wrap(v.part.value()); })
      .def_prop_ro("_value_here", [](const VariableObject& v) { return wrap(value_here(v.part)); })
      .def_prop_ro("initializer", [](const VariableObject& v) { return wrap(v.part.initializer()); })
      .def_prop_ro("initial_value", [](const VariableObject& v) { return wrap(v.part.initial_value()); })
      .def_prop_ro("_is_resource", [](const VariableObject& v) { return v.part.is_resource(); })
      .def_prop_ro("_node_name", [](const VariableObject& v) { return v.part.name(); })
      .def_prop_ro("dtype", [](const VariableObject& v) { return from_dtype(v.part.dtype()); })
      .def_prop_ro("graph", [](const VariableObject& v) { return nb::borrow(v.graph); })
      .def("_shape_tuple", [](const VariableObject& v) { return from_shape(v.part.shape()); });

  nb::class_<ScopeGuard>(m, "VariableScope")
      .def_prop_ro("name", [](const ScopeGuard& s) { return s.handle.name(); })
      .def_prop_ro("original_name_scope", [](const ScopeGuard& s) { return s.handle.original_name_scope(); })
      .def_prop_ro("reuse", [](const ScopeGuard& s) { return static_cast<int>(s.handle.reuse_mode().mode); })
      .def_prop_ro("dtype", [](const ScopeGuard& s) { return from_dtype(s.handle.dtype()); })
      .def_prop_ro("use_resource", [](const ScopeGuard& s) { return s.handle.use_resource(); })
      .def("reuse_variables", [](ScopeGuard& s) { s.handle.reuse_variables(); })
      .def(
          "set_initializer", [](ScopeGuard& s, H f) { s.handle.set_initializer(to_initializer(f)); }, nb::arg().none())
      .def(
          "set_regularizer", [](ScopeGuard& s, H f) { s.handle.set_regularizer(to_regularizer(f)); }, nb::arg().none())
      .def("set_dtype", [](ScopeGuard& s, H dtype) { s.handle.set_dtype(to_dtype(dtype)); })
      .def("set_use_resource", [](ScopeGuard& s, bool use) { s.handle.set_use_resource(use); })
      .def("exit", [](ScopeGuard& s) { s.guard.reset(); });
  def(m, "enter_variable_scope",
      [](GraphObject& g, H scope, bool unique, H reuse, H initializer, H regularizer, H dtype, H resource) {
        return enter_scope(g, scope, unique, reuse, initializer, regularizer, dtype, resource);
      });
  def(m, "current_variable_scope", [](GraphObject& g) { return ScopeGuard(g.variable_scope()); });
  def(m, "get_variable",
      [](GraphObject& g, const std::string& name, H shape, H dtype, H initializer, H regularizer, bool trainable,
         H collections, H use_resource, bool validate) {
        return get_variable(g, name, shape, dtype, initializer, regularizer, trainable, collections, use_resource,
                            validate);
      });

  def(m, "assign", [](const VariableObject& v, H value, bool validate_shape, bool use_locking, H name) {
    return build(graph_of(v.part.handle().node()), {}, [&](GraphObject& graph) {
      return wrap(assign(v.part, to_in(graph, value, v.part.dtype()), {validate_shape, use_locking}, to_name(name)));
    });
  });
  def_update<&assign_add>(m, "assign_add");
  def_update<&assign_sub>(m, "assign_sub");
  def_scatter<&scatter_add>(m, "scatter_add");
  def_scatter<&scatter_sub>(m, "scatter_sub");
  def_scatter<&scatter_update>(m, "scatter_update");
  def(m, "count_up_to", [](const VariableObject& v, int64_t limit, H name) {
    return build(graph_of(v.part.handle().node()), {},
                 [&](GraphObject&) { return wrap(count_up_to(v.part, limit, to_name(name))); });
  });
  def(m, "is_variable_initialized", [](const VariableObject& v, H name) {
    return build(graph_of(v.part.handle().node()), {},
                 [&](GraphObject&) { return wrap(is_variable_initialized(v.part, to_name(name))); });
  });
  def(m, "read_variable", [](const VariableObject& v, H name) {
    return build(graph_of(v.part.handle().node()), {},
                 [&](GraphObject&) { return wrap(read_variable(v.part, to_name(name))); });
  });
}

}  // namespace weir::python
