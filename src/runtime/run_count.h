#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "base/function_ref.h"

namespace weir {

// Counts the threads that are in a run of a session, for those who close it and wait for them. Thread-safe. Until it is
// closed, a run costs one atomic operation when it begins and one when it ends.
class RunCount {
 public:
  void enter() { state_.fetch_add(1); }
  // `last` is called in the thread that ends the last run of a session that was closed meanwhile, before those who wait
  // are told; this object may be gone once they are. When runs begin meanwhile, it may be called again.
  void leave(FunctionRef<void()> last) {
    int64_t state = state_.load(std::memory_order_relaxed);
    while (state < kClosed) {
      if (state_.compare_exchange_weak(state, state - 1)) return;
    }
    leave_closed(last);
  }
  // Runs that are under way, roughly.
  int64_t count() const { return state_.load() & (kClosed - 1); }

  // From now on the end of the last run is noted. Waits for it no longer than this; says whether none is left.
  bool close(std::chrono::milliseconds patience);
  // Waits for the end of the last run. REQUIRES: it was closed.
  void await_end();

 private:
  static constexpr int64_t kClosed = int64_t{1} << 32;

  void leave_closed(FunctionRef<void()> last);
  bool ended() const { return count() == 0; }

  std::atomic<int64_t> state_{0};  // the count, and kClosed
  std::mutex mutex_;               // held while the count of a closed session falls
  std::condition_variable ended_;
};

}  // namespace weir
