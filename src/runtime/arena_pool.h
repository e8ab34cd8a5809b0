#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "devices/device.h"

namespace weir {

// A piece of a device's memory that one run at a time lays its values out in.
class Arena {
 public:
  char* data() { return static_cast<char*>(memory_.mutable_raw()); }

 private:
  friend class ArenaPool;
  int device_ = 0;
  size_t bytes_ = 0;
  Tensor memory_;
  std::atomic<bool> taken_{true};  // for ever, once the pool has freed the memory
  std::atomic<uint64_t> used_{0};  // the pool's clock when it was taken last
};

// The arenas of a session's plans. Plans that do not run at once share them, so that memory grows with what runs at one
// moment and not with the number of plans and shapes. Thread-safe.
class ArenaPool {
 public:
  // Idle arenas beyond `most_idle` bytes are freed, those unused for longest first.
  ArenaPool(const DeviceSet& devices, size_t most_idle) : devices_(devices), most_idle_(most_idle) {}

  struct Request {
    int device = 0;
    size_t bytes = 0;
    std::string_view holder;  // whose account it is on
  };
  // An arena that is the caller's until release(). When nobody else has `last`, which the caller had before, and it is
  // large enough, that one, without a lock. Throws ResourceExhausted when memory is short even without idle arenas.
  std::shared_ptr<Arena> acquire(const Request& request, std::shared_ptr<Arena> last);
  // The lock-free part of acquire().
  bool retake(Arena& last, size_t bytes) {
    if (last.bytes_ < bytes || last.taken_.exchange(true, std::memory_order_acquire)) return false;
    const uint64_t now = clock_.load(std::memory_order_relaxed);
    if (last.used_.load(std::memory_order_relaxed) != now) last.used_.store(now, std::memory_order_relaxed);
    return true;
  }
  void release(Arena& arena);

  // Frees what no run is using.
  void trim();
  size_t bytes() const;  // of all arenas, in use or idle

 private:
  std::shared_ptr<Arena> find(const Request& request);
  void free_idle(size_t most, int device);

  const DeviceSet& devices_;
  const size_t most_idle_;
  std::atomic<uint64_t> clock_{1};  // advances with every arena that is made
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Arena>> arenas_;
};

}  // namespace weir
