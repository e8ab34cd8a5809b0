// Variables and the scopes that share them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "graph/variables.h"
#include "nn/variable_store.h"

namespace weir::python {
namespace {

using H = nb::handle;

// The package hands over functions of (shape, dtype, part) only; what a scope remembers is made of values there. `get`
// gives the function when it is needed; `part` is None or (full shape, offset).
template <class Get>
Initializer initializer_from(Get get) {
  return Initializer::PartFunction([get](Graph& graph, const Shape& shape, DType dtype, const PartitionInfo* part) {
    nb::object info = nb::none();
    if (part) info = nb::make_tuple(from_shape(part->full_shape), from_shape(Shape(part->offset)));
    return to_output(static_cast<GraphObject&>(graph), get()(from_shape(shape), from_dtype(dtype), info), dtype, {});
  });
}

template <class Get>
Regularizer regularizer_from(Get get) {
  return [get](const Output& weights) {
    nb::object loss = get()(wrap(weights));
    const Output* output = tensor_of(loss);
    return output ? *output : Output();
  };
}

// Functions for one call.
Initializer to_initializer(H function) {
  if (function.is_none()) return {};
  return initializer_from([function] { return nb::borrow(function); });
}
Regularizer to_regularizer(H function) {
  if (function.is_none()) return {};
  return regularizer_from([function] { return nb::borrow(function); });
}

// Functions that a scope of the graph remembers.
Initializer kept_initializer(GraphObject& graph, H function) {
  if (function.is_none()) return {};
  return initializer_from([kept = Function(graph, function)] { return kept.get(); });
}
Regularizer kept_regularizer(GraphObject& graph, H function) {
  if (function.is_none()) return {};
  return regularizer_from([kept = Function(graph, function)] { return kept.get(); });
}

// None: those that variables join by themselves. An empty list: none at all.
std::vector<std::string> to_collections(H collections) {
  std::vector<std::string> names;
  if (collections.is_none()) return names;
  for (H name : nb::iter(collections)) names.push_back(to_name(name));
  if (names.empty()) names.emplace_back();
  return names;
}

VariableOptions variable_options(bool trainable, H collections, H dtype, bool validate_shape, bool use_resource) {
  return {.trainable = trainable,
          .collections = to_collections(collections),
          .dtype = to_dtype(dtype),
          .use_resource = use_resource,
          .validate_shape = validate_shape};
}

// Makes `self` the object of the variable.
void fill(nb::pointer_and_handle<VariableObject> self, GraphObject& graph, const Variable& made) {
  self.p->part = made;
  self.p->graph = wrap_graph(graph).release().ptr();
  Py_INCREF(self.h.ptr());
  graph.objects.insert_or_assign({made.handle().node(), GraphObject::kVariable}, self.h.ptr());
}

// Fills a Variable that Python is constructing.
void create(nb::pointer_and_handle<VariableObject> self, GraphObject& fallback, H initial_value, bool trainable,
            H collections, H name, H dtype, bool validate_shape, bool use_resource) {
  if (self.p->part) raise(PyExc_RuntimeError, "the variable is made already");
  build(fallback, {initial_value}, [&](GraphObject& graph) {
    VariableOptions options = variable_options(trainable, collections, dtype, validate_shape, use_resource);
    const bool function =
        PyCallable_Check(initial_value.ptr()) && !tensor_of(initial_value) && !variable_of(initial_value);
    auto value = [&]() -> Output {
      nb::object given = function ? initial_value() : nb::borrow(initial_value);
      Output output = to_output(graph, given, options.dtype, "initial_value");
      if (options.dtype != DType::Invalid && output.dtype() != options.dtype) {
        raise(PyExc_ValueError, "Tensor conversion requested dtype " + std::string(dtype_name(options.dtype)) +
                                    " for Tensor with dtype " + std::string(dtype_name(output.dtype())) + ": " +
                                    output.name());
      }
      return output;
    };
    fill(self, graph, make_variable(graph, to_name(name), function, value, options));
    return 0;
  });
}

// A variable whose nodes are in the graph already: of an imported meta graph, or a second object of one that Python knows.
nb::object from_parts(nb::pointer_and_handle<VariableObject> self, const TensorObject& handle,
                      const TensorObject& value, const OperationObject& initializer, H initial_value) {
  if (self.p->part) raise(PyExc_RuntimeError, "the variable is made already");
  const Output ref = handle.part;
  const Output* initial = tensor_of(initial_value);
  GraphObject& graph = graph_of(ref.node());
  const Variable variable(ref, value.part, initializer.part, initial ? *initial : Output());
  if (graph.objects.contains({ref.node(), GraphObject::kVariable})) {
    self.p->part = variable;
    self.p->graph = wrap_graph(graph).release().ptr();
  } else {
    fill(self, graph, variable);
  }
  return nb::borrow(self.h);
}

bool is_value(H initializer) {
  return !initializer.is_none() &&
         (!PyCallable_Check(initializer.ptr()) || tensor_of(initializer) || variable_of(initializer));
}

Reuse to_reuse(H reuse) {  // False, True, or the number 2 for AUTO_REUSE
  const int mode = to_int(reuse, "reuse");
  return mode == 2 ? kAutoReuse : Reuse(mode == 1);
}

// What the package says of a variable that is to be made or found: everything, scopes are its business.
struct Wanted {
  H shape, dtype, initializer, regularizer, collections, use_resource, caching_device;
  bool trainable, validate_shape;

