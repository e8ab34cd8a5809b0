#include "base/resource_manager.h"

#include <utility>
#include <vector>

namespace weir {
namespace {

std::string container_name(std::string_view container) {
  return std::string(container.empty() ? ResourceManager::kDefaultContainer : container);
}

}  // namespace

ResourcePtr<Resource> ResourceManager::find_or_make(const std::type_info& kind, std::string_view container,
                                                    std::string_view name, FunctionRef<ResourcePtr<Resource>()> make) {
  std::lock_guard lock(mutex_);
  ResourcePtr<Resource>& place = resources_[Key{container_name(container), kind, std::string(name)}];
  if (!place) place = make();
  return place;
}

ResourcePtr<Resource> ResourceManager::find(const std::type_info& kind, std::string_view container,
                                            std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto found = resources_.find(Key{container_name(container), kind, std::string(name)});
  return found == resources_.end() ? ResourcePtr<Resource>() : found->second;
}

bool ResourceManager::remove(const Resource& resource) {
  ResourcePtr<Resource> last;  // dropped after the lock
  std::lock_guard lock(mutex_);
  for (auto it = resources_.begin(); it != resources_.end(); ++it) {
    if (it->second.get() != &resource) continue;
    last = std::move(it->second);
    resources_.erase(it);
    generation_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void ResourceManager::clear(std::string_view container) {
  std::vector<ResourcePtr<Resource>> dropped;
  const std::string wanted = container_name(container);
  std::lock_guard lock(mutex_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (it->first.container != wanted) {
      ++it;
      continue;
    }
    dropped.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

void ResourceManager::clear_all() {
  std::map<Key, ResourcePtr<Resource>> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(resources_);
  generation_.fetch_add(1, std::memory_order_release);
}

}  // namespace weir
