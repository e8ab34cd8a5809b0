#include "runtime/arena_pool.h"

#include <algorithm>

#include "base/errors.h"

namespace weir {
namespace {

// A small plan does not take the arena of a large one, which would have to get another meanwhile.
constexpr size_t kMostWaste = 4;
constexpr size_t kSmall = 1 << 20;

bool suits(size_t arena, size_t wanted) { return arena >= wanted && arena / kMostWaste <= wanted + kSmall; }

}  // namespace

std::shared_ptr<Arena> ArenaPool::acquire(const Request& request, std::shared_ptr<Arena> last) {
  if (last && retake(*last, request.bytes)) return last;
  last.reset();
  std::lock_guard lock(mutex_);
  if (std::shared_ptr<Arena> found = find(request)) return found;
  auto arena = std::make_shared<Arena>();
  arena->device_ = request.device;
  arena->bytes_ = request.bytes;
  const Device& device = devices_[request.device];
  // Sizes that grow little by little get room at once, where that costs nothing until it is used.
  if (!device.memory()) arena->bytes_ += request.bytes / 8;
  auto allocate = [&] {
    return device.allocate(DType::UInt8, Shape{static_cast<int64_t>(arena->bytes_)}, request.holder);
  };
  try {
    arena->memory_ = allocate();
  } catch (const Error& e) {
    if (e.code() != Code::ResourceExhausted) throw;
    free_idle(0, request.device);
    arena->memory_ = allocate();
  }
  arena->used_ = ++clock_;
  arenas_.push_back(arena);
  free_idle(most_idle_, -1);
  return arena;
}

void ArenaPool::release(Arena& arena) { arena.taken_.store(false, std::memory_order_release); }

// The smallest that suits. Others that are too small go: what is made in their place serves their plans as well.
// REQUIRES: mutex_ is held.
std::shared_ptr<Arena> ArenaPool::find(const Request& request) {
  for (;;) {
    std::shared_ptr<Arena> best;
    for (const auto& arena : arenas_) {
      if (arena->device_ != request.device || arena->taken_.load(std::memory_order_relaxed)) continue;
      if (suits(arena->bytes_, request.bytes) && (!best || arena->bytes_ < best->bytes_)) best = arena;
    }
    if (!best) break;
    if (best->taken_.exchange(true, std::memory_order_acquire)) continue;  // somebody was quicker
    best->used_ = clock_.load();
    return best;
  }
  std::erase_if(arenas_, [&](const auto& arena) {
    const bool replaced = arena->device_ == request.device && arena->bytes_ < request.bytes &&
                          suits(request.bytes, arena->bytes_) &&
                          !arena->taken_.exchange(true, std::memory_order_acquire);
    if (replaced) arena->memory_ = Tensor();
    return replaced;
  });
  return nullptr;
}

// REQUIRES: mutex_ is held. A device of -1 stands for all.
void ArenaPool::free_idle(size_t most, int device) {
  auto idle = [&](const auto& arena) {
    return (device < 0 || arena->device_ == device) && !arena->taken_.load(std::memory_order_relaxed);
  };
  size_t bytes = 0;
  for (const auto& arena : arenas_) bytes += idle(arena) ? arena->bytes_ : 0;
  while (bytes > most) {
    auto oldest = arenas_.end();
    for (auto it = arenas_.begin(); it != arenas_.end(); ++it) {
      if (idle(*it) && (oldest == arenas_.end() || (*it)->used_ < (*oldest)->used_)) oldest = it;
    }
    if (oldest == arenas_.end()) return;
    bytes -= (*oldest)->bytes_;
    if ((*oldest)->taken_.exchange(true, std::memory_order_acquire)) continue;
    (*oldest)->memory_ = Tensor();
    arenas_.erase(oldest);
  }
}

void ArenaPool::trim() {
  std::lock_guard lock(mutex_);
  free_idle(0, -1);
}

size_t ArenaPool::bytes() const {
  std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& arena : arenas_) bytes += arena->bytes_;
  return bytes;
}

}  // namespace weir
