#pragma once

#include <atomic>
#include <memory>

#include "base/thread_pool.h"

namespace weir {

// Threads on which the parts of plans run beside the caller's. A piece of work gets a thread of its own at once: parts
// wait for each other, so none may ever stand in a queue behind another. Threads stay when their work is done, and
// serve the next. Thread-safe; shared by the sessions of a process. A child process that was forked gets threads of its
// own.
class LanePool {
 public:
  static std::shared_ptr<LanePool> shared();
  LanePool();
  ~LanePool();
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  // Calls `work`, which must not throw and must live until it has ended, on another thread.
  void start(FunctionRef<void()> work);

 private:
  class Lane;
  struct Lanes;
  Lanes& lanes();

  std::atomic<Lanes*> lanes_;  // of this process; those of the one that it was forked from are left alone
};

}  // namespace weir
