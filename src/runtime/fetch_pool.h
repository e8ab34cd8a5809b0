#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "devices/memory.h"
#include "weir/tensor.h"

namespace weir {

// Buffers for values that a run hands on: one that is fetched, or those whose sizes only the run knows. When the last
// reference to a buffer is dropped it comes back here, so that a loop of runs allocates nothing; buffers that are still
// held outlive the pool. Thread-safe.
class FetchPool : public std::enable_shared_from_this<FetchPool> {
 public:
  // At most `kept` buffers are kept, the oldest of them going first. They are in the host's memory unless another is
  // given.
  explicit FetchPool(size_t kept = 4, std::shared_ptr<DeviceMemory> memory = nullptr)
      : kept_(kept), memory_(std::move(memory)) {
    free_.reserve(kept);
  }
  ~FetchPool();
  // One reference to a buffer of at least this size, and not much more.
  Buffer* acquire(size_t bytes);

 private:
  class Pooled;
  void take_back(Pooled* buffer);

  const size_t kept_;
  const std::shared_ptr<DeviceMemory> memory_;
  std::mutex mutex_;
  std::vector<Pooled*> free_;
};

}  // namespace weir
