#pragma once

#include <string>
#include <unordered_map>

#include "proto/graph.pb.h"
#include "weir/graph.h"

namespace weir {

// Of the GraphDefs that Weir writes: TensorFlow 1.15's. Files that want a newer consumer are refused.
inline constexpr int kGraphDefProducer = 134;
inline constexpr int kGraphDefMinConsumer = 0;

void node_to_proto(const Node& node, proto::NodeDef& message);
void graph_to_proto(const Graph& graph, proto::GraphDef& message);
// Graph::to_graph_def with the attribute _output_shapes on each node, which viewers write beside the edges.
std::string graph_def_with_shapes(const Graph& graph);

// What Switch, Merge, Enter and their like become: If and While where they are whole conditionals and loops, or what
// they are (ops/control/dataflow.h).
enum class ControlFlow { Bodies, Nodes };

// Graph::import_graph_def on a parsed message.
ImportResult import_graph(Graph& graph, const proto::GraphDef& message, const ImportOptions& options,
                          ControlFlow control_flow = ControlFlow::Bodies);

// The same for more nodes of the program that made the graph: they may stand beside nodes that the graph has.
// `aliases`, if given, gets the tensors ("cond/Merge:0") that control flow has made others of.
using ImportAliases = std::unordered_map<std::string, Output>;
void extend_graph(Graph& graph, const proto::GraphDef& message, const ImportOptions& options, ImportAliases* aliases);

}  // namespace weir
