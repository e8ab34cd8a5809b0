#include "distributed/step_stats.h"

#include <algorithm>
#include <chrono>

#include "weir/device.h"

namespace weir::distributed {

std::string stats_of_task(const RunTrace& trace, const std::string& task) {
  proto::StepStats stats;
  stats.ParseFromString(trace.step_stats());
  const DeviceSpec own = DeviceSpec::parse(task);
  for (auto& device : *stats.mutable_dev_stats()) {
    DeviceSpec spec = DeviceSpec::parse(device.device());
    spec.job = own.job;
    spec.replica = own.replica;
    spec.task = own.task;
    device.set_device(spec.str());
  }
  return stats.SerializeAsString();
}

void fit_clock(proto::StepStats& stats, const CallTime& call) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const auto& device : stats.dev_stats()) {
    for (const auto& node : device.node_stats()) {
      begin = std::min(begin, node.all_start_micros());
      end = std::max(end, node.all_start_micros() + node.all_end_rel_micros());
    }
  }
  if (begin > end || (begin >= call.begin && end <= call.end)) return;
  const int64_t shift = (call.begin + call.end) / 2 - (begin + end) / 2;
  for (auto& device : *stats.mutable_dev_stats()) {
    for (auto& node : *device.mutable_node_stats()) {
      node.set_all_start_micros(node.all_start_micros() + shift);
      if (node.scheduled_micros() != 0) node.set_scheduled_micros(node.scheduled_micros() + shift);
      if (node.all_start_nanos() != 0) node.set_all_start_nanos(node.all_start_nanos() + shift * 1000);
      if (node.scheduled_nanos() != 0) node.set_scheduled_nanos(node.scheduled_nanos() + shift * 1000);
    }
  }
}

int64_t wall_clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace weir::distributed
