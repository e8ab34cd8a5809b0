#include "weir/device_setter.h"

#include <algorithm>
#include <memory>

#include "weir/device.h"

namespace weir::train {
namespace {

const std::vector<std::string> kServerOps = {"Variable",
                                             "VariableV2",
                                             "AutoReloadVariable",
                                             "MutableHashTable",
                                             "MutableHashTableV2",
                                             "MutableHashTableOfTensors",
                                             "MutableHashTableOfTensorsV2",
                                             "MutableDenseHashTable",
                                             "MutableDenseHashTableV2",
                                             "VarHandleOp",
                                             "BoostedTreesEnsembleResourceHandleOp"};

}  // namespace

Scope replica_device_setter(Graph& graph, const ClusterSpec& cluster, const ReplicaDeviceSetterOptions& options) {
  const auto job = cluster.find(DeviceSpec::parse(options.ps_device).job.value_or(""));
  return replica_device_setter(graph, job == cluster.end() ? 0 : static_cast<int>(job->second.size()), options);
}

Scope replica_device_setter(Graph& graph, int ps_tasks, const ReplicaDeviceSetterOptions& options) {
  if (ps_tasks == 0) return Scope("", nullptr);
  auto next = std::make_shared<int>(0);
  return graph.device([ps_tasks, options, next](const NodeArgs& node) {
    if (!options.merge_devices && !node.device.empty()) return node.device;
    const DeviceSpec current = DeviceSpec::parse(node.device);
    const std::vector<std::string>& ops = options.ps_ops.empty() ? kServerOps : options.ps_ops;
    if (options.ps_device.empty() || std::ranges::find(ops, node.op) == ops.end()) {
      return current.merged_into(DeviceSpec::parse(options.worker_device)).str();
    }
    DeviceSpec server = DeviceSpec::parse(options.ps_device);
    if (server.job && (!current.job || current.job == server.job)) {
      server.task = options.ps_strategy ? options.ps_strategy(node) : std::exchange(*next, (*next + 1) % ps_tasks);
    }
    return current.merged_into(server).str();
  });
}

}  // namespace weir::train
