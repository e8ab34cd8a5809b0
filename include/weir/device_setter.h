#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/server.h"

namespace weir::train {

struct ReplicaDeviceSetterOptions {
  std::string ps_device = "/job:ps", worker_device = "/job:worker";
  bool merge_devices = true;             // false: nodes with a device of their own keep it as it is
  std::vector<std::string> ps_ops = {};  // what goes to the servers; empty: variables and tables
  // Chooses a server for an operation; empty: one after another.
  std::function<int(const NodeArgs&)> ps_strategy = {};
};

// Places variables on the parameter servers of a cluster, one after another, and everything else on the worker, as long
// as the scope lives. Does nothing when the cluster has no such servers.
//
//   auto on_servers = train::replica_device_setter(g, server.options().cluster);
WEIR_API Scope replica_device_setter(Graph& graph, const ClusterSpec& cluster,
                                     const ReplicaDeviceSetterOptions& options = {});
// The same for so many servers.
WEIR_API Scope replica_device_setter(Graph& graph, int ps_tasks, const ReplicaDeviceSetterOptions& options = {});

}  // namespace weir::train
