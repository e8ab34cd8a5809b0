#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/cluster.h"
#include "distributed/session_graph.h"

namespace weir::distributed {

// Who runs what.
struct TaskChoice {
  const Jobs& jobs;                                        // of the cluster
  std::string own_job;                                     // of the master
  int own_task = 0;                                        // where nodes go for which the program names no task
  bool soft = false;                                       // conflicts are settled, not refused
  std::function<bool(const std::string& task)> is_usable;  // by the session's device filters
};

// Nodes that every task computes for itself, because that is cheaper than sending them.
inline constexpr int kEverywhere = -1;

struct Assignment {
  std::vector<std::string> tasks;  // those that run something
  std::vector<int> task_of;        // of each node of the graph's message: a number of `tasks`, or kEverywhere
};

// Places the nodes that `needed` marks on tasks. Throws InvalidArgument with TensorFlow's words: devices that are not
// there, nodes that must stand together and may not.
Assignment assign_tasks(const SessionGraph& graph, const std::vector<bool>& needed, const TaskChoice& choice);

}  // namespace weir::distributed
