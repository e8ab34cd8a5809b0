#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "devices/device.h"

namespace weir::testing {

// A memory that the host cannot touch: its pages are protected but while one of the device's kernels or copies is at
// work. Whoever reads or writes it otherwise ends the process with a segmentation fault: a kernel's preparation or a
// shape function that looks at a value of the device, a copy that is missing, a buffer that was taken from the wrong
// memory. What is copied to the host comes when it must, as on a device with a queue: at the next kernel or finish().
class ProtectedMemory final : public DeviceMemory {
 public:
  ProtectedMemory(std::string device, size_t bytes);
  ~ProtectedMemory() override;

  bool on_host() const override { return false; }
  Tensor place(DType dtype, const Shape& shape) override;
  bool holds(const void* data) const override;
  void copy(void* to, const void* from, size_t bytes, Way way) override;
  void finish() override;

  // The pages can be read and written between these. Calls nest, also from several threads.
  void open();
  void close();
  int64_t copies_from_host() const { return from_host_; }
  int64_t copies_to_host() const { return to_host_; }

 private:
  class Block;
  struct Pending {
    void* to;
    const void* from;
    size_t bytes;
  };
  char* take(size_t bytes);
  void give_back(char* data, size_t bytes);
  void protect(int how);

  const size_t bytes_;
  char* base_ = nullptr;
  std::mutex mutex_;
  int open_ = 0;
  size_t end_ = 0;                     // what was ever in use: [0, end_)
  std::multimap<size_t, char*> free_;  // by size
  std::vector<Pending> pending_;
  std::atomic<int64_t> from_host_{0}, to_host_{0};
};

// A GPU that is played by the CPU's kernels on a ProtectedMemory.
class ProtectedDevice final : public Device {
 public:
  explicit ProtectedDevice(int index, size_t bytes = size_t{1} << 30);
  const Kernel* kernel(const NodeView& node, std::span<const DType> inputs,
                       std::span<const DType> outputs) const override;
  ThreadPool& pool() const override { return *pool_; }
  ProtectedMemory* memory() const override { return memory_.get(); }
  void launch(ComputeFn compute, KernelContext& context) const override;
  std::string description() const override { return "a device of the tests"; }

 private:
  std::unique_ptr<ThreadPool> pool_;
  std::shared_ptr<ProtectedMemory> memory_;
};

}  // namespace weir::testing
