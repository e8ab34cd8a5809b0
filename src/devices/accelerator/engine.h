#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "devices/accelerator/driver.h"
#include "devices/accelerator/kernel_cache.h"
#include "devices/accelerator/program.h"

namespace weir::accelerator {

// A driver with the kernels that have been compiled for it: one for each device of the machine, shared by the sessions
// of the process. Thread-safe.
class Engine {
 public:
  Engine(std::shared_ptr<Driver> driver, Language language, KernelCache cache);
  Driver& driver() const { return *driver_; }
  std::shared_ptr<Driver> shared_driver() const { return driver_; }

  // Compiles it the first time, or takes it from the disk.
  KernelHandle kernel(KernelRef kernel) {
    const auto id = static_cast<size_t>(kernel.id);
    if (id / kChunk < kChunks) {
      const Chunk* chunk = chunks_[id / kChunk].load(std::memory_order_acquire);
      if (chunk) {
        if (KernelHandle known = (*chunk)[id % kChunk].load(std::memory_order_acquire)) return known;
      }
    }
    return make(kernel);
  }
  int64_t compiled() const { return compiled_; }  // programs that were not on disk

 private:
  static constexpr size_t kChunk = 256, kChunks = 4096;
  using Chunk = std::array<std::atomic<KernelHandle>, kChunk>;
  KernelHandle make(KernelRef kernel);
  ProgramHandle program(const std::string& source);

  std::shared_ptr<Driver> driver_;
  const Language language_;
  const KernelCache cache_;
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::map<std::string, ProgramHandle> programs_;  // by source
  std::atomic<int64_t> compiled_{0};
};

}  // namespace weir::accelerator
