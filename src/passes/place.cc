#include "passes/place.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_map>

#include "base/errors.h"
#include "graph/node.h"

namespace weir {
namespace {

// Two names that cannot be one device's: the part in which they differ, or null.
const char* difference(const DeviceSpec& a, const DeviceSpec& b) {
  auto differ = [](const auto& x, const auto& y) { return x && y && *x != *y; };
  if (differ(a.job, b.job)) return "jobs";
  if (differ(a.replica, b.replica)) return "replicas";
  if (differ(a.task, b.task)) return "tasks";
  if (differ(a.type, b.type)) return "types";
  return differ(a.index, b.index) ? "ids" : nullptr;
}

class Placer {
 public:
  Placer(Ir& ir, const DeviceSet& devices, const PlaceOptions& options)
      : ir_(ir), devices_(devices), options_(options), in_cluster_(devices[0].spec().job != "localhost") {}

  void run() {
    for (int i = 0; i < ir_.size(); ++i) group_of_.push_back(i);
    join_groups();
    collect_names();
    for (int i = 0; i < ir_.size(); ++i) {
      if (!skip(i)) members_[root(i)].push_back(i);
    }
    chosen_.assign(group_of_.size(), -1);
    for (int i = 0; i < ir_.size(); ++i) {
      if (skip(i)) continue;
      int& device = chosen_[static_cast<size_t>(root(i))];
      if (device < 0) device = choose(root(i));
      ir_[i].device = device;
    }
    follow_neighbours();
    for (IrNode& node : ir_.nodes) {
      if (node.is_feed()) node.device = options_.home;
    }
  }

 private:
  bool skip(int node) const { return ir_[node].dead || ir_[node].is_feed(); }

  int root(int node) {
    auto at = static_cast<size_t>(node);
    while (group_of_[at] != static_cast<int>(at)) {
      group_of_[at] = group_of_[static_cast<size_t>(group_of_[at])];
      at = static_cast<size_t>(group_of_[at]);
    }
    return static_cast<int>(at);
  }
  void join(int a, int b) { group_of_[static_cast<size_t>(root(a))] = root(b); }

  void join_groups() {
    std::unordered_map<std::string_view, int> by_name;
    for (int i = 0; i < ir_.size(); ++i) {
      if (!skip(i)) by_name.emplace(ir_[i].name, i);
    }
    for (int i = 0; i < ir_.size(); ++i) {
      if (skip(i)) continue;
      const IrNode& node = ir_[i];
      for (const IrEdge& input : node.inputs) {
        // Control flow hands references on to its bodies, wherever those run.
        if (!skip(input.node) && refers(input) && !node.flow) join(i, input.node);
      }
      for (const std::string& name : node.origin->colocation) {
        auto known = by_name.find(name);
        // A node that this run does not need still says where those beside it go.
        if (known == by_name.end()) {
          group_of_.push_back(static_cast<int>(group_of_.size()));
          Operation outside = node.origin->graph->find(name);
          outside_.push_back(outside ? outside.node() : nullptr);
          known = by_name.emplace(name, static_cast<int>(group_of_.size()) - 1).first;
        }
        join(i, known->second);
      }
    }
  }

  // Whether an edge carries a reference or a handle, whose users stand with what it refers to.
  bool refers(const IrEdge& edge) const {
    if (ir_.type(edge) == DType::Resource) return true;
    const Node& node = *ir_[edge.node].origin;
    return ir_[edge.node].op == node.op && node.output_refs[static_cast<size_t>(edge.output)];
  }

  const DeviceSpec& spec_of(const Node& node) {
    // A branch or a loop runs in one task of a cluster, whichever its nodes name: what they say of the device holds.
    const bool any_task = node.body && in_cluster_;
    auto known = specs_.find({any_task, node.device});
    if (known != specs_.end()) return known->second;
    DeviceSpec spec = DeviceSpec::parse(node.device);
    if (any_task) {
      spec.job.reset();
      spec.replica.reset();
      spec.task.reset();
    }
    return specs_.emplace(std::make_pair(any_task, node.device), std::move(spec)).first->second;
  }

