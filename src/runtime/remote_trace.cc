#include "runtime/remote_trace.h"

#include <algorithm>

#include "proto/step_stats.pb.h"

namespace weir {
namespace {

// "node = MatMul(a, b)" says which operation a node is; TensorFlow's tasks say it for some nodes only.
std::string op_of(const proto::NodeExecStats& node) {
  const std::string& label = node.timeline_label();
  const size_t equals = label.find(" = ");
  if (equals == std::string::npos) return node.node_name();
  const size_t begin = equals + 3;
  return label.substr(begin, label.find('(', begin) - begin);
}

}  // namespace

RunTrace trace_from_stats(const std::string& step_stats) {
  RunTrace trace;
  proto::StepStats stats;
  if (!stats.ParseFromString(step_stats)) return trace;
  bool is_first = true;
  for (const auto& device : stats.dev_stats()) {
    for (const auto& node : device.node_stats()) {
      if (is_first || node.all_start_micros() < trace.wall_start_us) trace.wall_start_us = node.all_start_micros();
      is_first = false;
    }
  }
  int lane = 0;
  for (const auto& device : stats.dev_stats()) {
    for (const auto& node : device.node_stats()) {
      const int64_t start = (node.all_start_micros() - trace.wall_start_us) * 1000;
      int64_t bytes = 0;
      for (const auto& memory : node.memory()) bytes += memory.total_bytes();
      trace.events.push_back({.node = node.node_name(),
                              .op = op_of(node),
                              .device = device.device(),
                              .thread = lane,
                              .start_ns = start,
                              .end_ns = start + std::max<int64_t>(node.all_end_rel_micros(), 0) * 1000,
                              .output_bytes = bytes});
    }
    ++lane;
  }
  return trace;
}

}  // namespace weir
