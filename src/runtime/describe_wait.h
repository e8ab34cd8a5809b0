#pragma once

#include <string>

#include "base/resource.h"
#include "graph/node.h"

namespace weir {

// What a node that waits for a resource (null: for something else) is about, for messages: the node and its line, the
// resource and its state, and who of the graph could end the wait.
std::string describe_wait(const Node& node, const Resource* resource);

// Whether somebody should hear of it when the calling thread waits long at this node. Threads that fill a queue wait
// whenever it is full, as they should; only the program's main thread should not.
bool is_odd_wait(const Node& node);

}  // namespace weir
