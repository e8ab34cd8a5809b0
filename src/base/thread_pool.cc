#include "base/thread_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/denormals.h"
#include "base/fork.h"
#include "base/processor.h"
#include "base/spin.h"

namespace weir {
namespace {

// Long enough to bridge the gap between two kernels of a step, short enough not to be seen in an idle process.
constexpr std::chrono::microseconds kSpin{40};

// A worker that the system has put on its caller's processor takes time from the very thread that it is to help: while it
// polls, no loop can begin. It moves away, but not more often than this, since the system may have had its reason.
constexpr std::chrono::milliseconds kStay{1};

// Loops that can have helpers at the same time. More callers than this run their loops alone.
constexpr int kSlots = 32;

thread_local int current_index = 0;
// Said this way round so that it is true at first: of a program whose thread-local variables all begin as zero,
// mold 1.10 may make a file that the loader refuses (their place lies before the page that its read-only part begins
// with).
thread_local bool outside_loops = true;

// Names the thread for the length of one loop: the caller of a loop is number 0 in it, also when it is a worker that
// calls from inside another loop (perhaps of another pool, where its own number might be too large).
class LoopScope {
 public:
  explicit LoopScope(bool inside) : index_(current_index), inside_(!outside_loops) {
    current_index = 0;
    outside_loops = !(inside_ || inside);
  }
  ~LoopScope() {
    current_index = index_;
    outside_loops = !inside_;
  }

 private:
  int index_;
  bool inside_;
};

// One running loop. Slots belong to the pool and are used again and again, so a worker may look at one at any time;
// it may read the description of the loop only after it has taken a seat.
struct alignas(64) Slot {
  // Seats still free for workers (high half) and workers inside (low half). Taking a seat is one step on this word:
  // a loop without free seats, in particular a finished one, cannot be entered.
  std::atomic<uint32_t> seats{0};
  std::atomic<bool> caller_sleeps{false};

  alignas(64) std::atomic<int64_t> next{0};  // the next block that nobody has begun
  int64_t n = 0, grain = 0, blocks = 0;
  const FunctionRef<void(int64_t, int64_t)>* body = nullptr;
  DenormalMode denormals = kKeepDenormals;  // of the caller

  std::atomic<bool> failed{false};
  std::exception_ptr error;

  std::mutex mutex;
  std::condition_variable left;
};

constexpr uint32_t kSeat = 1u << 16;
constexpr uint32_t kInside = kSeat - 1;

}  // namespace

struct ThreadPool::Impl {
  explicit Impl(int threads);
  ~Impl();

  int claim_slot();
  void run(int slot, int helpers);
  bool enter(int slot);
  void work(Slot& slot);
  void leave(Slot& slot);
  void close(int slot);
  void wake(int helpers);
  void worker(int index);
  bool is_crowded() const;
  bool make_room();

  const uint64_t forks = fork_count();
  const bool spins;
  std::array<Slot, kSlots> slots;
  std::atomic<uint32_t> free_slots{~0u};
  alignas(64) std::atomic<uint32_t> open{0};  // one bit for each slot with free seats; what idle workers watch
  std::atomic<bool> stopping{false};
  std::atomic<int> sleepers{0};
  std::atomic<int> caller_at{-1};  // the processor of who began the last loop
  std::atomic<std::chrono::steady_clock::rep> stays_until{0};  // until then no worker moves away from there
  std::mutex mutex;
  std::condition_variable woken;
  std::vector<std::thread> workers;
};

static_assert(kSlots == 32, "the masks of slots are 32 bits wide");

// With more threads than cores a spinning thread would keep the core from the one it waits for.
ThreadPool::Impl::Impl(int threads) : spins(static_cast<unsigned>(threads) <= std::thread::hardware_concurrency()) {
  workers.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) workers.emplace_back([this, i] { worker(i); });
  } catch (const std::exception&) {
    // No more can be had: those that there are do the work.
  }
}

ThreadPool::Impl::~Impl() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  woken.notify_all();
  for (std::thread& thread : workers) thread.join();
}

// The number of a slot that is now the caller's, or -1.
int ThreadPool::Impl::claim_slot() {
  uint32_t free = free_slots.load(std::memory_order_relaxed);
  while (free != 0) {
    const int slot = std::countr_zero(free);
    if (free_slots.compare_exchange_weak(free, free & ~(1u << slot), std::memory_order_acquire)) return slot;
  }
  return -1;
}

// Offers the described loop to the workers, works on it, and returns when nobody is inside any more.
void ThreadPool::Impl::run(int number, int helpers) {
  Slot& slot = slots[static_cast<size_t>(number)];
  if (const int at = current_processor(); caller_at.load(std::memory_order_relaxed) != at) caller_at.store(at);
  slot.seats.store(static_cast<uint32_t>(helpers) * kSeat, std::memory_order_release);
  open.fetch_or(1u << number);  // sequentially consistent, as is the count of sleepers: one side sees the other
  wake(helpers);
  work(slot);
  close(number);

  auto empty = [&] { return (slot.seats.load(std::memory_order_acquire) & kInside) == 0; };
  if (empty() || (spins && spin_until(empty, kSpin))) return;
  std::unique_lock lock(slot.mutex);
  slot.caller_sleeps = true;
  slot.left.wait(lock, [&] { return (slot.seats.load() & kInside) == 0; });
  slot.caller_sleeps = false;
}

