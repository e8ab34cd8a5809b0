#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "devices/memory.h"
#include "ops/kernel.h"
#include "weir/device.h"
#include "weir/session_options.h"

namespace weir {

// Where kernels run. A device's part of a plan runs on a lane of its own (runtime/lanes.h): one thread of the host that
// comes to its steps in order. Everything else that is special to a kind of device is said by these functions and by
// its memory; sessions, plans and passes know no kinds. docs/devices.md says how one is written. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }  // "/job:localhost/replica:0/task:0/device:GPU:0"
  const DeviceSpec& spec() const { return spec_; }
  const std::string& type() const { return *spec_.type; }
  std::string short_name() const { return "/device:" + type() + ":" + std::to_string(*spec_.index); }
  // Nodes for which the program names no device go to one of these first.
  bool is_accelerator() const { return accelerator_; }

  // How it computes an operation on values of these types; null: it cannot.
  virtual const Kernel* kernel(const NodeView& node, std::span<const DType> inputs,
                               std::span<const DType> outputs) const = 0;
  // Threads of the host that its kernels and copies may use, the one that calls included.
  virtual ThreadPool& pool() const = 0;
  // Where its values lie. Null: in the machine's own memory, without accounts.
  virtual DeviceMemory* memory() const { return nullptr; }
  // Runs a kernel, on the lane's thread. Only called when `wraps_kernels`: for a device whose kernels need something
  // around them, such as a context of a driver. Kernels may still be under way when this returns; see
  // DeviceMemory::finish.
  virtual void launch(ComputeFn compute, KernelContext& context) const { compute(context); }
  bool wraps_kernels() const { return wraps_kernels_; }
  // "virtual GPU on 2 cores"
  virtual std::string description() const = 0;

  // Before anybody looks: the device is that of a server's task.
  void belong_to(const DeviceSpec& task);

  bool shares_memory_with(const Device& other) const { return this == &other || (!memory() && !other.memory()); }
  // Elements in this device's memory. Throws ResourceExhausted.
  Tensor allocate(DType dtype, const Shape& shape, std::string_view holder) const;
  DeviceInfo info() const;

 protected:
  // What the device of that type and number in this process is called.
  Device(std::string type, int index, bool wraps_kernels = false);

 private:
  DeviceSpec spec_;
  std::string name_;
  bool accelerator_, wraps_kernels_;
};

// The devices of a session: logical CPUs, then virtual GPUs, then others. CPU 0 is number 0: its memory is the host's.
class DeviceSet {
 public:
  // Throws InvalidArgument for options that make no sense.
  explicit DeviceSet(const SessionOptions& options);

  static constexpr int kHost = 0;

  int size() const { return static_cast<int>(devices_.size()); }
  const Device& operator[](int device) const { return *devices_[static_cast<size_t>(device)]; }
  // Those that a name, whole or in part, stands for; in order.
  std::vector<int> matching(const DeviceSpec& spec) const;
  // The first accelerator, or -1.
  int first_gpu() const;
  std::string names() const;  // "[ /job:..., /job:... ]"

 private:
  std::vector<std::shared_ptr<const Device>> devices_;
};

// While it lives, the device sets that this thread makes have these devices too: how tests bring devices of their own.
class MoreDevices {
 public:
  explicit MoreDevices(std::vector<std::shared_ptr<const Device>> devices);
  ~MoreDevices();
  MoreDevices(const MoreDevices&) = delete;
  MoreDevices& operator=(const MoreDevices&) = delete;

 private:
  std::vector<std::shared_ptr<const Device>> before_;
};

}  // namespace weir
