#include "runtime/part_run.h"

#include <utility>

#include "base/errors.h"
#include "base/spin.h"

namespace weir {
namespace {

// Set in a part's progress when the run fails, so that whoever sleeps on it sees a change.
constexpr int kFailed = 1 << 30;

}  // namespace

PartRun::PartRun(int parts)
    : parts_(parts),
      progress_(std::make_unique<Progress[]>(static_cast<size_t>(parts))),
      lanes_(std::make_unique<Lane[]>(static_cast<size_t>(parts))) {
  for (int i = 0; i < parts; ++i) lanes_[static_cast<size_t>(i)] = {this, i};
}

void PartRun::run(LanePool& lanes, int count, FunctionRef<void(int)> work) {
  for (int i = 0; i < parts_; ++i) progress_[static_cast<size_t>(i)].steps.store(0, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  work_ = &work;
  // Counted before it starts: a lane may end before the next one is begun.
  for (int i = 1; i < count; ++i) {
    running_.fetch_add(1, std::memory_order_relaxed);
    try {
      lanes.start(lanes_[static_cast<size_t>(i)]);
    } catch (const std::exception& e) {
      fail(std::make_exception_ptr(
          error(Code::ResourceExhausted, "no thread can be had for a part of the plan: {}", e.what())));
      running_.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
  }
  this->work(0);
  auto ended = [&] { return running_.load(std::memory_order_acquire) == 0; };
  if (!spin_until(ended)) {
    for (int left = running_.load(); left > 0; left = running_.load()) running_.wait(left);
  }
  std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void PartRun::work(int index) noexcept {
  try {
    (*work_)(index);
  } catch (...) {
    fail(std::current_exception());
  }
}

void PartRun::leave() {
  if (running_.fetch_sub(1) == 1) running_.notify_all();
}

void PartRun::fail(std::exception_ptr raised) {
  {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(raised);
  }
  failed_.store(true);
  for (int i = 0; i < parts_; ++i) {
    std::atomic<int>& steps = progress_[static_cast<size_t>(i)].steps;
    steps.fetch_or(kFailed);
    steps.notify_all();
  }
}

bool PartRun::wait(int part, int steps) {
  std::atomic<int>& done = progress_[static_cast<size_t>(part)].steps;
  // A failed run's mark counts as progress here; what matters is asked after the wait.
  auto reached = [&] { return done.load(std::memory_order_acquire) >= steps; };
  if (!spin_until(reached)) {
    // The mark may be overwritten by a part that has not noticed yet, but only by a larger number than the one seen
    // here.
    for (int seen = done.load(std::memory_order_acquire); seen < steps; seen = done.load(std::memory_order_acquire)) {
      if (failed_.load()) return false;
      done.wait(seen, std::memory_order_acquire);
    }
  }
  return !failed_.load(std::memory_order_acquire);
}

void PartRun::publish(int part, int steps) {
  std::atomic<int>& done = progress_[static_cast<size_t>(part)].steps;
  // Sequentially consistent: notify_all() only looks for sleepers, and a release store may pass that look. Whoever goes
  // to sleep meanwhile would then never be woken.
  done.store(steps);
  done.notify_all();
}

}  // namespace weir
