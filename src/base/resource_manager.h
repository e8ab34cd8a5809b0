#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <typeinfo>

#include "base/function_ref.h"
#include "base/resource.h"

namespace weir {

// Where resources are found: by container, kind and name. A session has one, and several sessions may share one, as
// those of a server do. Outlives graphs. Thread-safe; asked when plans and frames are made, not in every run.
class ResourceManager {
 public:
  static constexpr std::string_view kDefaultContainer = "localhost";

  // The resource of that kind and name; made by `make` when asked for the first time. An empty container is the default
  // one.
  template <class R>
  ResourcePtr<R> find_or_make(std::string_view container, std::string_view name, FunctionRef<ResourcePtr<R>()> make) {
    ResourcePtr<Resource> found =
        find_or_make(typeid(R), container, name, [&] { return ResourcePtr<Resource>(make()); });
    return ResourcePtr<R>(static_cast<R*>(found.get()));
  }
  // Null when there is none.
  template <class R>
  ResourcePtr<R> find(std::string_view container, std::string_view name) const {
    return ResourcePtr<R>(static_cast<R*>(find(typeid(R), container, name).get()));
  }

  // Takes one out; whoever asks for it next gets a new one. Those who hold it keep it. False: there is none such.
  bool remove(const Resource& resource);
  // Takes out all of a container (empty: of the default one), or everything.
  void clear(std::string_view container);
  void clear_all();

  // Grows with every removal: what was found under an older number has to be looked up again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  struct Key {
    std::string container;
    std::type_index kind;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  ResourcePtr<Resource> find_or_make(const std::type_info& kind, std::string_view container, std::string_view name,
                                     FunctionRef<ResourcePtr<Resource>()> make);
  ResourcePtr<Resource> find(const std::type_info& kind, std::string_view container, std::string_view name) const;

  mutable std::mutex mutex_;
  std::map<Key, ResourcePtr<Resource>> resources_;
  std::atomic<uint64_t> generation_{0};
};

}  // namespace weir
