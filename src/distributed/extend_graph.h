#pragma once

#include "distributed/session_graph.h"

namespace weir::distributed {

// A client sends its graph in pieces: the nodes that it has made since the last time.

// The pieces as one message. Throws InvalidArgument for nodes that are there already, FailedPrecondition for versions
// that do not fit.
proto::GraphDef join_graphs(const proto::GraphDef& known, const proto::GraphDef& more);

// Imports a whole graph of a client, and notes what has become of names that control flow took with it.
void import_client_graph(SessionGraph& graph, const proto::GraphDef& message);

// Adds nodes to a graph that sessions run. False, and nothing has changed: these nodes change what is there (a loop
// gets its gradient, say), and the graph must be imported anew. Throws InvalidArgument for nodes that are wrong.
bool extend_in_place(SessionGraph& graph, const proto::GraphDef& more);

}  // namespace weir::distributed
