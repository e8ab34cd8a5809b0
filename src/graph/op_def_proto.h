#pragma once

#include <set>
#include <string>

#include "graph/op.h"
#include "proto/graph.pb.h"
#include "proto/op_def.pb.h"

namespace weir {

// An operation's signature as TensorFlow's files have it.
void op_to_proto(const Op& op, proto::OpDef& message);

// The names of the operations that a graph and the functions that it calls use, in order; without the functions.
std::set<std::string> op_names_used_by(const proto::GraphDef& graph);
// Their signatures, without those that nobody has described.
proto::OpList ops_used_by(const proto::GraphDef& graph);

// Takes from nodes, in functions too, the attributes that have the value which the operation's signature gives them
// anyway, so that readers who do not know an attribute yet need not.
void strip_default_attrs(proto::GraphDef& graph);

}  // namespace weir
