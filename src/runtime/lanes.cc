#include "runtime/lanes.h"

#include <atomic>
#include <optional>
#include <thread>

#include "base/spin.h"

namespace weir {

class LanePool::Lane {
 public:
  explicit Lane(LanePool& pool) : thread_([this, &pool] { serve(pool); }) {}
  ~Lane() {
    set(kStop);
    thread_.join();
  }
  void start(FunctionRef<void()> work) {
    work_.emplace(work);
    set(kWork);
  }

 private:
  enum : int { kParked, kWork, kStop };

  void set(int state) {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }

  void serve(LanePool& pool) {
    for (;;) {
      // Steps follow each other closely in a training loop: the next piece of work is worth a moment's wait.
      spin_until([&] { return state_.load(std::memory_order_acquire) != kParked; });
      state_.wait(kParked, std::memory_order_acquire);
      if (state_.load(std::memory_order_acquire) == kStop) return;
      (*work_)();
      int state = kWork;
      if (!state_.compare_exchange_strong(state, kParked)) return;  // told to stop meanwhile
      pool.park(this);
    }
  }

  std::atomic<int> state_{kParked};
  std::optional<FunctionRef<void()>> work_;
  std::thread thread_;  // the last member: it uses the others
};

std::shared_ptr<LanePool> LanePool::shared() {
  static std::mutex mutex;
  static std::weak_ptr<LanePool> known;
  std::lock_guard lock(mutex);
  std::shared_ptr<LanePool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<LanePool>();
  return pool;
}

LanePool::~LanePool() {
  // A lane that has ended its work may still be on its way to park().
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    std::lock_guard lock(mutex_);
    lanes = std::move(lanes_);
  }
  lanes.clear();
}

void LanePool::start(FunctionRef<void()> work) {
  Lane* lane = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (parked_.empty()) {
      parked_.reserve(lanes_.size() + 1);  // park() must not fail
      lanes_.push_back(std::make_unique<Lane>(*this));
      lane = lanes_.back().get();
    } else {
      lane = parked_.back();
      parked_.pop_back();
    }
  }
  lane->start(work);
}

void LanePool::park(Lane* lane) {
  std::lock_guard lock(mutex_);
  parked_.push_back(lane);
}

}  // namespace weir
