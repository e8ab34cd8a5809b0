#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ops/kernel.h"
#include "ops/state/variable_state.h"

namespace weir {

// What a session's nodes keep between runs. Thread-safe; looked up when plans are made.
class SessionResources final : public ResourceStore {
 public:
  NodeResource& node_resource(std::string_view node, FunctionRef<std::unique_ptr<NodeResource>()> make) override;
  VariableState& variable(std::string_view name, DType dtype, const Shape& shape) override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<NodeResource>, std::less<>> nodes_;
  std::map<std::string, std::unique_ptr<VariableState>, std::less<>> variables_;
};

}  // namespace weir
