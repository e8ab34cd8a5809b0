#include "distributed/session_graph.h"

#include "base/errors.h"
#include "graph/graph_def.h"
#include "graph/node.h"

namespace weir::distributed {

void SessionGraph::describe() {
  def.Clear();
  by_name.clear();
  nodes.clear();
  graph_to_proto(graph, def);
  for (int i = 0; i < def.node_size(); ++i) {
    by_name.emplace(def.node(i).name(), i);
    nodes.push_back(graph.operation(def.node(i).name()).node());
  }
}

Output SessionGraph::output(const std::string& name) const {
  const std::string full = name.find(':') == std::string::npos ? name + ":0" : name;
  if (auto found = alias.find(full); found != alias.end()) return found->second;
  const size_t colon = full.rfind(':');
  const Operation operation = graph.find(full.substr(0, colon));
  const std::string port = full.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() < 7 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!operation || !is_number || std::stoi(port) >= operation.outputs()) {
    throw not_found("{}: not found in the session's graph", full);
  }
  return operation.output(std::stoi(port));
}

Operation SessionGraph::operation(const std::string& name) const {
  const Operation operation = graph.find(name);
  if (operation) return operation;
  // What stands for a node that the import took apart.
  if (auto found = alias.find(name + ":0"); found != alias.end()) return found->second.op();
  throw not_found(
      "Tensor {}, specified in either feed_devices or fetch_devices or as a target was not found in the Graph", name);
}

}  // namespace weir::distributed
