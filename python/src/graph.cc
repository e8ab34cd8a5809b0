// What the objects of a graph can do.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "graph/bodies.h"
#include "graph/graph_def.h"
#include "graph/graph_impl.h"
#include "weir/edit_graph.h"

namespace weir::python {
namespace {

using GraphScope = ScopeObject<Scope>;

template <class F>
auto building(F f) {
  try {
    return f();
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// Enters a scope; mistakes become Python's exceptions.
template <class F>
GraphScope enter(GraphObject& graph, F f) {
  return building([&] { return GraphScope(std::make_unique<Scope>(f()), graph); });
}

// What a device function gives.
std::string device_text(nb::handle device) {
  if (nb::isinstance<DeviceSpec>(device)) return nb::cast<const DeviceSpec&>(device).str();
  if (device.is_none()) raise(PyExc_TypeError, "Expected binary or unicode string, got None");
  return to_name(device);
}

// New nodes stand beside `op` (an empty one: beside nothing), or also beside what the scopes around say.
Scope colocate_with(Graph& graph, Operation op, bool ignore_existing) {
  if (!ignore_existing) return graph.colocate_with(op);
  Graph::Impl& impl = graph.impl();
  auto others = std::make_shared<std::vector<Node*>>(std::exchange(impl.scopes.colocate, {}));
  auto devices = std::make_shared<std::vector<DeviceScope>>(std::exchange(impl.scopes.devices, {}));
  if (op) impl.scopes.colocate.push_back(op.node());
  return Scope("", [&impl, others, devices] {
    impl.scopes.colocate = std::move(*others);
    impl.scopes.devices = std::move(*devices);
  });
}

// The branches and loops that a body is inside of, itself first: what each is called, and whether it is a loop. Those
// of a function end at the function.
nb::list bodies_around(const Body* body) {
  nb::list list;
  for (; body && !body->is_function; body = body->outer) list.append(nb::make_tuple(body->name, body->is_loop));
  return list;
}

nb::object import_graph_def(GraphObject& graph, nb::bytes bytes, const std::string& prefix, nb::dict input_map,
                            const std::vector<std::string>& return_elements) {
  ImportOptions options{.prefix = prefix, .return_elements = return_elements};
  for (auto [key, value] : input_map) {
    const std::string name = to_name(key);
    options.input_map.emplace_back(name, to_output(graph, value, DType::Invalid, {}));
  }
  LineScope line(graph, user_line());
  return building([&] {
    ImportResult result = graph.import_graph_def({bytes.c_str(), bytes.size()}, options);
    nb::list elements;
    for (size_t i = 0; i < return_elements.size(); ++i) {
      const bool is_tensor = return_elements[i].find(':') != std::string::npos;
      elements.append(is_tensor ? wrap(result.outputs[i]) : wrap(result.operations[i]));
    }
    return nb::object(elements);
  });
}

void bind_graph(nb::module_& m) {
  nb::class_<GraphScope>(m, "Scope", nb::type_slots(scope_slots<GraphScope>()))
      .def_prop_ro("name", [](const GraphScope& s) { return s.scope ? s.scope->name() : std::string(); })
      .def("exit", &GraphScope::leave);

  auto graph = nb::borrow<nb::class_<GraphObject>>(m.attr("Graph"));
  graph.def_prop_ro("version", &GraphObject::version)
      .def_prop_ro("_bodies_around", [](GraphObject& g) { return bodies_around(g.impl().scopes.body); })
      .def("get_operations",
           [](GraphObject& g) {
             nb::list list;
             for (const Operation& operation : g.operations()) list.append(wrap(operation));
             return list;
           })
      .def("_find", [](GraphObject& g, std::string_view name) { return wrap(g.find(name)); })
      .def(
          "unique_name",
          [](GraphObject& g, std::string_view name, bool mark_as_used) { return g.unique_name(name, mark_as_used); },
          nb::arg("name"), nb::arg("mark_as_used") = true)
      .def("_current_name_scope", [](GraphObject& g) { return g.current_name_scope(); })
      .def("_name_scope",
           [](GraphObject& g, std::string_view name) { return enter(g, [&] { return g.name_scope(name); }); })
      .def("_device",
           [](GraphObject& g, std::string_view device) { return enter(g, [&] { return g.device(device); }); })
      .def("_device_function",
           [](GraphObject& g, nb::object choose) {
             return enter(g, [&] {
               return g.device([&g, choose](const NodeArgs& node) {
                 return device_text(nb::object(choose(wrap(g.operation(node.name)))));
               });
             });
           })
      .def(
          "_control_dependencies",
          [](GraphObject& g, nb::handle inputs) {
            return enter(g, [&] {
              return inputs.is_none() ? g.clear_control_dependencies() : g.control_dependencies(to_operations(inputs));
            });
          },
          nb::arg("inputs").none())
      .def(
          "_colocate_with",
          [](GraphObject& g, nb::handle op, bool ignore_existing) {
            return enter(g, [&] {
              return colocate_with(g, op.is_none() ? Operation() : to_operations(nb::make_tuple(op))[0],
                                   ignore_existing);
            });
          },
          nb::arg("op").none(), nb::arg("ignore_existing") = false)
      .def("_container",
           [](GraphObject& g, std::string_view name) { return enter(g, [&] { return g.container(name); }); })
      .def("finalize", [](GraphObject& g) { g.finalize(); })
      .def("_unsafe_unfinalize", [](GraphObject& g) { g.unfinalize(); })
      .def_prop_ro("finalized", [](const GraphObject& g) { return g.finalized(); })
      .def(
          "_set_seed", [](GraphObject& g, nb::handle seed) { g.impl().scopes.seed = to_seed(seed); },
          nb::arg("seed").none())
      .def(
          "_next_seeds",
          [](GraphObject& g, nb::handle op_seed) {
            Seeds seeds = g.next_seeds(to_seed(op_seed));
            return nb::make_tuple(seeds.seed, seeds.seed2);
          },
          nb::arg("op_seed").none())
      .def(
          "_add_to_collection",
          [](GraphObject& g, std::string_view name, nb::handle value) {
            building([&] {
              g.add_to_collection(name, to_item(value));
              return 0;
            });
          },
          nb::arg("name"), nb::arg("value").none())
      .def("_collection",
           [](GraphObject& g, std::string_view name) {
             nb::list list;
             for (const std::any& item : g.collection(name)) list.append(from_item(item));
             return list;
           })
      .def("_set_collection",
           [](GraphObject& g, std::string_view name, nb::list items) {
             std::vector<std::any> values;
             for (nb::handle item : items) values.push_back(to_item(item));
             // As in TensorFlow, who holds the list may change it, also of a finalized graph.
             Graph::Impl& impl = g.impl();
             ++impl.collection_changes;
             auto old = std::exchange(impl.collections[std::string(name)], std::move(values));
           })
      .def_prop_ro("_collection_changes", [](const GraphObject& g) { return g.impl().collection_changes; })
      .def("_collection_names", &GraphObject::collection_names)
      .def("_clear_collection",
           [](GraphObject& g, std::string_view name) {
             building([&] {
               g.clear_collection(name);
               return 0;
             });
           })
      .def(
          "_to_graph_def",
          [](GraphObject& g, bool add_shapes) {
            return building([&] {
              std::string bytes = add_shapes ? graph_def_with_shapes(g) : g.to_graph_def();
              return nb::bytes(bytes.data(), bytes.size());
            });
          },
          nb::arg("add_shapes") = false)
      .def("_import_graph_def", &import_graph_def)
      .def(
          "_group",
          [](GraphObject& g, nb::handle inputs, nb::handle name) {
            LineScope line(g, user_line());
            return building([&] { return wrap(g.group(to_operations(inputs), to_name(name))); });
          },
          nb::arg("inputs"), nb::arg("name").none());
}

void bind_tensor(nb::module_& m) {
  auto tensor = nb::borrow<nb::class_<TensorObject>>(m.attr("Tensor"));
  tensor.def_prop_ro("name", [](const TensorObject& t) { return t.part.name(); })
      .def_prop_ro("op", [](const TensorObject& t) { return wrap(t.part.op()); })
      .def_prop_ro("graph", [](const TensorObject& t) { return nb::borrow(t.graph); })
      .def_prop_ro("dtype", [](const TensorObject& t) { return from_dtype(t.part.dtype()); })
      .def_prop_ro("value_index", [](const TensorObject& t) { return t.part.index(); })
      .def_prop_ro("device", [](const TensorObject& t) { return t.part.op().device(); })
      .def_prop_ro("_is_ref", [](const TensorObject& t) { return t.part.is_ref(); })
      .def("_shape_tuple", [](const TensorObject& t) { return from_shape(t.part.shape()); })
      .def(
          "_set_shape",
          [](const TensorObject& t, nb::handle shape) {
            building([&] {
              t.part.set_shape(to_shape(shape));
              return 0;
            });
          },
          nb::arg("shape").none())
      .def("consumers", [](const TensorObject& t) {
        nb::list list;
        for (const Operation& operation : t.part.graph().operations()) {
          for (int i = 0; i < operation.inputs(); ++i) {
            if (operation.input(i) == t.part) {
              list.append(wrap(operation));
              break;
            }
          }
        }
        return list;
      });
}

void bind_operation(nb::module_& m) {
  auto operation = nb::borrow<nb::class_<OperationObject>>(m.attr("Operation"));
  operation.def_prop_ro("name", [](const OperationObject& o) { return o.part.name(); })
      .def_prop_ro("type", [](const OperationObject& o) { return o.part.type(); })
      .def_prop_ro("_index", [](const OperationObject& o) { return o.part.node()->id; })
      .def_prop_ro("device", [](const OperationObject& o) { return o.part.device(); })
      .def_prop_ro("graph", [](const OperationObject& o) { return nb::borrow(o.graph); })
      .def_prop_ro("inputs",
                   [](const OperationObject& o) {
                     nb::list list;
                     for (int i = 0; i < o.part.inputs(); ++i) list.append(wrap(o.part.input(i)));
                     return list;
                   })
      .def_prop_ro("outputs",
                   [](const OperationObject& o) {
                     nb::list list;
                     for (int i = 0; i < o.part.outputs(); ++i) list.append(wrap(o.part.output(i)));
                     return list;
                   })
      .def_prop_ro("control_inputs",
                   [](const OperationObject& o) {
                     nb::list list;
                     for (const Operation& input : o.part.control_inputs()) list.append(wrap(input));
                     return list;
                   })
      .def_prop_ro("_id", [](const OperationObject& o) { return o.part.node()->id; })
      .def("_update_input",
           [](const OperationObject& o, int index, const TensorObject& tensor) {
             building([&] {
               update_input(o.part, index, tensor.part);
               return 0;
             });
           })
      .def("_add_control_input",
           [](const OperationObject& o, const OperationObject& before) {
             building([&] {
               add_control_input(o.part, before.part);
               return 0;
             });
           })
      .def("_remove_control_input",
           [](const OperationObject& o, const OperationObject& before) {
             building([&] {
               remove_control_input(o.part, before.part);
               return 0;
             });
           })
      .def("_set_device_name",
           [](const OperationObject& o, std::string_view device) {
             building([&] {
               o.part.node()->device = DeviceSpec::parse(device).str();
               return 0;
             });
           })
      .def_prop_ro("_bodies_around", [](const OperationObject& o) { return bodies_around(o.part.node()->body); })
      .def_prop_ro("_in_body", [](const OperationObject& o) { return o.part.node()->body != nullptr; })
      .def_prop_ro("_in_loop", [](const OperationObject& o) { return enclosing_loop(*o.part.node()) != nullptr; })
      .def("_node_def",
           [](const OperationObject& o) {
             proto::NodeDef message;
             node_to_proto(*o.part.node(), message);
             std::string bytes = message.SerializeAsString();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("_line",
                   [](const OperationObject& o) { return nb::make_tuple(o.part.line().file, o.part.line().line); })
      .def("_attr",
           [](const OperationObject& o, std::string_view name) -> nb::object {
             const AttrValue* value = o.part.attrs().find(name);
             if (!value) {
               raise(PyExc_ValueError,
                     "Operation '" + o.part.name() + "' has no attr named '" + std::string(name) + "'.");
             }
             return from_attr(*value);
           })
      .def("_attr_names",
           [](const OperationObject& o) {
             nb::list names;
             for (const auto& [name, value] : o.part.attrs()) names.append(name);
             return names;
           })
      .def("colocation_groups", [](const OperationObject& o) {
        nb::list groups;
        if (o.part.node()->colocation.empty()) {  // a group of its own
          const std::string own = "loc:@" + o.part.name();
          groups.append(nb::bytes(own.data(), own.size()));
        }
        for (const std::string& name : o.part.node()->colocation) {
          std::string group = "loc:@" + name;
          groups.append(nb::bytes(group.data(), group.size()));
        }
        return groups;
      });
}

}  // namespace

void bind_parts(nb::module_& m) {
  bind_graph(m);
  bind_tensor(m);
  bind_operation(m);
}

}  // namespace weir::python
