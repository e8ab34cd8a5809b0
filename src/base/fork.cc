#include "base/fork.h"

#include <pthread.h>

#include <atomic>

namespace weir {
namespace {

// Registered before main() and before any thread: who asks for the first time in a child must see that it is one.
struct Counter {
  Counter() {
    pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  }
  static std::atomic<uint64_t> count;
};
constinit std::atomic<uint64_t> Counter::count{0};
const Counter counter;

}  // namespace

uint64_t fork_count() { return Counter::count.load(std::memory_order_relaxed); }

}  // namespace weir
