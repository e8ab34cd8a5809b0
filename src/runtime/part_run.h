#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/lanes.h"

namespace weir {

// One run of a plan that is cut into parts: how they go on side by side, wait for each other and end together. Reused
// from run to run; a run allocates nothing once its lanes exist.
class PartRun {
 public:
  // Of at most `parts`.
  explicit PartRun(int parts);

  // Calls work(i) for every i below `count`, the first in this thread and the others on lanes of their own, and returns
  // when all have ended. The first exception of any of them ends the others where they wait, and is thrown.
  void run(LanePool& lanes, int count, FunctionRef<void(int)> work);

  // For a part at work: waits until `steps` steps of another part are done. False: the run has failed, end. Parts are
  // known by any numbers below `parts`, which need not be those that work() is called with.
  bool wait(int part, int steps);
  // Says that so many steps of a part are done; their number only grows.
  void publish(int part, int steps);
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Progress {
    std::atomic<int> steps{0};
  };
  struct Lane {
    PartRun* run = nullptr;
    int index = 0;
    void operator()() const {
      run->work(index);
      run->leave();
    }
  };
  void work(int index) noexcept;
  void leave();
  void fail(std::exception_ptr raised);

  const int parts_;
  std::unique_ptr<Progress[]> progress_;
  std::unique_ptr<Lane[]> lanes_;
  const FunctionRef<void(int)>* work_ = nullptr;
  std::atomic<int> running_{0};  // lanes
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

}  // namespace weir
