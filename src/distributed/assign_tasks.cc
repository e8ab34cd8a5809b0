#include "distributed/assign_tasks.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "graph/bodies.h"
#include "graph/node.h"

namespace weir::distributed {
namespace {

class Assigner {
 public:
  Assigner(const SessionGraph& graph, const std::vector<bool>& needed, const TaskChoice& choice)
      : graph_(graph), needed_(needed), choice_(choice), group_(graph.nodes.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    for (size_t i = 0; i < graph.nodes.size(); ++i) index_.emplace(graph.nodes[i], static_cast<int>(i));
  }

  Assignment run() {
    for (int i = 0; i < size(); ++i) {
      if (needed_[at(i)]) join_neighbours(i);
    }
    asked_.resize(group_.size());
    members_.resize(group_.size());
    for (int i = 0; i < size(); ++i) {
      if (needed_[at(i)]) ++members_[at(root(i))];
    }
    // Variables decide: what has no references comes after what has.
    for (bool variables : {true, false}) {
      for (int i = 0; i < size(); ++i) {
        if (is_variable(i) == variables) ask(i);
      }
    }
    std::vector<std::string> chosen(group_.size());
    for (int i = 0; i < size(); ++i) {
      if (needed_[at(i)] && chosen[at(root(i))].empty()) chosen[at(root(i))] = task_of(root(i));
    }
    follow(chosen);
    Assignment result;
    for (int i = 0; i < size(); ++i) {
      if (!needed_[at(i)]) {
        result.task_of.push_back(kEverywhere);
        continue;
      }
      if (is_free_constant(i)) {
        result.task_of.push_back(kEverywhere);
        continue;
      }
      const std::string& task = chosen[at(root(i))];
      auto known = std::find(result.tasks.begin(), result.tasks.end(), task);
      result.task_of.push_back(static_cast<int>(known - result.tasks.begin()));
      if (known == result.tasks.end()) result.tasks.push_back(task);
    }
    if (result.tasks.empty()) result.tasks.push_back(task_name(choice_.own_job, choice_.own_task));
    return result;
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  int size() const { return static_cast<int>(graph_.nodes.size()); }
  const Node& node(int i) const { return *graph_.nodes[at(i)]; }

  int root(int i) {
    while (group_[at(i)] != i) {
      group_[at(i)] = group_[at(group_[at(i)])];
      i = group_[at(i)];
    }
    return i;
  }
  void join(int a, int b) { group_[at(root(a))] = root(b); }
  int find(const Node* n) const {
    auto found = index_.find(n);
    return found == index_.end() ? -1 : found->second;
  }

  bool is_variable(int i) const { return node(i).op->role == Role::Variable; }
  bool is_free_constant(int i) {
    return node(i).op->role == Role::Constant && members_[at(root(i))] == 1 && !asked_[at(root(i))].by &&
           node(i).control_inputs.empty();
  }

  // References and handles mean something in one task only.
  void join_neighbours(int i) {
    const Node& n = node(i);
    const bool flow = is_if(*n.op) || is_while(*n.op);
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const Output& input = n.inputs[k];
      const int source = find(input.node());
      if (source < 0) continue;
      const DType type = input.dtype();
      const bool by_reference = input.is_ref() && (flow || n.op->input_arg(k, n.attrs).is_ref);
      if (by_reference || type == DType::Resource || type == DType::Variant) join(i, source);
    }
    for (const std::string& name : n.colocation) {
      auto other = graph_.by_name.find(name);
      if (other != graph_.by_name.end()) join(i, other->second);
    }
  }

  struct Asked {
    DeviceSpec spec;
    const Node* by = nullptr;
  };

