#include "runtime/resources.h"

#include "base/errors.h"

namespace weir {

NodeResource& SessionResources::node_resource(std::string_view node,
                                              FunctionRef<std::unique_ptr<NodeResource>()> make) {
  std::lock_guard lock(mutex_);
  auto it = nodes_.find(node);
  if (it == nodes_.end()) it = nodes_.emplace(std::string(node), make()).first;
  return *it->second;
}

VariableState& SessionResources::variable(std::string_view name, DType dtype, const Shape& shape) {
  std::lock_guard lock(mutex_);
  auto it = variables_.find(name);
  if (it == variables_.end()) {
    it = variables_.emplace(std::string(name), std::make_unique<VariableState>(std::string(name), dtype, shape)).first;
  }
  if (it->second->dtype() != dtype) {
    throw invalid_argument("the variable '{}' is {}; it is asked for as {}", name, dtype_name(it->second->dtype()),
                           dtype_name(dtype));
  }
  return *it->second;
}

}  // namespace weir
