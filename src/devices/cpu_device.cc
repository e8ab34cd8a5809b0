#include "devices/cpu_device.h"

#include <map>
#include <mutex>
#include <tuple>

#include "base/errors.h"
#include "base/fork.h"
#include "ops/evaluate.h"

namespace weir {

std::shared_ptr<ThreadPool> shared_pool(const std::string& type, int index, int threads) {
  static constinit ForkMutex mutex;
  std::lock_guard lock(mutex);
  static std::map<std::tuple<std::string, int, int>, std::weak_ptr<ThreadPool>> pools;
  std::weak_ptr<ThreadPool>& known = pools[{type, index, threads}];
  std::shared_ptr<ThreadPool> pool = known.lock();
  if (!pool) {
    pool = std::make_shared<ThreadPool>(threads);
    known = pool;
  }
  return pool;
}

std::string core_text(const ThreadPool& pool) {
  return fmt::format("{} core{}", pool.threads(), pool.threads() == 1 ? "" : "s");
}

CpuDevice::CpuDevice(int index, int threads) : Device("CPU", index), pool_(shared_pool("CPU", index, threads)) {}

const Kernel* CpuDevice::kernel(const NodeView& node, std::span<const DType>, std::span<const DType>) const {
  return &cpu_kernel(node.op());  // what the CPU lacks, nobody has: select_kernel says so
}

std::string CpuDevice::description() const { return "CPU on " + core_text(*pool_); }

}  // namespace weir
