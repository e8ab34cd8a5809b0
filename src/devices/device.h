#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "devices/memory.h"
#include "ops/kernel.h"
#include "weir/device.h"
#include "weir/session_options.h"

namespace weir {

// Where kernels run: a memory, a table of kernels and a share of the cores. A device's part of a plan runs on a lane of
// its own (runtime/lanes.h). Immutable but for the accounts of its memory; thread-safe.
class Device {
 public:
  enum class Kind { Cpu, VirtualGpu };
  struct Options {
    Kind kind = Kind::Cpu;
    int index = 0;
    int threads = 1;
    int64_t memory_limit = 0;  // 0: none
  };
  explicit Device(const Options& options);

  const std::string& name() const { return name_; }  // "/job:localhost/replica:0/task:0/device:GPU:0"
  const DeviceSpec& spec() const { return spec_; }
  const std::string& type() const { return *spec_.type; }
  std::string short_name() const { return "/device:" + type() + ":" + std::to_string(*spec_.index); }
  Kind kind() const { return kind_; }

  // The device's share of the cores, the thread that calls included.
  ThreadPool& pool() const { return *pool_; }
  // Null for memory that is the machine's own, without accounts.
  DeviceMemory* memory() const { return memory_.get(); }
  bool shares_memory_with(const Device& other) const { return this == &other || (!memory_ && !other.memory_); }
  // Elements in this device's memory. Throws ResourceExhausted.
  Tensor allocate(DType dtype, const Shape& shape, std::string_view holder) const;

  const Kernel& kernel(const Op& op) const;
  // Whether an operation on values of these types can run here.
  bool has_kernel(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs) const;

  DeviceInfo info() const;

 private:
  Kind kind_;
  DeviceSpec spec_;
  std::string name_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<DeviceMemory> memory_;
};

// The devices of a session: logical CPUs, then virtual GPUs. CPU 0 is number 0.
class DeviceSet {
 public:
  // Throws InvalidArgument for options that make no sense.
  explicit DeviceSet(const SessionOptions& options);

  int size() const { return static_cast<int>(devices_.size()); }
  const Device& operator[](int device) const { return *devices_[static_cast<size_t>(device)]; }
  // Those that a name, whole or in part, stands for; in order.
  std::vector<int> matching(const DeviceSpec& spec) const;
  // The first virtual GPU, or -1.
  int first_gpu() const;
  std::string names() const;  // "[ /job:..., /job:... ]"

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace weir
