#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weir/export.h"

namespace weir {

class ResourceManager;
struct SessionResources;

// Where sessions keep what outlives their runs (variables, queues, tables), by container and name. A session has one of
// its own unless SessionOptions::resources gives it one that it shares with others, as the sessions of a server do:
// operations of the same container and shared_name (or, without that, node name) then mean the same state, whatever
// graph they are in. State that has no name, such as where a random operation stands, is each session's own, or that of
// several which are parts of one.
//
// Thread-safe. Lives as long as a session uses it; what it holds stays until it is reset or gone.
class WEIR_API Resources {
 public:
  Resources();
  ~Resources();
  // The same state by name as `other`, and for the sessions that use this one also the same of nodes without a name:
  // they run parts of one session's graph.
  static std::shared_ptr<Resources> of_parts(const Resources& other);
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  // Takes out what these containers hold; none: the default container. Runs that are under way keep what they use,
  // later ones find variables without values.
  void reset(const std::vector<std::string>& containers = {});

  const std::shared_ptr<ResourceManager>& manager() const { return manager_; }
  const std::shared_ptr<SessionResources>& nodes() const { return nodes_; }  // null: each session's own

 private:
  std::shared_ptr<ResourceManager> manager_;
  std::shared_ptr<SessionResources> nodes_;
};

}  // namespace weir
