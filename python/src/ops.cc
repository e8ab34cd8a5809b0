// Nodes from Python values: apply() for every operation of the tables.
#include <nanobind/stl/string.h>
#include <cstring>

#include <cmath>

#include "base/errors.h"
#include "convert.h"
#include "graph/attr_proto.h"
#include "graph/declared_ops.h"
#include "graph/graph_impl.h"
#include "graph/op.h"
#include "graph/op_def_proto.h"
#include "graph/scope_stack.h"
#include "graph/variables.h"

namespace weir::python {
namespace {

template <class T, class Convert>
std::vector<T> to_list(nb::handle value, Convert convert) {
  std::vector<T> list;
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || !nb::hasattr(value, "__iter__")) {
    list.push_back(convert(value));
    return list;
  }
  for (nb::handle item : nb::iter(value)) list.push_back(convert(item));
  return list;
}

// An integer, also a float that is a whole number.
int64_t to_whole(nb::handle value, const char* name) {
  if (!PyIndex_Check(value.ptr()) && PyNumber_Check(value.ptr())) {
    const double exact = to_double(value, name);
    if (std::abs(exact) < 0x1p63 && exact == std::trunc(exact)) return static_cast<int64_t>(exact);
  }
  return to_int64(value, name);
}

FunctionName to_function(nb::handle value) {
  return {to_name(nb::hasattr(value, "name") ? value.attr("name") : value), {}};
}

AttrValue to_attr(const AttrSpec& spec, nb::handle value) {
  const char* name = spec.name.c_str();
  auto integer = [&](nb::handle v) { return to_whole(v, name); };
  auto number = [&](nb::handle v) { return static_cast<float>(to_double(v, name)); };
  auto tensor = [](nb::handle v) { return to_tensor(v, DType::Invalid, false); };
  if (spec.is_list) {
    switch (spec.kind) {
      case AttrKind::Int:
        return to_list<int64_t>(value, integer);
      case AttrKind::Float:
        return to_list<float>(value, number);
      case AttrKind::Bool:
        return to_list<bool>(value, to_bool);
      case AttrKind::String:
        return to_list<std::string>(value, to_name);
      case AttrKind::Type:
        return to_list<DType>(value, to_dtype);
      case AttrKind::Shape:
        return to_list<Shape>(value, to_shape);
      case AttrKind::Tensor:
        return to_list<Tensor>(value, tensor);
      case AttrKind::Func:
        return to_list<FunctionName>(value, to_function);
    }
  }
  switch (spec.kind) {
    case AttrKind::Int:
      return integer(value);
    case AttrKind::Float:
      return number(value);
    case AttrKind::Bool:
      return to_bool(value);
    case AttrKind::String:
      return to_name(value);
    case AttrKind::Type:
      return to_dtype(value);
    case AttrKind::Shape:
      return to_shape(value);
    case AttrKind::Tensor:
      return tensor(value);
    case AttrKind::Func:
      return to_function(value);
  }
  throw invalid_argument("attribute '{}' is of an unknown kind", spec.name);
}

// Turns the arguments of one call into the inputs and attributes of a node, in TensorFlow's way: a type that an earlier
// argument, or any tensor, has fixed is what later values are converted to.
class Call {
 public:
  Call(GraphObject& graph, const Op& op, nb::tuple values) : graph_(graph), op_(op), values_(std::move(values)) {}

  AttrMap attrs;
  std::vector<Output> inputs;

  void convert_inputs() {
    if (nb::len(values_) != op_.inputs.size()) {
      raise(PyExc_TypeError, op_.name + " takes " + std::to_string(op_.inputs.size()) + " inputs, " +
                                 std::to_string(nb::len(values_)) + " are given");
    }
    bind_tensor_types();
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      const ArgSpec& spec = op_.inputs[i];
      nb::handle value = values_[i];
      if (spec.is_list()) {
        convert_list(spec, value);
      } else {
        add(spec, convert(spec, value, wanted(spec), spec.name));
      }
    }
  }

 private:
  DType wanted(const ArgSpec& spec) const {
    if (spec.type != DType::Invalid) return spec.type;
    const AttrValue* bound = spec.type_attr.empty() ? nullptr : attrs.find(spec.type_attr);
    return bound ? std::get<DType>(*bound) : DType::Invalid;
  }

