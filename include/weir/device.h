#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"

namespace weir {

struct SessionOptions;

// What is said of a device; what is absent is left open. "/job:worker/task:3" names every device of a task, "/gpu:1"
// the second GPU of whatever task.
struct WEIR_API DeviceSpec {
  std::optional<std::string> job;
  std::optional<int> replica, task;
  std::optional<std::string> type;  // "CPU", "GPU"
  std::optional<int> index;

  // Every spelling: "/gpu:1", "gpu:1", "/device:GPU:1", "/job:worker/replica:0/task:3/cpu:0", "/gpu:*" and "/gpu" (any
  // GPU), "" (any device). Throws InvalidArgument.
  static DeviceSpec parse(std::string_view text);

  // TensorFlow's canonical form: "/job:worker/task:3/device:CPU:0"; "/device:GPU:*" when the index is open.
  std::string str() const;
  bool empty() const { return *this == DeviceSpec(); }
  // This one, where it says nothing `outer`: what a scope inside another one means.
  DeviceSpec merged_into(const DeviceSpec& outer) const;
  // Whether `device` is one of those that this names.
  bool matches(const DeviceSpec& device) const;
  bool operator==(const DeviceSpec&) const = default;
};

// A device that a session has.
struct DeviceInfo {
  std::string name;          // "/job:localhost/replica:0/task:0/device:GPU:0"
  std::string type;          // "GPU"
  int64_t memory_limit = 0;  // bytes; 0: as much as the machine has
  int threads = 1;           // cores that its kernels use
  std::string description;   // "virtual GPU on 1 core"
};

// The devices that a session with these options has, CPU 0 first. Throws what its constructor would.
WEIR_API std::vector<DeviceInfo> list_local_devices(const SessionOptions& options);
WEIR_API std::vector<DeviceInfo> list_local_devices();

}  // namespace weir
