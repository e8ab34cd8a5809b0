#pragma once

#include "proto/graph.pb.h"

namespace weir::distributed {

// What of TensorFlow 1's control flow a part of a graph shares with other parts. TensorFlow's masters cut conditionals
// behind their Switches and before their Merges, and loops anywhere.
struct CutControlFlow {
  // A value that is received may be dead, or one that is sent: they are exchanged as tokens.
  bool has_tokens = false;
  // A conditional or a loop is not whole in the part: it must be run node by node.
  bool is_cut = false;
};

// `may_be_dead`: whether the value of a _Recv may be. Throws InvalidArgument for inputs that are not there.
CutControlFlow find_cut_control_flow(const proto::GraphDef& part, bool (*may_be_dead)(const proto::NodeDef& recv));

}  // namespace weir::distributed
