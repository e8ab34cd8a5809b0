#include "import/later_releases.h"

#include <algorithm>

#include "graph/node.h"

namespace weir {
namespace {

// Operations that came after TensorFlow 1.15: one that means nothing here, since a variable's value is copied when it
// must be, and one that promises not to have effects.
bool is_copy_advice(const proto::NodeDef& node) { return node.op() == "DisableCopyOnRead"; }
bool is_pure_case(const proto::NodeDef& node) { return node.op() == "StatelessCase"; }
bool is_later(const proto::NodeDef& node) { return is_copy_advice(node) || is_pure_case(node); }

void make_earlier(proto::NodeDef& node) {
  if (is_pure_case(node)) node.set_op("Case");
  if (!is_copy_advice(node)) return;
  node.set_op("NoOp");
  node.clear_attr();
  auto& inputs = *node.mutable_input();
  inputs.erase(
      std::remove_if(inputs.begin(), inputs.end(), [](const std::string& name) { return !name.starts_with('^'); }),
      inputs.end());
}

}  // namespace

bool is_blank(const proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kI:
      return value.i() == 0;
    case proto::AttrValue::kF:
      return value.f() == 0;
    case proto::AttrValue::kB:
      return !value.b();
    case proto::AttrValue::kS:
      return value.s().empty();
    case proto::AttrValue::kType:
      return value.type() == proto::DT_INT32;  // of sizes and indices, as before there was a choice
    case proto::AttrValue::kList:
      return value.list().ByteSizeLong() == 0;
    default:
      return false;
  }
}

bool is_hint(const Op& op, std::string_view name) {
  if (name == "debug_name" || name == "grad_a" || name == "grad_b") return true;
  return name == "validate_shape" && op.role != Role::Variable &&
         op.effect == Effect::Writes;  // of assignments: it is done anyway
}

std::unique_ptr<proto::GraphDef> without_later_operations(const proto::GraphDef& message) {
  bool any = std::any_of(message.node().begin(), message.node().end(), is_later);
  for (const auto& function : message.library().function()) {
    any = any || std::any_of(function.node_def().begin(), function.node_def().end(), is_later);
  }
  if (!any) return nullptr;
  auto copy = std::make_unique<proto::GraphDef>(message);
  for (proto::NodeDef& node : *copy->mutable_node()) make_earlier(node);
  for (auto& function : *copy->mutable_library()->mutable_function()) {
    for (proto::NodeDef& node : *function.mutable_node_def()) make_earlier(node);
  }
  return copy;
}

}  // namespace weir