  // The argument that decided the type which others must have too.
  std::string first_of_type(const ArgSpec& spec) const {
    for (const ArgSpec& other : op_.inputs) {
      if (&other != &spec && other.type_attr == spec.type_attr) return other.name;
    }
    return spec.type_attr;
  }

  // Tensors decide before values do, wherever they stand.
  void bind_tensor_types() {
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      const ArgSpec& spec = op_.inputs[i];
      if (spec.type_attr.empty() || attrs.has(spec.type_attr)) continue;
      if (const Output* found = find_tensor(values_[i])) attrs.set(spec.type_attr, found->dtype());
    }
  }

  void convert_list(const ArgSpec& spec, nb::handle value) {
    if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
      raise(PyExc_TypeError,
            "Expected list for '" + spec.name + "' argument to '" + op_.name + "' Op, not " + text_of(value) + ".");
    }
    std::vector<DType> types;
    int64_t index = 0;
    for (nb::handle item : value) {
      const AttrValue* list = spec.type_list_attr.empty() ? nullptr : attrs.find(spec.type_list_attr);
      DType want = wanted(spec);
      if (list) {
        const auto& given = std::get<std::vector<DType>>(*list);
        if (static_cast<size_t>(index) < given.size()) want = given[static_cast<size_t>(index)];
      }
      Output output = convert(spec, item, want, spec.name + "_" + std::to_string(index));
      types.push_back(output.dtype());
      add(spec, output);
      ++index;
    }
    if (!spec.number_attr.empty()) attrs.set(spec.number_attr, index);
    if (!spec.type_list_attr.empty() && !attrs.has(spec.type_list_attr)) attrs.set(spec.type_list_attr, types);
  }

  Output convert(const ArgSpec& spec, nb::handle value, DType want, const std::string& name) {
    if (const Variable* variable = variable_of(value)) {
      const bool as_handle = spec.is_ref || (spec.type == DType::Resource && variable->is_resource());
      return as_handle ? variable->handle() : value_here(*variable);
    }
    if (const Output* output = tensor_of(value)) return *output;
    if (value.is_none()) {
      raise(PyExc_ValueError,
            "Tried to convert '" + spec.name + "' to a tensor and failed. Error: None values not supported.");
    }
    if (want == DType::Invalid && !spec.type_attr.empty()) {
      const AttrSpec* attr = op_.attr(spec.type_attr);
      if (attr && attr->default_value && prefers_default(*attr, value)) want = std::get<DType>(*attr->default_value);
    }
    return to_output(graph_, value, want, name);
  }

  static bool allows(const AttrSpec& attr, DType type) {
    return attr.allowed_types.empty() ||
           std::find(attr.allowed_types.begin(), attr.allowed_types.end(), type) != attr.allowed_types.end();
  }

  // Values without a type of their own, and arrays whose type the operation does not take: an empty list of axes is
  // int32, not float, and labels that were read as floats are integers to OneHot.
  static bool prefers_default(const AttrSpec& attr, nb::handle value) {
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return nb::len(value) == 0;
    const DType type = array_dtype(value);
    return (is_floating(type) || is_integer(type)) && !allows(attr, type);
  }

  void add(const ArgSpec& spec, const Output& output) {
    if (&output.graph() != static_cast<Graph*>(&graph_)) {
      raise(PyExc_ValueError,
            "Tensor '" + output.name() + "' must be from the same graph as the other arguments of " + op_.name + ".");
    }
    const DType want = wanted(spec);
    if (want != DType::Invalid && output.dtype() != want) {
      const std::string wants = spec.type != DType::Invalid
                                    ? "expected type of " + type_name(want)
                                    : "type " + type_name(want) + " of argument '" + first_of_type(spec) + "'";
      raise(PyExc_TypeError, "Input '" + spec.name + "' of '" + op_.name + "' Op has type " +
                                 type_name(output.dtype()) + " that does not match " + wants + ".");
    }
    if (!spec.type_attr.empty()) {
      const AttrSpec* attr = op_.attr(spec.type_attr);
      if (attr && !allows(*attr, output.dtype())) {
        std::string allowed;
        for (DType type : attr->allowed_types) allowed += (allowed.empty() ? "" : ", ") + type_name(type);
        raise(PyExc_TypeError, "Value passed to parameter '" + spec.name + "' has DataType " +
                                   type_name(output.dtype()) + " not in list of allowed values: " + allowed);
      }
      if (!attrs.has(spec.type_attr)) attrs.set(spec.type_attr, output.dtype());
    }
    inputs.push_back(output);
  }

  GraphObject& graph_;
  const Op& op_;
  nb::tuple values_;
};

