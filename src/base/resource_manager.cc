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
  Key key{container_name(container), kind, std::string(name)};
  std::lock_guard lock(mutex_);
  if (auto found = resources_.find(key); found != resources_.end()) return found->second;
  ResourcePtr<Resource> made = make();
  const auto place = resources_.emplace(std::move(key), made).first;
  keys_.emplace(made.get(), &place->first);
  return made;
}

ResourcePtr<Resource> ResourceManager::find(const std::type_info& kind, std::string_view container,
                                            std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto found = resources_.find(Key{container_name(container), kind, std::string(name)});
  return found == resources_.end() ? ResourcePtr<Resource>() : found->second;
}

// What is taken out is let go after the lock: the last reference may be ours, and its destructor may take long.

bool ResourceManager::remove(const Resource& resource) {
  ResourcePtr<Resource> last;
  std::lock_guard lock(mutex_);
  auto key = keys_.find(&resource);
  if (key == keys_.end()) return false;
  auto found = resources_.find(*key->second);
  last = std::move(found->second);
  keys_.erase(key);
  resources_.erase(found);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
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
    keys_.erase(it->second.get());
    dropped.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

void ResourceManager::clear_all() {
  std::map<Key, ResourcePtr<Resource>> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(resources_);
  keys_.clear();
  generation_.fetch_add(1, std::memory_order_release);
}

void ResourceManager::reset(std::span<const std::string> containers) {
  if (containers.empty()) clear({});
  for (const std::string& container : containers) clear(container);
}

size_t ResourceManager::size() const {
  std::lock_guard lock(mutex_);
  return resources_.size();
}

}  // namespace weir
