#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "graph/node.h"
#include "weir/device.h"
#include "weir/graph.h"

namespace weir {

// A scope of control dependencies: what nodes made inside must wait for, and the nodes made inside so far (their
// consumers wait through them already).
struct ControlScope {
  std::vector<Node*> operations;
  std::unordered_set<const Node*> inside;
};

// A scope of devices: a name that inner scopes add to, a function, or the end of what enclosing scopes say.
struct DeviceScope {
  enum class Kind { Name, Function, Forget };
  Kind kind = Kind::Forget;
  DeviceSpec spec = {};
  Graph::DeviceFunction function = {};
  // What a node made here gets when it says nothing itself: this scope and those around it, up to a function.
  DeviceSpec merged = {};
  bool has_function = false;  // a function has to be asked
};

// What a node that is made now gets besides its arguments. For the building thread only; guards put things here and
// take them back (Scope, BodyScope, LineScope).
struct BuildingScopes {
  Body* body = nullptr;  // where new nodes go
  std::vector<ControlScope> control;
  std::vector<DeviceScope> devices;
  std::vector<Node*> colocate;
  // Name of a variable that is about to be made: without other colocation, nodes of its initial value stand beside it.
  std::string beside;
  // When set, new nodes carry this line instead of the one where they are made: composed functions and gradients
  // blame the line of the program that asked for them.
  std::optional<SourceLine> line;
  std::string container;        // in which operations with state keep it
  std::optional<int64_t> seed;  // of the graph: what those of random operations are derived from

  bool device_functions() const { return !devices.empty() && devices.back().has_function; }
  // The device of a node that is made now, when `own` is what is said of it alone and no function has to be asked.
  std::string device_of(const std::string& own) const;
  // Sets the device of a new node that stands in the graph already: device functions see it there. They are called
  // without the lock; `mutex`, the storage's, is held for each change.
  void ask_for_device(Node& node, const std::string& own, std::mutex& mutex) const;
};

}  // namespace weir
