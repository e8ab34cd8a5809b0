#include "base/resource_manager.h"

#include <map>
#include <mutex>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir {
namespace {

std::string container_name(std::string_view container) {
  return std::string(container.empty() ? ResourceManager::kDefaultContainer : container);
}

struct Key {
  std::string container;
  std::type_index kind;
  std::string name;
  auto operator<=>(const Key&) const = default;
};

}  // namespace

struct ResourceManager::State {
  mutable std::mutex mutex;
  std::map<Key, ResourcePtr<Resource>> resources;
  std::unordered_map<const Resource*, const Key*> keys;  // of what is in resources
};

ResourceManager::ResourceManager() : state_(std::make_unique<State>()) {}
ResourceManager::~ResourceManager() = default;

ResourcePtr<Resource> ResourceManager::find_or_make(const std::type_info& kind, std::string_view container,
                                                    std::string_view name, FunctionRef<ResourcePtr<Resource>()> make) {
  Key key{container_name(container), kind, std::string(name)};
  std::lock_guard lock(state_->mutex);
  if (auto found = state_->resources.find(key); found != state_->resources.end()) return found->second;
  ResourcePtr<Resource> made = make();
  const auto place = state_->resources.emplace(std::move(key), made).first;
  state_->keys.emplace(made.get(), &place->first);
  return made;
}

ResourcePtr<Resource> ResourceManager::find(const std::type_info& kind, std::string_view container,
                                            std::string_view name) const {
  std::lock_guard lock(state_->mutex);
  auto found = state_->resources.find(Key{container_name(container), kind, std::string(name)});
  return found == state_->resources.end() ? ResourcePtr<Resource>() : found->second;
}

// What is taken out is let go after the lock: the last reference may be ours, and its destructor may take long.

bool ResourceManager::remove(const Resource& resource) {
  ResourcePtr<Resource> last;
  std::lock_guard lock(state_->mutex);
  auto key = state_->keys.find(&resource);
  if (key == state_->keys.end()) return false;
  auto found = state_->resources.find(*key->second);
  last = std::move(found->second);
  state_->keys.erase(key);
  state_->resources.erase(found);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

void ResourceManager::clear(std::string_view container) {
  std::vector<ResourcePtr<Resource>> dropped;
  const std::string wanted = container_name(container);
  std::lock_guard lock(state_->mutex);
  for (auto it = state_->resources.begin(); it != state_->resources.end();) {
    if (it->first.container != wanted) {
      ++it;
      continue;
    }
    state_->keys.erase(it->second.get());
    dropped.push_back(std::move(it->second));
    it = state_->resources.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

void ResourceManager::clear_all() {
  std::map<Key, ResourcePtr<Resource>> dropped;
  std::lock_guard lock(state_->mutex);
  dropped.swap(state_->resources);
  state_->keys.clear();
  generation_.fetch_add(1, std::memory_order_release);
}

void ResourceManager::reset(std::span<const std::string> containers) {
  if (containers.empty()) clear({});
  for (const std::string& container : containers) clear(container);
}

size_t ResourceManager::size() const {
  std::lock_guard lock(state_->mutex);
  return state_->resources.size();
}

}  // namespace weir
