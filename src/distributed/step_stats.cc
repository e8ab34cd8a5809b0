#include "distributed/step_stats.h"

#include "proto/step_stats.pb.h"
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

}  // namespace weir::distributed
