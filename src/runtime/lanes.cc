#include "runtime/lanes.h"

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/denormals.h"
#include "base/fork.h"
#include "base/spin.h"

namespace weir {

class LanePool::Lane {
 public:
  explicit Lane(Lanes& all) : thread_([this, &all] { serve(all); }) {}
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
    state_.store(state);  // sequentially consistent, so that it does not pass notify_one()'s look for a sleeper
    state_.notify_one();
  }

  void serve(Lanes& all);

  std::atomic<int> state_{kParked};
  std::optional<FunctionRef<void()>> work_;
  std::thread thread_;  // the last member: it uses the others
};

struct LanePool::Lanes {
  const uint64_t forks = fork_count();
  std::mutex mutex;
  std::vector<std::unique_ptr<Lane>> all;
  std::vector<Lane*> parked;  // the one that worked last stands last: it may still be awake

  void park(Lane* lane) {
    std::lock_guard lock(mutex);
    parked.push_back(lane);
  }
};

void LanePool::Lane::serve(Lanes& all) {
  set_denormal_mode(kFlushDenormals);  // all that it does are parts of runs
  for (;;) {
    // Steps follow each other closely in a training loop: the next piece of work is worth a moment's wait.
    spin_until([&] { return state_.load(std::memory_order_acquire) != kParked; });
    state_.wait(kParked, std::memory_order_acquire);
    if (state_.load(std::memory_order_acquire) == kStop) return;
    (*work_)();
    int state = kWork;
    if (!state_.compare_exchange_strong(state, kParked)) return;  // told to stop meanwhile
    all.park(this);
  }
}

std::shared_ptr<LanePool> LanePool::shared() {
  static constinit ForkMutex mutex;
  static constinit std::weak_ptr<LanePool> known;
  std::lock_guard lock(mutex);
  std::shared_ptr<LanePool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<LanePool>();
  return pool;
}

LanePool::LanePool() : lanes_(new Lanes) {}

LanePool::~LanePool() {
  Lanes* own = lanes_.load();
  if (own->forks != fork_count()) return;  // there is nobody to join
  // A lane that has ended its work may still be on its way to park().
  std::vector<std::unique_ptr<Lane>> ending;
  {
    std::lock_guard lock(own->mutex);
    ending = std::move(own->all);
  }
  ending.clear();
  delete own;
}

LanePool::Lanes& LanePool::lanes() {
  Lanes* own = lanes_.load(std::memory_order_acquire);
  if (own->forks == fork_count()) return *own;
  auto fresh = std::make_unique<Lanes>();
  if (lanes_.compare_exchange_strong(own, fresh.get())) return *fresh.release();
  return *own;  // another thread was first
}

void LanePool::start(FunctionRef<void()> work) {
  Lanes& own = lanes();
  Lane* lane = nullptr;
  {
    std::lock_guard lock(own.mutex);
    if (own.parked.empty()) {
      own.parked.reserve(own.all.size() + 1);  // park() must not fail
      own.all.push_back(std::make_unique<Lane>(own));
      lane = own.all.back().get();
    } else {
      lane = own.parked.back();
      own.parked.pop_back();
    }
  }
  lane->start(work);
}

}  // namespace weir