  struct Asked {
    DeviceSpec spec;
    const Node* by = nullptr;
  };

  // What the members of each group say together.
  void collect_names() {
    asked_.resize(group_of_.size());
    auto add = [&](int member, const Node& node, bool follows) {
      if (node.device.empty()) return;
      Asked& asked = asked_[static_cast<size_t>(root(member))];
      const DeviceSpec& spec = spec_of(node);
      const char* what = difference(asked.spec, spec);
      // Who merely uses a variable goes where the variable is; a conflict is one only between kinds of devices.
      if (what && follows && std::string_view(what) == "ids") return;
      if (what && !options_.allow_soft_placement) {
        node.fail(Code::InvalidArgument,
                  fmt::format("Cannot colocate nodes '{}' and '{}': Cannot merge devices with incompatible {}: '{}' "
                              "and '{}'",
                              node.name, asked.by->name, what, node.device, asked.by->device));
      }
      if (what) return;
      asked.spec = asked.spec.merged_into(spec);
      if (!asked.by) asked.by = &node;
    };
    // Variables first: they decide.
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i < ir_.size(); ++i) {
        if (skip(i)) continue;
        const IrNode& node = ir_[i];
        const bool uses = !node.inputs.empty() && !node.flow && refers(node.inputs[0]);
        if (uses != (pass == 1)) continue;
        if (node.op->role != Role::Read) add(i, *node.origin, uses);
      }
      if (pass > 0) continue;
      for (size_t i = 0; i < outside_.size(); ++i) {
        if (outside_[i]) add(ir_.size() + static_cast<int>(i), *outside_[i], false);
      }
    }
  }

  bool runs_on(const IrNode& node, int device) const {
    return node.is_constant() || has_kernel(devices_[device], ir_, node);
  }

  // The members of a group, of which the first may be blamed.
  std::vector<int> with_kernels(const std::vector<int>& candidates, const std::vector<int>& members) const {
    std::vector<int> able;
    for (int device : candidates) {
      if (std::all_of(members.begin(), members.end(), [&](int m) { return runs_on(ir_[m], device); }))
        able.push_back(device);
    }
    return able;
  }

  int choose(int group) {
    const std::vector<int>& members = members_.at(group);
    const Asked& asked = asked_[static_cast<size_t>(group)];
    std::vector<int> matching = devices_.matching(asked.spec);
    std::vector<int> able = with_kernels(matching, members);
    DeviceSpec spec = asked.spec;
    if (able.empty() && options_.allow_soft_placement) {
      spec.type.reset();
      spec.index.reset();
      able = with_kernels(devices_.matching(spec), members);
    }
    if (able.empty()) fail(asked, members, matching.empty());
    // Where the program leaves the kind open, accelerators come first.
    if (!spec.type && !options_.prefers_host) {
      for (int device : able) {
        if (devices_[device].is_accelerator()) return device;
      }
    }
    return able.front();
  }

  [[noreturn]] void fail(const Asked& asked, const std::vector<int>& members, bool no_such_device) const {
    const Node& node = asked.by ? *asked.by : *ir_[members.front()].origin;
    std::string message = fmt::format("Cannot assign a device for operation {}: ", node.name);
    if (no_such_device) {
      message += fmt::format(
          "Operation was explicitly assigned to {} but available devices are {}. Make sure the device specification "
          "refers to a valid device.",
          node.device, devices_.names());
      if (asked.spec.type == "GPU") {
        message +=
            " Virtual GPUs come with SessionOptions::virtual_gpus, WEIR_VIRTUAL_GPUS=N or weir run "
            "--virtual-gpus N;";
      }
    } else {
      auto lacking = std::find_if(members.begin(), members.end(),
                                  [&](int m) { return with_kernels(devices_.matching(asked.spec), {m}).empty(); });
      const IrNode& blamed = ir_[lacking == members.end() ? members.front() : *lacking];
      std::vector<int> all = devices_.matching({});
      std::string places;
      for (int device : with_kernels(all, {static_cast<int>(&blamed - ir_.nodes.data())})) {
        places += (places.empty() ? "" : ", ") + devices_[device].name();
      }
      message += fmt::format(
          "Could not satisfy explicit device specification '{}' because no supported kernel for {} devices is "
          "available: {} '{}' could go to [ {} ].",
          asked.spec.str(), asked.spec.type.value_or("such"), blamed.op->name, blamed.name, places);
    }
    message += " allow_soft_placement lets operations go where they can.";
    node.fail(Code::InvalidArgument, message);
  }