  GetVariableOptions options(GraphObject& graph) const {
    GetVariableOptions options{.regularizer = to_regularizer(regularizer),
                               .trainable = trainable,
                               .collections = to_collections(collections),
                               .validate_shape = validate_shape};
    if (!dtype.is_none()) options.dtype = to_dtype(dtype);
    if (is_value(initializer)) {
      options.initializer = Initializer(to_in(graph, initializer, options.dtype.value_or(DType::Invalid)));
    } else {
      options.initializer = to_initializer(initializer);
    }
    if (!use_resource.is_none()) options.use_resource = to_bool(use_resource);
    if (!caching_device.is_none()) options.caching_device = to_name(caching_device);
    return options;
  }
};

nb::object get_variable(GraphObject& g, const std::string& name, const Wanted& wanted, H reuse) {
  return build(g, {}, [&](GraphObject& graph) {
    Scope root = graph.name_scope("");
    return wrap(get_variable_of_name(graph, name, to_shape(wanted.shape), wanted.options(graph), to_reuse(reuse)));
  });
}

// (parts, partitions)
nb::object get_partitioned_variable(GraphObject& g, const std::string& name, H partitions, const Wanted& wanted,
                                    H reuse) {
  return build(g, {}, [&](GraphObject& graph) {
    const std::vector<int64_t> cut = to_ints(partitions, "partitions");
    Scope root = graph.name_scope("");
    PartitionedVariable made = get_partitioned_variable_of_name(
        graph, name, to_shape(wanted.shape), [&](const Shape&, DType) { return cut; }, wanted.options(graph),
        to_reuse(reuse));
    return nb::make_tuple(wrap(made.parts()), from_shape(Shape(made.partitions())));
  });
}

// A variable scope: what is left of it when it is left, its handle, can be entered again, and keeps the graph for the
// functions that it remembers.
struct VariableScopeObject {
  VariableScopeObject(VariableScope s, GraphObject& g)
      : handle(s.handle()),
        guard(std::make_unique<VariableScope>(std::move(s))),
        graph(wrap_graph(g).release().ptr()) {}
  VariableScopeObject(VariableScopeObject&& other) noexcept
      : handle(std::move(other.handle)), guard(std::move(other.guard)), graph(std::exchange(other.graph, nullptr)) {}
  ~VariableScopeObject() { leave(); }
  void leave() {  // for the garbage collector: the handle is not used any more
    guard.reset();
    Py_CLEAR(graph);
  }
  GraphObject& graph_object() const { return *nb::inst_ptr<GraphObject>(nb::handle(graph)); }

