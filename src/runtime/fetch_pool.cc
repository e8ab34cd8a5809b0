#include "runtime/fetch_pool.h"

#include <cstdlib>

#include "tensor/allocate.h"

namespace weir {

class FetchPool::Pooled final : public Buffer {
 public:
  explicit Pooled(size_t bytes) : Buffer(allocate_bytes(bytes), bytes) {}
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
    buffer = new Pooled(bytes_);
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
