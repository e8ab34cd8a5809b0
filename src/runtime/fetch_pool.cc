#include "runtime/fetch_pool.h"

#include <algorithm>
#include <cstdlib>

#include "base/errors.h"

namespace weir {

class FetchPool::Pooled final : public Buffer {
 public:
  Pooled(void* data, size_t bytes) : Buffer(data, bytes) {}
  ~Pooled() override { std::free(data()); }
  void lend(std::shared_ptr<FetchPool> pool) {
    pool_ = std::move(pool);
    revive();
  }

 private:
  void destroy() override {
    std::shared_ptr<FetchPool> pool = std::move(pool_);
    if (!pool || !pool->take_back(this)) delete this;
  }
  std::shared_ptr<FetchPool> pool_;  // set while the buffer is out
};

FetchPool::~FetchPool() {
  for (Pooled* buffer : free_) delete buffer;
}

Buffer* FetchPool::acquire() {
  Pooled* buffer = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      buffer = free_.back();
      free_.pop_back();
    }
  }
  if (!buffer) {
    size_t rounded = (std::max<size_t>(bytes_, 1) + 63) / 64 * 64;
    void* data = std::aligned_alloc(64, rounded);
    if (!data) throw error(Code::ResourceExhausted, "out of memory: {} bytes asked for", bytes_);
    buffer = new Pooled(data, bytes_);
  }
  buffer->lend(shared_from_this());
  return buffer;
}

bool FetchPool::take_back(Pooled* buffer) {
  std::lock_guard lock(mutex_);
  if (free_.size() >= kKept) return false;
  free_.push_back(buffer);
  return true;
}

}  // namespace weir
