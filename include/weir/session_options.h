#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weir/resources.h"

namespace weir {

// Rewrites of a plan. They never change a result beyond rounding; switch one off to find out whether it is to blame.
struct PassOptions {
  bool fold_constants = true;
  bool remove_identities = true;
  bool share_common_subexpressions = true;
  bool fuse_bias_activation = true;
  bool fuse_elementwise = true;
  bool hoist_invariants = true;
  static PassOptions none() { return {false, false, false, false, false, false}; }
};

// Virtual GPUs: devices "/gpu:0" ... that run on CPU cores and have a memory of their own, so that programs for several
// GPUs run, and can be debugged, on any machine.
struct VirtualGpuOptions {
  int count = -1;              // -1: what WEIR_VIRTUAL_GPUS says in the environment, or none
  int64_t memory_limit = 0;    // bytes of each; 0: an equal share of half the machine's memory
  double memory_fraction = 1;  // of the limit that the session may use
  bool allow_growth = false;   // TensorFlow's; memory is taken when it is needed in either case, up to the limit
};

// What a client shows to servers, and servers to each other: see docs/cluster.md, "Security". Files are PEM.
struct ClusterCredentials {
  std::string ca_file = {}, certificate_file = {}, key_file = {};  // mutual TLS, when all three are given
  std::string token = {};                                          // a secret that all tasks and clients share
};

struct SessionOptions {
  int intra_op_parallelism_threads = 0;            // threads of one kernel, the calling one included; 0: one a core
  int inter_op_parallelism_threads = 0;            // branches of a plan that may run at once; 0: the runtime decides
  std::chrono::milliseconds operation_timeout{0};  // default of RunOptions::timeout; 0: none
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  PassOptions passes = {};
  std::map<std::string, int> device_count = {};  // {"CPU", 2}: two logical CPUs, each with half of the cores
  VirtualGpuOptions virtual_gpus = {};
  bool direct_convolutions = false;           // never Winograd's method: a little more exact, and slower
  std::shared_ptr<Resources> resources = {};  // where variables are kept; null: the session has its own

  // A session on a server: docs/cluster.md.
  std::string target = {};  // "grpc://host:port"; empty: in this process
  std::vector<std::string> device_filters =
      {};                              // tasks that the session uses: {"/job:ps", "/job:worker/task:1"}; none: all
  bool isolate_session_state = false;  // variables are the session's own, not the servers'
  ClusterCredentials credentials = {};
  std::string task = {};  // of a server's own sessions: what its devices are called, "/job:worker/replica:0/task:1"
};

}  // namespace weir