const Op& require_op(const std::string& name) {
  const Op* op = find_op(name);
  if (!op) raise(PyExc_NotImplementedError, "Weir has no operation " + name + " yet.");
  return *op;
}

// The outputs as Python functions of operations give them.
nb::object results(const Op& op, const Operation& node) {
  if (node.outputs() == 0) return wrap(node);
  int next = 0;
  auto take = [&](const ArgSpec& spec) -> nb::object {
    if (!spec.is_list()) return wrap(node.output(next++));
    const AttrValue& length = *node.attrs().find(spec.number_attr.empty() ? spec.type_list_attr : spec.number_attr);
    const int64_t count = spec.number_attr.empty() ? static_cast<int64_t>(std::get<std::vector<DType>>(length).size())
                                                   : std::get<int64_t>(length);
    nb::list list;
    for (int64_t i = 0; i < count; ++i) list.append(wrap(node.output(next++)));
    return list;
  };
  if (op.outputs.size() == 1) return take(op.outputs[0]);
  nb::list all;
  for (const ArgSpec& spec : op.outputs) all.append(take(spec));
  return nb::tuple(all);
}

nb::object apply(GraphObject& default_graph, const std::string& op_name, nb::tuple inputs, nb::dict attrs,
                 nb::handle name) {
  const Op& op = require_op(op_name);
  need_numpy();
  const Output* first = find_tensor(inputs);
  GraphObject& graph = first ? graph_of(first->node()) : default_graph;
  LineScope line(graph, user_line());
  try {
    std::string label = name.is_none() ? op.name : to_name(name);
    Call call(graph, op, std::move(inputs));
    for (auto [key, value] : attrs) {
      const std::string attr_name = to_name(key);
      const AttrSpec* spec = op.attr(attr_name);
      // None means the default, and for a shape that has none, one of which nothing is known.
      const bool is_shape = spec && spec->kind == AttrKind::Shape && !spec->is_list && !spec->default_value;
      if (value.is_none() && !is_shape) continue;
      if (spec) {
        call.attrs.set(attr_name, to_attr(*spec, value));
      } else if (attr_name.starts_with('_')) {
        call.attrs.set(attr_name, to_name(value));
      } else {
        raise(PyExc_TypeError, op.name + " has no attribute '" + attr_name + "'");
      }
    }
    std::string full = label.ends_with('/') ? label.substr(0, label.size() - 1) : graph.unique_name(label);
    {
      Scope scope = graph.name_scope(full + "/");
      call.convert_inputs();
    }
    // Who takes a reference stands beside the variable.
    ScopeStack beside;
    for (const Output& input : call.inputs) {
      if (input.is_ref() && op.has_ref_input()) beside.push(graph.colocate_with(input.op()));
    }
    Operation node = graph.add({.op = op.name,
                                .name = full,
                                .exact_name = true,
                                .inputs = std::move(call.inputs),
                                .attrs = std::move(call.attrs),
                                .line = *graph.impl().scopes.line});
    return results(op, node);
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// An attribute as create_op() takes it: an AttrValue message, or what it holds.
// `op` is null when no table has it.
AttrValue to_given_attr(const Op* op, const std::string& name, nb::handle value) {
  const AttrSpec* spec = op ? op->attr(name) : nullptr;
  if (!nb::hasattr(value, "SerializeToString")) {
    if (spec) return to_attr(*spec, value);
    if (name.starts_with('_')) return to_name(value);
    raise(PyExc_TypeError, op ? op->name + " has no attribute '" + name + "'"
                              : "attribute '" + name + "' must be an AttrValue, not " + text_of(value));
  }
  proto::AttrValue message;
  if (!message.ParseFromString(to_name(value.attr("SerializeToString")()))) {
    raise(PyExc_TypeError, "attribute '" + name + "' is no AttrValue: " + text_of(value));
  }
  ExpansionAllowance allowance;
  return attr_from_proto(message, spec, allowance);
}

nb::object create_op(GraphObject& graph, const std::string& op_name, nb::list inputs, nb::dict attrs, nb::handle name) {
  const Op& op = require_op(op_name);
  LineScope line(graph, user_line());
  try {
    NodeArgs args{.op = op_name, .name = to_name(name), .line = *graph.impl().scopes.line};
    for (nb::handle input : inputs) args.inputs.push_back(to_output(graph, input, DType::Invalid, {}));
    for (auto [key, value] : attrs) {
      const std::string attr_name = to_name(key);
      args.attrs.set(attr_name, to_given_attr(&op, attr_name, value));
    }
    return wrap(graph.add(std::move(args)));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// Gives a node that is there an attribute, an AttrValue message, or takes one from it.
void set_attr(const OperationObject& op, const std::string& name, nb::handle value) {
  Node& node = *op.part.node();
  try {
    if (name == "_class") throw Error(Code::InvalidArgument, "what a node stands beside is decided when it is made");
    node.attrs.set(name, to_given_attr(node.op, name, value));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// (DType, is it a reference) for each.
std::vector<DeclaredArg> to_declared(nb::list args) {
  std::vector<DeclaredArg> list;
  for (nb::handle arg : args) {
    auto pair = nb::cast<nb::tuple>(arg);
    list.push_back({to_dtype(pair[0]), to_bool(pair[1])});
  }
  return list;
}

// A node of an operation that no table has; its attributes are AttrValue messages.
nb::object create_declared_op(GraphObject& graph, const std::string& op_name, nb::list inputs, nb::list input_types,
                              nb::list output_types, nb::dict attrs, nb::handle name) {
  LineScope line(graph, user_line());
  try {
    NodeArgs args{.op = op_name, .name = to_name(name), .line = *graph.impl().scopes.line};
    for (nb::handle input : inputs) args.inputs.push_back(to_output(graph, input, DType::Invalid, {}));
    for (auto [key, value] : attrs) args.attrs.set(to_name(key), to_given_attr(nullptr, to_name(key), value));
    args.op = declare_op(op_name, to_declared(input_types), to_declared(output_types), args.attrs);
    return wrap(graph.add(std::move(args)));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// False when Weir has an operation of that name. `op_def` is the bytes of an OpDef.
bool register_op_def(nb::bytes op_def) {
  proto::OpDef message;
  if (!message.ParseFromArray(op_def.c_str(), static_cast<int>(op_def.size()))) {
    raise(PyExc_TypeError, "these bytes are no OpDef");
  }
  try {
    return register_op(message);
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// (inputs, attrs, outputs) of an operation: names in order; attributes that inputs decide are left out.
nb::object op_spec(const std::string& name) {
  const Op* op = find_op(name);
  if (!op) return nb::none();
  nb::list inputs, attrs, outputs;
  for (const ArgSpec& spec : op->inputs) inputs.append(spec.name);
  for (const ArgSpec& spec : op->outputs) outputs.append(spec.name);
  for (const AttrSpec& spec : op->attrs) {
    bool decided = false;
    for (const ArgSpec& input : op->inputs) {
      decided |= input.type_attr == spec.name || input.number_attr == spec.name || input.type_list_attr == spec.name;
    }
    if (decided) continue;
    nb::object value = spec.default_value ? from_attr(*spec.default_value) : nb::none();
    if (PyBytes_Check(value.ptr())) value = value.attr("decode")();
    attrs.append(
        nb::make_tuple(spec.name, spec.default_value.has_value(), value, attr_kind_name(spec.kind, spec.is_list)));
  }
  return nb::make_tuple(inputs, attrs, outputs);
}

// The OpDef of an operation that there is.
nb::bytes op_def(const std::string& name) {
  const Op* op = find_op(name);
  if (!op) raise(PyExc_KeyError, name);
  proto::OpDef message;
  op_to_proto(*op, message);
  const std::string bytes = message.SerializeAsString();
  return nb::bytes(bytes.data(), bytes.size());
}

// The names of the operations that a GraphDef and its functions use.
nb::list op_names_used_by(nb::bytes graph_def) {
  proto::GraphDef message;
  if (!message.ParseFromArray(graph_def.c_str(), static_cast<int>(graph_def.size()))) {
    raise(PyExc_TypeError, "these bytes are no GraphDef");
  }
  nb::list names;
  for (const std::string& name : weir::op_names_used_by(message)) names.append(name);
  return names;
}

nb::list op_names() {
  nb::list names;
  for (const OpDef* def : all_op_defs()) names.append(nb::str(def->name.data(), def->name.size()));
  return names;
}

nb::object convert_to_tensor(GraphObject& default_graph, nb::handle value, nb::handle dtype, nb::handle name) {
  need_numpy();
  const Output* first = find_tensor(value);
  GraphObject& graph = first ? graph_of(first->node()) : default_graph;
  LineScope line(graph, user_line());
  try {
    return wrap(to_output(graph, value, to_dtype(dtype), to_name(name)));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

// A constant, filled from one element or the last one when a larger shape is given.
nb::object constant(GraphObject& graph, nb::handle value, nb::handle dtype, nb::handle shape, nb::handle name) {
  LineScope line(graph, user_line());
  try {
    Tensor tensor = to_tensor(value, to_dtype(dtype), false);
    if (!shape.is_none()) {
      Shape wanted = to_shape(shape);
      const int64_t elements = wanted.elements();
      if (elements == tensor.elements()) {
        tensor = tensor.reshaped(wanted);
      } else if (elements == 0 && tensor.elements() == 1) {  // one value for none
        tensor = Tensor(tensor.dtype(), wanted);
      } else if (tensor.elements() == 0 || elements < tensor.elements()) {
        raise(PyExc_ValueError, "Too many elements provided. Needed at most " + std::to_string(elements) +
                                    ", but received " + std::to_string(tensor.elements()));
      } else {
        Tensor filled(tensor.dtype(), wanted);
        const int64_t given = tensor.elements();
        if (tensor.dtype() == DType::String) {
          for (int64_t i = 0; i < elements; ++i) {
            filled.mutable_data<std::string>()[i] =
                tensor.data<std::string>()[static_cast<size_t>(std::min(i, given - 1))];
          }
        } else {
          const size_t size = dtype_size(tensor.dtype());
          auto* to = static_cast<char*>(filled.mutable_raw());
          const auto* from = static_cast<const char*>(tensor.raw());
          const size_t head = static_cast<size_t>(given) * size, all = static_cast<size_t>(elements) * size;
          std::memcpy(to, from, head);
          // The last element again and again: what has been written is copied behind itself, twice as much each time.
          for (size_t begin = head - size, done = size; begin + done < all; done *= 2) {
            std::memcpy(to + begin + done, to + begin, std::min(done, all - begin - done));
          }
        }
        tensor = filled;
      }
    }
    return wrap(graph.constant(tensor, name.is_none() ? "Const" : to_name(name)));
  } catch (const Error& error) {
    raise_build_error(error);
  }
}

}  // namespace

void bind_ops(nb::module_& m) {
  m.def("apply", &apply, nb::arg("graph"), nb::arg("op"), nb::arg("inputs"), nb::arg("attrs"), nb::arg("name").none());
  m.def("set_attr", &set_attr, nb::arg("op"), nb::arg("name"), nb::arg("value"));
  m.def("create_op", &create_op, nb::arg("graph"), nb::arg("op"), nb::arg("inputs"), nb::arg("attrs"),
        nb::arg("name").none());
  m.def("create_declared_op", &create_declared_op, nb::arg("graph"), nb::arg("op"), nb::arg("inputs"),
        nb::arg("input_types"), nb::arg("output_types"), nb::arg("attrs"), nb::arg("name").none());
  m.def("register_op_def", &register_op_def);
  m.def("op_spec", &op_spec);
  m.def("op_names", &op_names);
  m.def("op_def", &op_def);
  m.def("op_names_used_by", &op_names_used_by);
  m.def("convert_to_tensor", &convert_to_tensor, nb::arg("graph"), nb::arg("value").none(), nb::arg("dtype").none(),
        nb::arg("name").none());
  m.def("constant", &constant, nb::arg("graph"), nb::arg("value").none(), nb::arg("dtype").none(),
        nb::arg("shape").none(), nb::arg("name").none());
  m.def("constant_value", [](const TensorObject& t) -> nb::object {
    Tensor value = constant_value(t.part);
    return value.valid() ? to_numpy(std::move(value), true) : nb::none();
  });
  m.def("constant_value_as_shape", [](const TensorObject& t) { return from_shape(constant_value_as_shape(t.part)); });
}

}  // namespace weir::python
