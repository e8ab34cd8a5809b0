#include <map>

#include "graph/graph_impl.h"
#include "weir/graph.h"

namespace weir {

Output Graph::placeholder(DType dtype, const Shape& shape, std::string_view name, Where where) {
  return add({.op = "Placeholder",
              .name = std::string(name),
              .attrs = {{"dtype", dtype}, {"shape", shape}},
              .line = source_line(where)})
      .output();
}

Output Graph::constant(const Tensor& value, std::string_view name, Where where) {
  return add({.op = "Const",
              .name = std::string(name),
              .attrs = {{"dtype", value.dtype()}, {"value", value}},
              .line = source_line(where)})
      .output();
}

Output Graph::constant(Literal value, DType dtype, std::string_view name, Where where) {
  return constant(convert_literal(value.tensor(), dtype), name, where);
}

Operation Graph::no_op(std::string_view name, Where where) {
  return add({.op = "NoOp", .name = std::string(name), .line = source_line(where)});
}

Operation Graph::group(std::span<const Operation> operations, std::string_view name, Where where) {
  Scope scope = name_scope(name.empty() ? "group_deps" : name);
  // One node for each device first, so that only one edge crosses from each.
  std::map<std::string, std::vector<Operation>> by_device;
  for (const Operation& operation : operations) by_device[operation.device()].push_back(operation);
  auto wait = [&](std::string node_name, std::vector<Operation> waited, std::string device) {
    return add({.op = "NoOp",
                .name = std::move(node_name),
                .control_inputs = std::move(waited),
                .device = std::move(device),
                .line = source_line(where)});
  };
  if (by_device.size() <= 1) {
    return wait(scope.name(), {operations.begin(), operations.end()},
                by_device.empty() ? "" : by_device.begin()->first);
  }
  std::vector<Operation> devices;
  for (auto& [device, waited] : by_device) devices.push_back(wait("", std::move(waited), device));
  return wait(scope.name(), std::move(devices), "");
}

}  // namespace weir
