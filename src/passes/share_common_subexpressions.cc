#include <cstring>
#include <unordered_map>

#include "passes/ir.h"

namespace weir {
namespace {

constexpr size_t kMaxCompared = 256;  // bytes of a constant that are looked at; larger ones are equal by identity only

void append_tensor(std::string& key, const Tensor& t) {
  key += dtype_name(t.dtype());
  key += t.shape().str();
  if (t.dtype() != DType::String && t.dtype() != DType::Variant && t.bytes() <= kMaxCompared) {
    key.append(static_cast<const char*>(t.raw()), t.bytes());
  } else {
    const void* address = t.raw();
    key.append(reinterpret_cast<const char*>(&address), sizeof address);
  }
}

// Two nodes with the same text compute the same, in the same place.
std::string key_of(const IrNode& node) {
  std::string key;
  if (node.is_constant()) {
    key = node.varies ? "~" : "=";  // what is equal with the present feeds alone stays apart from what always is
    for (const Tensor& value : node.values) append_tensor(key, value);
    return key;
  }
  key = node.op->name + "@" + std::to_string(node.device);
  for (const IrEdge& input : node.inputs) key += "|" + std::to_string(input.node) + ":" + std::to_string(input.output);
  for (const auto& [name, value] : node.attrs) {
    if (name.starts_with('_')) continue;
    key += "|" + name + "=";
    if (const Tensor* tensor = std::get_if<Tensor>(&value)) {
      append_tensor(key, *tensor);
    } else {
      key += attr_to_string(value);
    }
  }
  return key;
}

}  // namespace

void share_common_subexpressions(Ir& ir, PassContext&) {
  std::vector<int> same(ir.nodes.size());
  for (int i = 0; i < ir.size(); ++i) same[static_cast<size_t>(i)] = i;
  std::unordered_map<std::string, int> first;
  for (int id : ir.topological_order()) {
    IrNode& node = ir[id];
    for (IrEdge& input : node.inputs) input.node = same[static_cast<size_t>(input.node)];
    for (int& before : node.control) before = same[static_cast<size_t>(before)];
    bool sharable = !node.is_feed() && node.op->pure() && node.op->effect == Effect::None && node.control.empty() &&
                    !node.types.empty() && node.op->role != Role::Placeholder;
    if (!sharable) continue;
    const int other = first.emplace(key_of(node), id).first->second;
    same[static_cast<size_t>(id)] = other;
    if (other == id || !node.is_constant() || !node.varies) continue;
    for (int o = 0; o < static_cast<int>(node.types.size()); ++o) ir.equal_values.push_back({{other, o}, {id, o}});
  }
  for (IrEdge& fetch : ir.fetches) fetch.node = same[static_cast<size_t>(fetch.node)];
  for (int& target : ir.targets) target = same[static_cast<size_t>(target)];
  ir.sweep();
}

}  // namespace weir
