#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weir/export.h"

namespace weir {

class ResourceManager;

// Where sessions keep what outlives their runs (variables, queues, tables), by container and name. A session has one of
// its own unless SessionOptions::resources gives it one that it shares with others, as the sessions of a server do:
// operations of the same container and shared_name (or, without that, node name) then mean the same state, whatever
// graph they are in. State that has no name, such as where a random operation stands, is each session's own.
//
// Thread-safe. Lives as long as a session uses it; what it holds stays until it is reset or gone.
class WEIR_API Resources {
 public:
  Resources();
  ~Resources();
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  // Takes out what these containers hold; none: the default container. Runs that are under way keep what they use,
  // later ones find variables without values.
  void reset(const std::vector<std::string>& containers = {});

  const std::shared_ptr<ResourceManager>& manager() const { return manager_; }

 private:
  std::shared_ptr<ResourceManager> manager_;
};

}  // namespace weir
