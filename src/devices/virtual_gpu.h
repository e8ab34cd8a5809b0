#pragma once

#include "devices/device.h"

namespace weir {

// A GPU that is played by cores of the CPU: it has a memory of its own, with a limit, and no kernels for text and
// files, so placement, copies and errors are those of a real one.
class VirtualGpu final : public Device {
 public:
  VirtualGpu(int index, int threads, int64_t memory_limit);
  const Kernel* kernel(const NodeView& node, std::span<const DType> inputs,
                       std::span<const DType> outputs) const override;
  ThreadPool& pool() const override { return *pool_; }
  DeviceMemory* memory() const override { return memory_.get(); }
  std::string description() const override;

 private:
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<DeviceMemory> memory_;
};

// The CPU's kernel of an operation that a device which borrows the CPU's kernels can run: null for text and files.
const Kernel* borrowed_kernel(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs);

}  // namespace weir
