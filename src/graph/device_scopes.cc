#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

Scope enter(Graph::Impl& graph, DeviceScope scope) {
  if (!graph.scopes.devices.empty() && scope.kind != DeviceScope::Kind::Forget) {
    const DeviceScope& outer = graph.scopes.devices.back();
    scope.has_function |= outer.has_function;
    if (!scope.has_function) scope.merged = scope.spec.merged_into(outer.merged);
  }
  graph.scopes.devices.push_back(std::move(scope));
  return Scope("", [&graph] { graph.scopes.devices.pop_back(); });
}

}  // namespace

Scope Graph::device(std::string_view device) {
  if (device.empty()) return enter(*impl_, {.kind = DeviceScope::Kind::Forget});
  DeviceSpec spec = DeviceSpec::parse(device);
  return enter(*impl_, {.kind = DeviceScope::Kind::Name, .spec = spec, .merged = spec});
}

Scope Graph::device(DeviceFunction choose) {
  if (!choose) throw invalid_argument("the device function is empty");
  return enter(*impl_, {.kind = DeviceScope::Kind::Function, .function = std::move(choose), .has_function = true});
}

std::string BuildingScopes::device_of(const std::string& own) const {
  if (devices.empty() && own.empty()) return {};
  DeviceSpec spec = DeviceSpec::parse(own);
  return (devices.empty() ? spec : spec.merged_into(devices.back().merged)).str();
}

void BuildingScopes::ask_for_device(Node& node, const std::string& own, std::mutex& mutex) const {
  NodeArgs args{.op = node.op->name,
                .name = node.name,
                .exact_name = true,
                .inputs = node.inputs,
                .attrs = node.attrs,
                .device = DeviceSpec::parse(own).str(),
                .line = node.line};
  for (Node* before : node.control_inputs) args.control_inputs.emplace_back(before);
  auto set = [&](std::string device) {
    args.device = device;
    std::lock_guard lock(mutex);
    node.device = std::move(device);
  };
  // Inner scopes speak first; a function sees what they said, and its word replaces it.
  for (auto scope = devices.rbegin(); scope != devices.rend() && scope->kind != DeviceScope::Kind::Forget; ++scope) {
    if (scope->kind == DeviceScope::Kind::Name) {
      set(DeviceSpec::parse(args.device).merged_into(scope->spec).str());
    } else {
      std::string device = scope->function(args);
      DeviceSpec::parse(device);  // throws when it is no device's name; else it stays as the function spells it
      set(std::move(device));
    }
  }
}

}  // namespace weir
