#pragma once

#include "devices/device.h"

namespace weir {

// A logical CPU: a share of the machine's cores, and the machine's memory. It has every kernel that there is.
class CpuDevice final : public Device {
 public:
  CpuDevice(int index, int threads);
  const Kernel* kernel(const NodeView& node, std::span<const DType> inputs,
                       std::span<const DType> outputs) const override;
  ThreadPool& pool() const override { return *pool_; }
  std::string description() const override;

 private:
  std::shared_ptr<ThreadPool> pool_;
};

// Workers for the device of that type and number. Sessions that ask for the same number of threads share them: the
// cores belong to the process. Devices of one session never do, or they would wait for each other.
std::shared_ptr<ThreadPool> shared_pool(const std::string& type, int index, int threads);
// "3 cores"
std::string core_text(const ThreadPool& pool);

}  // namespace weir