  // A node that nothing ties goes with the one neighbour that it works for.
  void follow_neighbours() {
    std::vector<int> readers(ir_.nodes.size(), 0), reader(ir_.nodes.size(), -1);
    for (int i = 0; i < ir_.size(); ++i) {
      if (ir_[i].dead) continue;
      for (const IrEdge& input : ir_[i].inputs) {
        ++readers[static_cast<size_t>(input.node)];
        reader[static_cast<size_t>(input.node)] = i;
      }
    }
    for (int i = 0; i < ir_.size(); ++i) {
      auto at = static_cast<size_t>(i);
      IrNode& node = ir_[i];
      if (skip(i) || !node.origin->device.empty() || members_.at(root(i)).size() > 1 ||
          asked_[static_cast<size_t>(root(i))].by)
        continue;
      int neighbour = -1;
      if (node.op->def->from_shape) neighbour = node.inputs[0].node;  // numbers about its input
      if (node.inputs.empty() && readers[at] == 1) neighbour = reader[at];
      if (neighbour < 0 || skip(neighbour)) continue;
      if (runs_on(node, ir_[neighbour].device)) node.device = ir_[neighbour].device;
    }
  }

  Ir& ir_;
  const DeviceSet& devices_;
  const PlaceOptions& options_;
  std::vector<int> group_of_;         // nodes, then those outside the plan; see root()
  std::vector<const Node*> outside_;  // null: there is no such node
  std::vector<Asked> asked_;          // of the root of each group
  std::vector<int> chosen_;           // of the root of each group
  std::unordered_map<int, std::vector<int>> members_;
  const bool in_cluster_;
  std::map<std::pair<bool, std::string>, DeviceSpec> specs_;  // by what nodes say
};

}  // namespace

bool has_kernel(const Device& device, const Ir& ir, const IrNode& node) {
  std::vector<DType> inputs;
  for (const IrEdge& input : node.inputs) inputs.push_back(ir.type(input));
  return device.kernel(NodeView(*node.op, node.attrs, node.name), inputs, node.types) != nullptr;
}

bool has_kernel(const PassContext& context, const Ir& ir, const IrNode& node) {
  return !context.devices || has_kernel((*context.devices)[node.device], ir, node);
}

void place(Ir& ir, const DeviceSet& devices, const PlaceOptions& options) {
  auto named = [](const IrNode& node) { return !node.dead && !node.origin->device.empty(); };
  if (devices.size() > 1 || std::any_of(ir.nodes.begin(), ir.nodes.end(), named)) Placer(ir, devices, options).run();
  // The members of a group are in the order of their devices.
  for (IrNode& node : ir.nodes) {
    if (!node.dead && node.attrs.find("group_key")) node.attrs.set("_device", devices[node.device].name());
  }
  if (options.log) options.log->print(ir, devices);
}

PlacementLog::PlacementLog(const DeviceSet& devices) {
  std::string text;
  for (int i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    if (device.is_accelerator()) text += device.name() + " -> device: " + device.description() + "\n";
  }
  std::fputs(text.empty() ? "Device mapping: no known devices.\n" : ("Device mapping:\n" + text).c_str(), stderr);
}

void PlacementLog::print(const Ir& ir, const DeviceSet& devices) {
  std::lock_guard lock(mutex_);
  std::string text;
  for (int id : ir.topological_order()) {
    const IrNode& node = ir[id];
    // Reads that the plan adds are no nodes of the program.
    if (node.name != node.origin->name || !printed_.insert(node.name).second) continue;
    text += fmt::format("{}: ({}): {}\n", node.name, node.origin->op->name, devices[node.device].name());
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace weir