  // Adds what the node's device says of the task to what its group is asked for. Nodes that the step does not need
  // still say where those beside them go.
  void ask(int i) {
    const Node& n = node(i);
    if (n.device.empty()) return;
    DeviceSpec spec = DeviceSpec::parse(n.device);
    spec.type.reset();
    spec.index.reset();
    if (spec.empty()) return;
    Asked& asked = asked_[at(root(i))];
    auto differ = [](const auto& a, const auto& b) { return a && b && *a != *b; };
    const char* what = differ(asked.spec.job, spec.job)     ? "jobs"
                       : differ(asked.spec.task, spec.task) ? "tasks"
                                                            : nullptr;
    if (what) {
      // Who merely uses a variable goes where the variable is.
      if (choice_.soft || n.op->role == Role::Read || n.op->role == Role::Identity) return;
      n.fail(
          Code::InvalidArgument,
          fmt::format("Cannot colocate nodes '{}' and '{}': Cannot merge devices with incompatible {}: '{}' and '{}'",
                      n.name, asked.by->name, what, n.device, asked.by->device));
    }
    asked.spec = asked.spec.merged_into(spec);
    if (!asked.by) asked.by = &n;
  }

  std::string task_of(int group) {
    const Asked& asked = asked_[at(group)];
    if (!asked.by) return task_name(choice_.own_job, choice_.own_task);
    const std::string job = asked.spec.job.value_or(choice_.own_job);
    auto tasks = choice_.jobs.find(job);
    if (tasks != choice_.jobs.end()) {
      for (const auto& [task, address] : tasks->second) {
        const std::string name = task_name(job, task);
        const bool own_default = !asked.spec.task && job == choice_.own_job;
        if (own_default ? task != choice_.own_task : asked.spec.task && *asked.spec.task != task) continue;
        if (asked.spec.replica.value_or(0) == 0 && choice_.is_usable(name)) return name;
      }
    }
    if (choice_.soft && !asked.spec.job) return task_name(choice_.own_job, choice_.own_task);
    std::string available;
    for (const auto& [name, list] : choice_.jobs) {
      for (const auto& [task, address] : list) {
        const std::string full = task_name(name, task);
        if (choice_.is_usable(full)) available += (available.empty() ? "" : ", ") + host_device(full);
      }
    }
    asked.by->fail(
        Code::InvalidArgument,
        fmt::format("Cannot assign a device for operation {}: Operation was explicitly assigned to {} but "
                    "available devices are [ {} ]. Make sure the device specification refers to a valid device.",
                    asked.by->name, asked.by->device, available));
  }

  // A node that nothing ties goes with the one neighbour that it works for, so that less is sent.
  void follow(std::vector<std::string>& chosen) {
    std::vector<int> readers(graph_.nodes.size(), 0), reader(graph_.nodes.size(), -1);
    for (int i = 0; i < size(); ++i) {
      if (!needed_[at(i)]) continue;
      for (const Output& input : node(i).inputs) {
        const int source = find(input.node());
        if (source < 0) continue;
        ++readers[at(source)];
        reader[at(source)] = i;
      }
    }
    for (int i = 0; i < size(); ++i) {
      if (!needed_[at(i)] || members_[at(root(i))] > 1 || asked_[at(root(i))].by) continue;
      int neighbour = -1;
      if (node(i).op->def->from_shape) neighbour = find(node(i).inputs[0].node());
      if (node(i).inputs.empty() && readers[at(i)] == 1) neighbour = reader[at(i)];
      if (neighbour >= 0 && needed_[at(neighbour)]) chosen[at(i)] = chosen[at(root(neighbour))];
    }
  }

  const SessionGraph& graph_;
  const std::vector<bool>& needed_;
  const TaskChoice& choice_;
  std::vector<int> group_;
  std::unordered_map<const Node*, int> index_;
  std::vector<Asked> asked_;  // of the root of each group
  std::vector<int> members_;  // of the root of each group: how many are needed
};

}  // namespace

Assignment assign_tasks(const SessionGraph& graph, const std::vector<bool>& needed, const TaskChoice& choice) {
  return Assigner(graph, needed, choice).run();
}

}  // namespace weir::distributed
