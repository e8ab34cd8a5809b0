#include "weir/resources.h"

#include "base/resource_manager.h"

namespace weir {

Resources::Resources() : manager_(std::make_shared<ResourceManager>()) {}
Resources::~Resources() = default;

void Resources::reset(const std::vector<std::string>& containers) { manager_->reset(containers); }

}  // namespace weir
