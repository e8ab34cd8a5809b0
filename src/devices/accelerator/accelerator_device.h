#pragma once

#include "devices/accelerator/accelerator_memory.h"
#include "devices/accelerator/engine.h"
#include "devices/device.h"

namespace weir::accelerator {

struct AcceleratorOptions {
  double memory_fraction = 1;
  bool allow_growth = false;
  Transfers::Options transfers = {};
};

// "/gpu:N" of a session on a device that has a driver. Its lane begins kernels and copies, which the device runs in
// their order; the host waits where a plan needs a value of it (DeviceMemory::finish).
class AcceleratorDevice final : public Device {
 public:
  AcceleratorDevice(int index, std::shared_ptr<Engine> engine, const AcceleratorOptions& options);
  const Kernel* kernel(const NodeView& node, std::span<const DType> inputs,
                       std::span<const DType> outputs) const override;
  ThreadPool& pool() const override { return *pool_; }
  AcceleratorMemory* memory() const override { return memory_.get(); }
  void launch(ComputeFn compute, KernelContext& context) const override;
  std::string description() const override;
  Engine& engine() const { return *engine_; }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<AcceleratorMemory> memory_;
};

// The machine's, in the order of their numbers: CUDA devices, OpenCL GPUs, and OpenCL CPU devices when WEIR_OPENCL_CPU
// says so. Found once for the process, when first asked for. Thread-safe.
const std::vector<std::shared_ptr<Engine>>& machine_engines();

// Those of them that WEIR_VISIBLE_GPUS names ("1,0": the second is then /gpu:0); all when it is not set. Throws
// InvalidArgument.
std::vector<std::shared_ptr<Engine>> visible_engines();

}  // namespace weir::accelerator
