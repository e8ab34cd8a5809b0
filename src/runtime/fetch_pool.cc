#include "runtime/fetch_pool.h"

#include <cstdlib>

#include "tensor/allocate.h"

namespace weir {
namespace {

constexpr size_t kSmall = 4096;  // what a buffer may always be too large

}  // namespace

class FetchPool::Pooled final : public Buffer {
 public:
  explicit Pooled(size_t bytes) : Buffer(allocate_bytes(bytes), bytes) {}
  explicit Pooled(Tensor place) : Buffer(place.mutable_raw(), place.bytes()), place_(std::move(place)) {}
  ~Pooled() override {
    if (!place_.valid()) free_bytes(data(), bytes());
  }
  void lend(std::shared_ptr<FetchPool> pool) {
    pool_ = std::move(pool);
    revive();
  }

 private:
  void destroy() override {
    std::shared_ptr<FetchPool> pool = std::move(pool_);
    if (pool) {
      pool->take_back(this);
    } else {
      delete this;
    }
  }
  Tensor place_;                     // that has the bytes, when they are not the host's
  std::shared_ptr<FetchPool> pool_;  // set while the buffer is out
};

FetchPool::~FetchPool() {
  for (Pooled* buffer : free_) delete buffer;
}

Buffer* FetchPool::acquire(size_t bytes) {
  Pooled* buffer = nullptr;
  {
    std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const size_t size = (*it)->bytes();
      const bool suits = size >= bytes && size / 2 <= bytes + kSmall;
      if (suits && (best == free_.end() || size < (*best)->bytes())) best = it;
    }
    if (best != free_.end()) {
      buffer = *best;
      free_.erase(best);
    }
  }
  if (!buffer) {
    const Shape shape{static_cast<int64_t>(bytes)};
    buffer = memory_ ? new Pooled(memory_->place(DType::UInt8, shape)) : new Pooled(bytes);
  }
  buffer->lend(shared_from_this());
  return buffer;
}

void FetchPool::take_back(Pooled* buffer) {
  Pooled* oldest = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (free_.size() >= kept_) {
      oldest = free_.front();
      free_.erase(free_.begin());
    }
    free_.push_back(buffer);
  }
  delete oldest;
}

}  // namespace weir
