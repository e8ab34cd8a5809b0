#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "proto/graph.pb.h"
#include "weir/graph.h"

namespace weir::distributed {

// The graph of a master's session, at one moment: as nodes, and as the message that parts of it are cut from.
struct SessionGraph {
  Graph graph;
  proto::GraphDef def = {};                            // of `graph`: its nodes have If and While, not Switch and Merge
  std::unordered_map<std::string, int> by_name = {};   // nodes of `def`
  std::vector<Node*> nodes = {};                       // of `graph`, one for each of `def`
  std::unordered_map<std::string, Output> alias = {};  // names of the client's graph that have become other tensors'

  // REQUIRES: `graph` is whole.
  void describe();

  // What a client calls it: "x:0", "x". Throws NotFound with TensorFlow's words.
  Output output(const std::string& name) const;
  Operation operation(const std::string& name) const;
};

}  // namespace weir::distributed
