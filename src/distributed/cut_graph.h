#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/assign_tasks.h"

namespace weir::distributed {

// What a step of a master is to do.
struct StepSpec {
  std::vector<Output> feeds = {}, fetches = {};
  std::vector<Operation> targets = {};
  bool partial = false;  // feeds and fetches come and go in several calls
};

struct CutPart {
  std::string task = {};
  proto::GraphDef graph = {};
  // Feeds that the part reads and fetches that it gives, by their numbers in the step, with their keys.
  std::vector<std::pair<int, std::string>> feeds = {}, fetches = {};
};

// Which nodes of the graph's message a step needs: what the fetches and targets depend on, up to what is fed.
std::vector<bool> needed_nodes(const SessionGraph& graph, const StepSpec& step);

// Cuts what a step needs into one part for each task. Every value that several nodes of a task read is sent to it once.
// A fetch that is fed is given by no part.
struct CutNames {
  std::function<uint64_t(const std::string& task)> incarnation;
  std::function<bool(const std::string& task)> wants_full_devices;  // TensorFlow's tasks place nothing themselves
  // For names of nodes that are made, one a session: TensorFlow's tasks keep what sends and receives by its name.
  std::function<int64_t()> next_number;
};
std::vector<CutPart> cut_graph(const SessionGraph& graph, const StepSpec& step, const std::vector<bool>& needed,
                               const Assignment& assignment, const CutNames& names);

}  // namespace weir::distributed
