#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "weir/tensor.h"

namespace weir {

// Buffers for one fetched value. When the caller drops a fetched tensor its buffer comes back here, so that a loop of
// runs allocates nothing; buffers that are still held outlive the pool. Thread-safe.
class FetchPool : public std::enable_shared_from_this<FetchPool> {
 public:
  explicit FetchPool(size_t bytes) : bytes_(bytes) { free_.reserve(kKept); }
  ~FetchPool();
  // One reference to a buffer of the pool's size.
  Buffer* acquire();

 private:
  class Pooled;
  static constexpr size_t kKept = 4;
  bool take_back(Pooled* buffer);

  size_t bytes_;
  std::mutex mutex_;
  std::vector<Pooled*> free_;
};

}  // namespace weir
