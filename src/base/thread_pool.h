#pragma once

#include <atomic>
#include <cstdint>

#include "base/function_ref.h"

namespace weir {

// The cores of one session. Loops of kernels are split into blocks that the calling thread and the workers take in
// turn. Several threads may call parallel_for at once: they share the workers and never wait for each other's loops.
//
// The blocks depend on n and grain alone, never on the number of threads, so a kernel that reduces block by block gives
// the same bits on every machine size.
//
// Thread-safe. A body may throw: the first exception reaches the caller after all running blocks have ended; blocks not
// yet begun are skipped. Nested calls run in the calling thread, except in a loop of one block, which is a plain call.
// Workers treat denormal numbers as the caller does.
// A child process that was forked gets workers of its own when it first calls.
// A loop allocates nothing. Idle workers poll for some microseconds and then sleep; when there are more threads than
// cores they sleep at once.
class ThreadPool {
 public:
  // `threads` counts the calling thread: ThreadPool(1) starts no worker. Less than 1 is taken as 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) for [0, grain), [grain, 2*grain), ... up to n. Does nothing when n <= 0. One block, or one
  // thread, costs no more than the direct call(s).
  void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

  // Number of the thread inside the innermost parallel_for: 0 for its caller, 1 .. threads()-1 for workers. For scratch
  // memory only: which thread takes which block differs from run to run.
  static int thread_index();

 private:
  struct Impl;
  Impl* impl();
  int threads_;
  std::atomic<Impl*> impl_;  // null for one thread; of this process, or not used since it was forked
};

}  // namespace weir