bool ThreadPool::Impl::enter(int number) {
  Slot& slot = slots[static_cast<size_t>(number)];
  uint32_t seats = slot.seats.load(std::memory_order_relaxed);
  while (seats >= kSeat) {
    if (slot.seats.compare_exchange_weak(seats, seats - kSeat + 1, std::memory_order_acquire)) {
      if (seats < 2 * kSeat) open.fetch_and(~(1u << number));
      return true;
    }
  }
  return false;
}

void ThreadPool::Impl::work(Slot& slot) {
  for (;;) {
    const int64_t block = slot.next.fetch_add(1, std::memory_order_relaxed);
    if (block >= slot.blocks) return;
    const int64_t begin = block * slot.grain;
    try {
      (*slot.body)(begin, std::min(begin + slot.grain, slot.n));
    } catch (...) {
      if (!slot.failed.exchange(true)) slot.error = std::current_exception();
      slot.next.store(slot.blocks, std::memory_order_relaxed);
    }
  }
}

// Only for the caller and those inside: the slot cannot be given to another loop meanwhile. The bit may be set though
// no seat is left: a worker that comes with an old mask can take the last seat before the caller has set the bit.
void ThreadPool::Impl::close(int number) {
  slots[static_cast<size_t>(number)].seats.fetch_and(kInside, std::memory_order_acq_rel);
  if (open.load(std::memory_order_relaxed) & (1u << number)) open.fetch_and(~(1u << number));
}

void ThreadPool::Impl::leave(Slot& slot) {
  // Sequentially consistent with the sleeping caller: it sees nobody inside, or it is seen here.
  if ((slot.seats.fetch_sub(1) & kInside) == 1 && slot.caller_sleeps) {
    std::lock_guard lock(slot.mutex);
    slot.left.notify_all();
  }
}

void ThreadPool::Impl::wake(int helpers) {
  const int asleep = sleepers.load();
  if (asleep == 0) return;
  {
    std::lock_guard lock(mutex);  // a worker between its last look and its sleep holds this
  }
  if (helpers >= asleep) {
    woken.notify_all();
  } else {
    for (int i = 0; i < helpers; ++i) woken.notify_one();
  }
}

// Says whether the calling worker is on the processor of who began the last loop.
bool ThreadPool::Impl::is_crowded() const {
  const int at = current_processor();
  return at >= 0 && at == caller_at.load(std::memory_order_relaxed);
}

// Takes the calling worker away from the caller's processor, where it may; false where it has to stay.
bool ThreadPool::Impl::make_room() {
  if (!is_crowded()) return true;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (now.count() < stays_until) return false;
  stays_until = (now + std::chrono::steady_clock::duration(kStay)).count();
  return leave_processor(caller_at) && !is_crowded();
}

void ThreadPool::Impl::worker(int index) {
  current_index = index;
  outside_loops = false;
  auto called = [this] { return open.load() != 0 || stopping.load(); };
  while (!stopping.load(std::memory_order_relaxed)) {
    if (const uint32_t mask = open.load(std::memory_order_acquire)) {
      // Workers begin at different slots, so that several loops share them evenly.
      const int number = (std::countr_zero(std::rotr(mask, index)) + index) % kSlots;
      if (enter(number)) {
        Slot& slot = slots[static_cast<size_t>(number)];
        DenormalScope denormals(slot.denormals);
        work(slot);
        close(number);
        leave(slot);
      }
      continue;
    }
    if (spins && make_room() && spin_until(called, kSpin)) continue;
    {
      std::unique_lock lock(mutex);
      ++sleepers;
      woken.wait(lock, called);
      --sleepers;
    }
    if (spins) make_room();
  }
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::clamp(threads, 1, static_cast<int>(kInside))), impl_(threads_ > 1 ? new Impl(threads_) : nullptr) {}

ThreadPool::~ThreadPool() {
  Impl* own = impl_.load();
  if (own && own->forks == fork_count()) delete own;  // or else there is nobody to join
}

ThreadPool::Impl* ThreadPool::impl() {
  Impl* own = impl_.load(std::memory_order_acquire);
  if (!own || own->forks == fork_count()) return own;
  auto fresh = std::make_unique<Impl>(threads_);
  if (impl_.compare_exchange_strong(own, fresh.get())) return fresh.release();
  return own;  // another thread was first
}

int ThreadPool::thread_index() { return current_index; }

void ThreadPool::parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, n);
  if (grain == n) {  // loops inside a single block may still spread
    LoopScope scope(false);
    return body(0, n);
  }
  const int64_t blocks = n / grain + (n % grain != 0);
  Impl* helpers = outside_loops ? impl() : nullptr;
  const int number = helpers ? helpers->claim_slot() : -1;
  LoopScope scope(true);
  if (number < 0) {
    for (int64_t begin = 0; begin < n; begin += grain) body(begin, std::min(begin + grain, n));
    return;
  }
  Slot& slot = helpers->slots[static_cast<size_t>(number)];
  slot.n = n;
  slot.grain = grain;
  slot.blocks = blocks;
  slot.body = &body;
  slot.denormals = denormal_mode();
  slot.next.store(0, std::memory_order_relaxed);
  helpers->run(number, static_cast<int>(std::min<int64_t>(blocks, threads_) - 1));
  std::exception_ptr error;
  if (slot.failed.exchange(false)) error = std::exchange(slot.error, nullptr);
  helpers->free_slots.fetch_or(1u << number, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace weir
