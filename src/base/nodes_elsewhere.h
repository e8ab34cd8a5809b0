#pragma once

#include <memory>
#include <string>

#include "base/resource_manager.h"

namespace weir {

// Stands among the state of a session's nodes and says that it is kept elsewhere: with that of other sessions, which
// run other parts of the same graph.
class NodesElsewhere final : public Resource {
 public:
  explicit NodesElsewhere(std::shared_ptr<SessionResources> nodes) : nodes_(std::move(nodes)) {}
  static constexpr const char* kName = "_elsewhere";
  SessionResources& nodes() const { return *nodes_; }
  std::string describe() const override { return "state of nodes"; }

 private:
  const std::shared_ptr<SessionResources> nodes_;
};

}  // namespace weir
