#include "runtime/region.h"

#include <algorithm>

#include "base/spin.h"

namespace weir {
namespace {

// Above this a kernel splits its own loop well, so it runs alone with all threads.
constexpr double kLargeStep = 40;
// Handing a step to another thread costs about a microsecond; small gains are not worth it.
constexpr double kHandOver = 1;
constexpr double kLeastGain = 15;

// Bounds the time that planning takes.
constexpr size_t kMostSteps = 256;

// The time of steps, numbered from `first`, on `threads` threads: whoever is free takes the step that can begin first.
double makespan(std::span<const StepFacts> steps, int first, int threads) {
  const size_t count = steps.size();
  std::vector<double> ready(count, 0), free_at(static_cast<size_t>(threads), 0);
  std::vector<int> waiting(count, 0);
  std::vector<std::vector<size_t>> successors(count);
  for (size_t i = 0; i < count; ++i) {
    for (int before : steps[i].before) {
      if (before < first) continue;
      ++waiting[i];
      successors[static_cast<size_t>(before - first)].push_back(i);
    }
  }
  double total = 0;
  for (size_t done = 0; done < count; ++done) {
    auto thread = std::min_element(free_at.begin(), free_at.end());
    size_t next = count;
    for (size_t i = 0; i < count; ++i) {
      if (waiting[i] != 0) continue;
      if (next == count || std::max(ready[i], *thread) < std::max(ready[next], *thread)) next = i;
    }
    double finish = std::max(ready[next], *thread) + steps[next].microseconds + kHandOver;
    waiting[next] = -1;
    *thread = finish;
    total = std::max(total, finish);
    for (size_t i : successors[next]) {
      ready[i] = std::max(ready[i], finish);
      --waiting[i];
    }
  }
  return total;
}

Region make_region(std::span<const StepFacts> steps, int first) {
  Region region;
  region.begin = first;
  region.end = first + static_cast<int>(steps.size());
  region.dependencies.assign(steps.size(), 0);
  region.successors.resize(steps.size());
  region.reads.resize(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int before : steps[i].before) {
      if (before < first) continue;
      ++region.dependencies[i];
      region.successors[static_cast<size_t>(before - first)].push_back(static_cast<int>(i));
    }
  }
  return region;
}

}  // namespace

std::vector<Region> find_regions(std::span<const StepFacts> steps, int first, int threads) {
  std::vector<Region> regions;
  if (threads < 2) return regions;
  for (size_t begin = 0; begin < steps.size();) {
    size_t end = begin;
    double serial = 0;
    auto fits = [&](const StepFacts& step) { return !step.alone && step.microseconds < kLargeStep; };
    while (end < steps.size() && end - begin < kMostSteps && fits(steps[end])) serial += steps[end++].microseconds;
    const std::span<const StepFacts> some = steps.subspan(begin, end - begin);
    const int number = first + static_cast<int>(begin);
    if (serial - makespan(some, number, threads) >= kLeastGain) regions.push_back(make_region(some, number));
    begin = std::max(end, begin + 1);
  }
  return regions;
}

RegionRun::RegionRun(const Region& region)
    : region_(region),
      waiting_(std::make_unique<std::atomic<int>[]>(static_cast<size_t>(region.steps()))),
      readers_(std::make_unique<std::atomic<int>[]>(region.held.size())) {
  ready_.reserve(static_cast<size_t>(region.steps()));
}

void RegionRun::run(ThreadPool& pool, int threads, FunctionRef<void(int)> run_step, FunctionRef<void(int)> let_go) {
  ready_.clear();
  failed_.store(false);
  left_.store(region_.steps());
  for (size_t i = 0; i < region_.held.size(); ++i)
    readers_[i].store(region_.held[i].readers, std::memory_order_relaxed);
  for (int i = region_.steps(); i-- > 0;) {
    waiting_[static_cast<size_t>(i)].store(region_.dependencies[static_cast<size_t>(i)], std::memory_order_relaxed);
    if (region_.dependencies[static_cast<size_t>(i)] == 0) ready_.push_back(i);
  }
  // Every participant can do all the work alone, so it does not matter how many workers come.
  pool.parallel_for(threads, 1, [&](int64_t, int64_t) { work(run_step, let_go); });
}

void RegionRun::work(FunctionRef<void(int)> run_step, FunctionRef<void(int)> let_go) {
  for (;;) {
    const uint32_t seen = changes_.load(std::memory_order_acquire);
    if (left_.load(std::memory_order_acquire) == 0 || failed_.load(std::memory_order_relaxed)) return;
    int step = take();
    if (step < 0) {
      await_change(seen);
      continue;
    }
    try {
      run_step(region_.begin + step);
    } catch (...) {
      failed_.store(true);
      note_change();
      throw;
    }
    for (int held : region_.reads[static_cast<size_t>(step)]) {
      if (readers_[static_cast<size_t>(held)].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        let_go(region_.held[static_cast<size_t>(held)].slot);
      }
    }
    for (int next : region_.successors[static_cast<size_t>(step)]) {
      if (waiting_[static_cast<size_t>(next)].fetch_sub(1, std::memory_order_acq_rel) == 1) offer(next);
    }
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) note_change();
  }
}

// A step may be slow, or not Weir's own (a program's function): whoever has nothing to do meanwhile sleeps.
void RegionRun::await_change(uint32_t seen) {
  auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
  if (!spin_until(changed)) changes_.wait(seen, std::memory_order_acquire);
}

void RegionRun::note_change() {
  changes_.fetch_add(1);  // sequentially consistent, so that it does not pass notify_all()'s look for sleepers
  changes_.notify_all();
}

int RegionRun::take() {
  while (lock_.test_and_set(std::memory_order_acquire)) relax();
  int step = -1;
  if (!ready_.empty()) {
    // The earliest in plan order first: that is the order which keeps the critical path moving.
    auto earliest = std::min_element(ready_.begin(), ready_.end());
    step = *earliest;
    *earliest = ready_.back();
    ready_.pop_back();
  }
  lock_.clear(std::memory_order_release);
  return step;
}

void RegionRun::offer(int step) {
  while (lock_.test_and_set(std::memory_order_acquire)) relax();
  ready_.push_back(step);
  lock_.clear(std::memory_order_release);
  note_change();
}

}  // namespace weir
