#include "runtime/run_count.h"

namespace weir {

void RunCount::leave_closed(FunctionRef<void()> last) {
  std::unique_lock lock(mutex_);
  if (count() == 1) {
    lock.unlock();  // it may take long, and close() must not
    last();
    lock.lock();
  }
  state_.fetch_sub(1);
  // With the lock held: who waits cannot go on, and delete this, before the lock is free.
  if (ended()) ended_.notify_all();
}

bool RunCount::close(std::chrono::milliseconds patience) {
  state_.fetch_or(kClosed);
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, patience, [this] { return ended(); });
}

void RunCount::await_end() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return ended(); });
}

}  // namespace weir
