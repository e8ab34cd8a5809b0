#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph_impl.h"

namespace weir {

// Puts the graph back as it was unless the import is committed.
class Rollback {
 public:
  explicit Rollback(Graph::Impl& impl)
      : impl_(impl),
        nodes_(impl.storage.nodes.size()),
        bodies_(impl.storage.bodies.size()),
        listed_(impl.storage.listed),
        names_(impl.names.in_use),
        library_(impl.storage.function_library),
        control_(std::exchange(impl.scopes.control, {})),
        colocate_(std::exchange(impl.scopes.colocate, {})),
        beside_(std::exchange(impl.scopes.beside, {})) {}
  ~Rollback() {
    // Scopes of the program do not reach into what is imported.
    impl_.scopes.control = std::move(control_);
    impl_.scopes.colocate = std::move(colocate_);
    impl_.scopes.beside = std::move(beside_);
    if (committed_) return;
    std::lock_guard lock(impl_.storage.mutex);
    for (size_t i = nodes_; i < impl_.storage.nodes.size(); ++i) {
      const Node& node = *impl_.storage.nodes[i];
      if (!Body::function_around(node.body)) impl_.storage.by_name.erase(node.name);
    }
    impl_.storage.listed = listed_;
    for (const auto& body : impl_.storage.bodies) {
      std::erase_if(body->nodes, [&](const Node* node) { return static_cast<size_t>(node->id) >= nodes_; });
    }
    for (size_t i = bodies_; i < impl_.storage.bodies.size(); ++i)
      impl_.storage.body_by_name.erase(impl_.storage.bodies[i]->name);
    impl_.storage.bodies.resize(bodies_);
    impl_.storage.nodes.resize(nodes_);
    impl_.names.in_use = std::move(names_);
    impl_.storage.function_library = std::move(library_);
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;
  void commit() { committed_ = true; }

 private:
  Graph::Impl& impl_;
  size_t nodes_, bodies_;
  int64_t listed_;
  std::unordered_map<std::string, int> names_;
  std::string library_;
  std::vector<ControlScope> control_;
  std::vector<Node*> colocate_;
  std::string beside_;
  bool committed_ = false;
};

}  // namespace weir
