#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "ops/kernel.h"

namespace weir {

// A stretch of a plan's steps that several threads work through at once, because its branches are independent and its
// kernels too small to be split themselves. Numbers count from the stretch's first step.
struct Region {
  int begin = 0, end = 0;                    // steps [begin, end)
  std::vector<int> dependencies;             // of each step, inside the region
  std::vector<std::vector<int>> successors;  // of each step
  // Held values whose last readers are in here: how many there are, and who they are.
  struct Held {
    int slot;
    int readers;
  };
  std::vector<Held> held;
  std::vector<std::vector<int>> reads;  // of each step: indices into `held`

  int steps() const { return end - begin; }
};

// What is known about a step when it is decided which steps may overlap.
struct StepFacts {
  double microseconds = 0;  // on one thread, roughly
  std::vector<int> before;  // steps that must have ended
  bool alone = false;       // nothing may run beside it
};

// Finds the regions among `steps`, which are numbered from `first`, where overlap pays: none on one thread.
std::vector<Region> find_regions(std::span<const StepFacts> steps, int first, int threads);

// The progress of one run through a region; reused from run to run.
class RegionRun {
 public:
  explicit RegionRun(const Region& region);
  // Calls run_step(i) for every step, each after its dependencies, on the caller and up to `threads` - 1 workers, and
  // let_go(slot) for every held value after its last reader. The first exception ends the region and is thrown.
  void run(ThreadPool& pool, int threads, FunctionRef<void(int)> run_step, FunctionRef<void(int)> let_go);

 private:
  void work(FunctionRef<void(int)> run_step, FunctionRef<void(int)> let_go);
  int take();
  void offer(int step);
  void await_change(uint32_t seen);
  void note_change();

  const Region& region_;
  std::unique_ptr<std::atomic<int>[]> waiting_, readers_;
  std::vector<int> ready_;
  std::atomic_flag lock_;
  std::atomic<int> left_{0};
  std::atomic<bool> failed_{false};
  std::atomic<uint32_t> changes_{0};  // steps offered, and the region's end
};

}  // namespace weir
