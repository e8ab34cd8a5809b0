#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace weir {

// Registered before main() and before any thread: who asks for the first time in a child must see that it is one.
struct ForkHooks {
  ForkHooks() { pthread_atfork(prepare, parent, child); }

  static void prepare() {
    list.lock();
    for (ForkMutex* mutex = first; mutex; mutex = mutex->next_) mutex->mutex_.lock();
  }
  static void parent() {
    for (ForkMutex* mutex = first; mutex; mutex = mutex->next_) mutex->mutex_.unlock();
    list.unlock();
  }
  static void child() {
    parent();
    count.fetch_add(1, std::memory_order_relaxed);
  }
  // Before a mutex is locked for the first time.
  static void enter(ForkMutex& mutex) {
    std::lock_guard lock(list);
    if (mutex.known_) return;
    mutex.known_ = true;
    mutex.next_ = first;
    first = &mutex;
  }

  static std::atomic<uint64_t> count;
  static std::mutex list;
  static ForkMutex* first;
};
constinit std::atomic<uint64_t> ForkHooks::count{0};
constinit std::mutex ForkHooks::list;
constinit ForkMutex* ForkHooks::first = nullptr;

namespace {
const ForkHooks hooks;
}  // namespace

uint64_t fork_count() { return ForkHooks::count.load(std::memory_order_relaxed); }

void ForkMutex::lock() {
  ForkHooks::enter(*this);
  mutex_.lock();
}

}  // namespace weir
