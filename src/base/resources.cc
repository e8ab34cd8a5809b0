#include "weir/resources.h"

#include "base/resource_manager.h"

namespace weir {

Resources::Resources() : manager_(std::make_shared<ResourceManager>()) {}
Resources::~Resources() = default;

std::shared_ptr<Resources> Resources::of_parts(const Resources& other) {
  auto parts = std::make_shared<Resources>();
  parts->manager_ = other.manager_;
  parts->nodes_ = std::make_shared<SessionResources>();
  parts->nodes_->named = other.manager_;
  return parts;
}

void Resources::reset(const std::vector<std::string>& containers) { manager_->reset(containers); }

}  // namespace weir
