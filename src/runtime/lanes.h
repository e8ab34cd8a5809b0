#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_pool.h"

namespace weir {

// Threads on which the parts of plans run beside the caller's. A piece of work gets a thread of its own at once: parts
// wait for each other, so none may ever stand in a queue behind another. Threads stay when their work is done, and
// serve the next. Thread-safe; shared by the sessions of a process.
class LanePool {
 public:
  static std::shared_ptr<LanePool> shared();
  LanePool() = default;
  ~LanePool();
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  // Calls `work`, which must not throw and must live until it has ended, on another thread.
  void start(FunctionRef<void()> work);

 private:
  class Lane;
  void park(Lane* lane);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> parked_;  // the one that worked last stands last: it may still be awake
};

}  // namespace weir
