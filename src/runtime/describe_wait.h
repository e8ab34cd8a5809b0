#pragma once

#include <string>

#include "base/resource.h"
#include "graph/node.h"

namespace weir {

// What a node that waits for a resource (null: for something else) is about, for messages: the node and its line, the
// resource and its state, and who of the graph could end the wait.
std::string describe_wait(const Node& node, const Resource* resource);

}  // namespace weir