  VariableScope handle;
  std::unique_ptr<VariableScope> guard;
  PyObject* graph;
};

VariableScopeObject enter_scope(GraphObject& graph, H name_or_scope, bool unique, H reuse, H initializer, H regularizer,
                                H dtype, H use_resource, bool auxiliary_name_scope) {
  try {
    VariableScopeOptions options{.initializer = kept_initializer(graph, initializer),
                                 .regularizer = kept_regularizer(graph, regularizer),
                                 .unique = unique,
                                 .auxiliary_name_scope = auxiliary_name_scope};
    if (!reuse.is_none()) options.reuse = to_reuse(reuse);
    if (!dtype.is_none()) options.dtype = to_dtype(dtype);
    if (!use_resource.is_none()) options.use_resource = to_bool(use_resource);
    if (nb::isinstance<VariableScopeObject>(name_or_scope)) {
      const auto& given = nb::cast<const VariableScopeObject&>(name_or_scope);
      // The functions of another graph's scope are of use here, too, for as long as this graph lives.
      if (&given.graph_object() != &graph) {
        for (PyObject* function : given.graph_object().functions) graph.keep(function);
      }
      return VariableScopeObject(variable_scope(graph, given.handle, options), graph);
    }
    return VariableScopeObject(graph.variable_scope(to_name(name_or_scope), options), graph);
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

UpdateOptions update_options(H use_locking) {
  if (use_locking.is_none()) return {};
  return {.use_locking = PyObject_IsTrue(use_locking.ptr()) == 1};
}

template <Output (*function)(const Variable&, const In&, std::string_view, const UpdateOptions&)>
void def_update(nb::module_& m, const char* name) {
  def(m, name, [](const VariableObject& v, H value, H use_locking, H node) {
    return build(graph_of(v), {}, [&](GraphObject& graph) {
      return wrap(function(v.part, to_in(graph, value, v.part.dtype()), to_name(node), update_options(use_locking)));
    });
  });
}

template <Output (*function)(const Variable&, const In&, const In&, std::string_view, const UpdateOptions&)>
void def_scatter(nb::module_& m, const char* name) {
  def(m, name, [](const VariableObject& v, H indices, H updates, H use_locking, H node) {
    return build(graph_of(v), {}, [&](GraphObject& graph) {
      return wrap(function(v.part, to_in(graph, indices), to_in(graph, updates, v.part.dtype()), to_name(node),
                           update_options(use_locking)));
    });
  });
}

}  // namespace

void bind_variables(nb::module_& m) {
  auto variable = nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"));
  variable
      .def(
          "_create",
          [](nb::pointer_and_handle<VariableObject> self, GraphObject& g, H initial, bool trainable, H collections,
             H name, H dtype, bool validate, bool use_resource) {
            create(self, g, initial, trainable, collections, name, dtype, validate, use_resource);
          },
          nb::arg("graph"), nb::arg("initial_value").none(), nb::arg("trainable"), nb::arg("collections").none(),
          nb::arg("name").none(), nb::arg("dtype").none(), nb::arg("validate_shape"), nb::arg("use_resource"))
      .def("_from_parts", &from_parts, nb::arg("handle"), nb::arg("value"), nb::arg("initializer"),
           nb::arg("initial_value").none())
      .def_prop_ro("_made", [](const VariableObject& v) { return static_cast<bool>(v.part); })
      .def_prop_ro("_handle", [](const VariableObject& v) { return wrap(v.part.handle()); })
      .def_prop_ro("_value", [](const VariableObject& v) { return wrap(v.part.value()); })
      .def_prop_ro("_value_here", [](const VariableObject& v) { return wrap(value_here(made(v))); })
      .def_prop_ro("initializer", [](const VariableObject& v) { return wrap(v.part.initializer()); })
      .def_prop_ro("initial_value", [](const VariableObject& v) { return wrap(v.part.initial_value()); })
      .def_prop_ro("_is_resource", [](const VariableObject& v) { return made(v).is_resource(); })
      .def_prop_ro("_node_name", [](const VariableObject& v) { return made(v).name(); })
      .def_prop_ro("dtype", [](const VariableObject& v) { return from_dtype(made(v).dtype()); })
      .def_prop_ro("graph", [](const VariableObject& v) { return wrap_graph(graph_of(v)); })
      .def("_shape_tuple", [](const VariableObject& v) { return from_shape(made(v).shape()); });

  using S = VariableScopeObject;
  nb::class_<S>(m, "VariableScope", nb::type_slots(scope_slots<S>()))
      .def_prop_ro("name", [](const S& s) { return s.handle.name(); })
      .def_prop_ro("original_name_scope", [](const S& s) { return s.handle.original_name_scope(); })
      .def_prop_ro("reuse", [](const S& s) { return static_cast<int>(s.handle.reuse_mode().mode); })
      .def_prop_ro("dtype", [](const S& s) { return from_dtype(s.handle.dtype()); })
      .def_prop_ro("use_resource", [](const S& s) { return s.handle.use_resource(); })
      .def("reuse_variables", [](S& s) { s.handle.reuse_variables(); })
      .def(
          "set_initializer", [](S& s, H f) { s.handle.set_initializer(kept_initializer(s.graph_object(), f)); },
          nb::arg().none())
      .def(
          "set_regularizer", [](S& s, H f) { s.handle.set_regularizer(kept_regularizer(s.graph_object(), f)); },
          nb::arg().none())
      .def("set_dtype", [](S& s, H dtype) { s.handle.set_dtype(to_dtype(dtype)); })
      .def("set_use_resource", [](S& s, bool use) { s.handle.set_use_resource(use); })
      .def("exit", [](S& s) { s.guard.reset(); });
  def(m, "enter_variable_scope",
      [](GraphObject& g, H scope, bool unique, H reuse, H initializer, H regularizer, H dtype, H resource,
         bool auxiliary_name_scope) {
        return enter_scope(g, scope, unique, reuse, initializer, regularizer, dtype, resource, auxiliary_name_scope);
      });
  def(m, "current_variable_scope", [](GraphObject& g) { return VariableScopeObject(g.variable_scope(), g); });
  def(m, "get_variable",
      [](GraphObject& g, const std::string& name, H shape, H dtype, H initializer, H regularizer, bool trainable,
         H collections, H use_resource, bool validate, H caching_device, H reuse) {
        const Wanted wanted{shape,        dtype,          initializer, regularizer, collections,
                            use_resource, caching_device, trainable,   validate};
        return get_variable(g, name, wanted, reuse);
      });
  def(m, "get_partitioned_variable",
      [](GraphObject& g, const std::string& name, H shape, H dtype, H initializer, H regularizer, bool trainable,
         H collections, H use_resource, bool validate, H caching_device, H reuse, H partitions) {
        const Wanted wanted{shape,        dtype,          initializer, regularizer, collections,
                            use_resource, caching_device, trainable,   validate};
        return get_partitioned_variable(g, name, partitions, wanted, reuse);
      });

  def(m, "assign", [](const VariableObject& v, H value, bool validate_shape, bool use_locking, H name) {
    return build(graph_of(v), {}, [&](GraphObject& graph) {
      return wrap(assign(v.part, to_in(graph, value, v.part.dtype()), {validate_shape, use_locking}, to_name(name)));
    });
  });
  def_update<&assign_add>(m, "assign_add");
  def_update<&assign_sub>(m, "assign_sub");
  def_scatter<&scatter_add>(m, "scatter_add");
  def_scatter<&scatter_sub>(m, "scatter_sub");
  def_scatter<&scatter_update>(m, "scatter_update");
  def(m, "count_up_to", [](const VariableObject& v, int64_t limit, H name) {
    return build(graph_of(v), {}, [&](GraphObject&) { return wrap(count_up_to(v.part, limit, to_name(name))); });
  });
  def(m, "is_variable_initialized", [](const VariableObject& v, H name) {
    return build(graph_of(v), {}, [&](GraphObject&) { return wrap(is_variable_initialized(v.part, to_name(name))); });
  });
  def(m, "read_variable", [](const VariableObject& v, H name) {
    return build(graph_of(v), {}, [&](GraphObject&) { return wrap(read_variable(v.part, to_name(name))); });
  });
}

}  // namespace weir::python
