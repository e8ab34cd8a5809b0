#include "graph/op_def_proto.h"

#include <google/protobuf/util/message_differencer.h>

#include <map>
#include <vector>

#include "graph/attr_proto.h"

namespace weir {
namespace {

using google::protobuf::util::MessageDifferencer;

void arg_to_proto(const ArgSpec& spec, proto::OpDef::ArgDef& message) {
  message.set_name(spec.name);
  if (spec.type_attr.empty() && spec.type_list_attr.empty()) message.set_type(static_cast<proto::DataType>(spec.type));
  message.set_type_attr(spec.type_attr);
  message.set_number_attr(spec.number_attr);
  message.set_type_list_attr(spec.type_list_attr);
  message.set_is_ref(spec.is_ref);
}

// False for a default whose value is not known (a tensor's, in most tables).
bool default_to_proto(const AttrSpec& spec, proto::AttrValue& message) {
  if (!spec.default_value) return false;
  const auto* tensor = std::get_if<Tensor>(&*spec.default_value);
  if (tensor && !tensor->valid()) return false;
  attr_to_proto(*spec.default_value, message);
  return true;
}

void attr_to_proto(const AttrSpec& spec, proto::OpDef::AttrDef& message) {
  message.set_name(spec.name);
  message.set_type(attr_kind_name(spec.kind, spec.is_list));
  if (proto::AttrValue value; default_to_proto(spec, value)) *message.mutable_default_value() = std::move(value);
  if (spec.minimum) {
    message.set_has_minimum(true);
    message.set_minimum(*spec.minimum);
  }
  for (DType type : spec.allowed_types) {
    message.mutable_allowed_values()->mutable_list()->add_type(static_cast<proto::DataType>(type));
  }
  for (const std::string& text : spec.allowed_strings) message.mutable_allowed_values()->mutable_list()->add_s(text);
}

using Functions = std::map<std::string, const proto::FunctionDef*, std::less<>>;

Functions functions_of(const proto::GraphDef& graph) {
  Functions functions;
  for (const proto::FunctionDef& function : graph.library().function()) {
    functions.emplace(function.signature().name(), &function);
  }
  return functions;
}

template <class Nodes>
void strip(Nodes& nodes, const Functions& functions) {
  for (proto::NodeDef& node : nodes) {
    const Op* op = functions.contains(node.op()) ? nullptr : find_op(node.op());
    if (!op) continue;
    for (const AttrSpec& spec : op->attrs) {
      auto found = node.attr().find(spec.name);
      proto::AttrValue value;
      if (found == node.attr().end() || !default_to_proto(spec, value)) continue;
      if (MessageDifferencer::Equals(found->second, value)) node.mutable_attr()->erase(spec.name);
    }
  }
}

}  // namespace

void op_to_proto(const Op& op, proto::OpDef& message) {
  message.set_name(op.name);
  for (const ArgSpec& arg : op.inputs) arg_to_proto(arg, *message.add_input_arg());
  for (const ArgSpec& arg : op.outputs) arg_to_proto(arg, *message.add_output_arg());
  for (const AttrSpec& attr : op.attrs) attr_to_proto(attr, *message.add_attr());
  message.set_is_stateful(op.stateful);
  message.set_is_commutative(op.commutative);
  message.set_is_aggregate(op.aggregate);
  message.set_allows_uninitialized_input(op.uninitialized_input);
}

std::set<std::string> op_names_used_by(const proto::GraphDef& graph) {
  const Functions functions = functions_of(graph);
  std::set<std::string> used;
  std::vector<const proto::FunctionDef*> called;
  auto note = [&](const proto::NodeDef& node) {
    if (!used.insert(node.op()).second) return;
    if (auto function = functions.find(node.op()); function != functions.end()) called.push_back(function->second);
  };
  for (const proto::NodeDef& node : graph.node()) note(node);
  while (!called.empty()) {
    const proto::FunctionDef& function = *called.back();
    called.pop_back();
    for (const proto::NodeDef& node : function.node_def()) note(node);
  }
  std::erase_if(used, [&](const std::string& name) { return functions.contains(name); });
  return used;
}

proto::OpList ops_used_by(const proto::GraphDef& graph) {
  proto::OpList list;
  for (const std::string& name : op_names_used_by(graph)) {
    if (const Op* op = find_op(name)) op_to_proto(*op, *list.add_op());
  }
  return list;
}

void strip_default_attrs(proto::GraphDef& graph) {
  const Functions functions = functions_of(graph);
  strip(*graph.mutable_node(), functions);
  for (proto::FunctionDef& function : *graph.mutable_library()->mutable_function()) {
    strip(*function.mutable_node_def(), functions);
  }
}

}  // namespace weir
