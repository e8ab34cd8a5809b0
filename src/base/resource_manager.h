#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "base/function_ref.h"
#include "base/resource.h"

namespace weir {

// Where resources are found: by container, kind and name. Outlives graphs, and sessions where several share it, as
// those of a server do. Thread-safe; asked when plans and frames are made, not in every run.
class ResourceManager {
 public:
  static constexpr std::string_view kDefaultContainer = "localhost";

  ResourceManager();
  ~ResourceManager();
  ResourceManager(const ResourceManager&) = delete;
  ResourceManager& operator=(const ResourceManager&) = delete;

  // The resource of that kind and name; made by `make` when asked for the first time. An empty container is the default
  // one. `make` must not ask this manager.
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
  // TensorFlow's Session.reset: clears these containers; none: the default one.
  void reset(std::span<const std::string> containers);
  size_t size() const;

  // Grows with every removal: what was found under an older number has to be looked up again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  struct State;
  ResourcePtr<Resource> find_or_make(const std::type_info& kind, std::string_view container, std::string_view name,
                                     FunctionRef<ResourcePtr<Resource>()> make);
  ResourcePtr<Resource> find(const std::type_info& kind, std::string_view container, std::string_view name) const;

  const std::unique_ptr<State> state_;  // not in this header, which all operations include: maps and locks cost compiling
  std::atomic<uint64_t> generation_{0};
};

class FunctionRunner;

// What a session's operations keep their state in.
struct SessionResources {
  std::shared_ptr<ResourceManager> named;  // by container and name; perhaps of several sessions
  // State that belongs to a node and not to a name: a generator of random numbers, a counter. Nodes of the same name in
  // graphs of other sessions have their own.
  ResourceManager of_nodes = {};
  // How operations call functions of the session's graph: ops/function_runner.h.
  std::shared_ptr<FunctionRunner> functions = nullptr;
};

}  // namespace weir
