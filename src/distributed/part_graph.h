#pragma once

#include <map>
#include <string>

#include "proto/graph.pb.h"

namespace weir::distributed {

// An attribute of _Recv: what the sender knows of the value's shape, which is never dead. Masters of Weir's set it.
inline const std::string kShapeAttr = "_weir_shape";
// And of what ends at the master: it comes or goes in one of several calls of the step.
inline const std::string kPartialAttr = "_weir_partial";

bool is_send(const proto::NodeDef& node);
bool is_recv(const proto::NodeDef& node);
// What the call that runs the part brings, or takes with its answer.
bool ends_at_master(const proto::NodeDef& node);

// A part of a graph as a master registers it, in Weir's nodes: they have the number of the step as an input.
struct PartGraph {
  // Throws InvalidArgument, naming the node.
  explicit PartGraph(const proto::GraphDef& given);

  proto::GraphDef graph;
  std::map<std::string, std::string> feeds, fetches;  // what ends at the master: key -> "name:0"
  bool uses_step = false;
  bool is_cut = false;  // conditionals or loops are not whole in it: their nodes must stay what they are

  inline static const std::string kStep = "_weir_step";  // a placeholder
};

}  // namespace weir::distributed
