#pragma once

#include <cstdint>
#include <mutex>

namespace weir {

// Threads do not follow a process through fork(). This number is one larger in a child than in the process that it was
// made from: what was made under another number (a pool, a writer) has no threads here, its locks may be held for ever,
// and it must neither wait for them nor join them.
// Thread-safe; costs a load.
uint64_t fork_count();

// A lock of the process that is free in every child: whoever forks waits until nobody holds it. For what all of the
// process shares, such as the list of its thread pools. REQUIRES: it lives as long as the process (a variable with
// static storage), and whoever holds one neither asks for another nor forks.
class ForkMutex {
 public:
  constexpr ForkMutex() = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock();
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkHooks;

  std::mutex mutex_;
  bool known_ = false;         // guarded by the list's lock, as is
  ForkMutex* next_ = nullptr;  // in the list of those that were ever locked
};

}  // namespace weir
