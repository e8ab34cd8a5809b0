#include "distributed/step_table.h"

#include <optional>

#include "base/errors.h"
#include "distributed/cluster.h"

namespace weir::distributed {
namespace {

constexpr size_t kEndedStepsKept = 4096;

std::exception_ptr over(int64_t step) { return std::make_exception_ptr(error(Code::Aborted, "step {} is over", step)); }

}  // namespace

struct StepTable::Waiter {
  Done done = {};
  bool stopped = false;  // guarded by mutex_
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

StepTable::StepTable(std::string own_task, uint64_t incarnation, Fetch fetch)
    : own_task_(std::move(own_task)), incarnation_(incarnation), fetch_(std::move(fetch)) {}

StepTable::~StepTable() = default;

void StepTable::send(int64_t step, const std::string& key, Tensor value) { put(step, key, std::move(value), false); }
void StepTable::send_dead(int64_t step, const std::string& key) { put(step, key, {}, true); }

void StepTable::put(int64_t step, const std::string& key, Tensor value, bool dead) {
  std::shared_ptr<Waiter> waiter;
  {
    std::lock_guard lock(mutex_);
    if (auto why = why_ended(step)) std::rethrow_exception(why);
    Step& at = steps_[step];
    if (at.error) std::rethrow_exception(at.error);
    Slot& slot = at.slots[key];
    if (slot.dead && dead) return;  // of two branches that do not run
    if (slot.value.valid() || slot.dead) throw error(Code::Aborted, "Duplicated send: {}", key);
    if (slot.waiter) {
      waiter = std::move(slot.waiter);
      at.slots.erase(key);
      drop_unused(steps_.find(step));
    } else {
      slot.value = std::move(value);
      slot.dead = dead;
    }
  }
  if (waiter) waiter->done(std::move(value), nullptr);
}

void StepTable::receive(int64_t step, const std::string& key, const std::stop_token& stop, Done done) {
  const ParsedKey parsed = parse_key(key);
  if (parsed.send_task() == own_task_) {
    receive_here(step, key, stop, std::move(done));
  } else {
    fetch_(step, key, stop, std::move(done));
  }
}

void StepTable::receive_here(int64_t step, const std::string& key, const std::stop_token& stop, Done done) {
  const ParsedKey parsed = parse_key(key);
  if (parsed.send_task() != own_task_) {
    throw invalid_argument("'{}' is asked of {}, which does not send it", key, own_task_);
  }
  if (parsed.incarnation != incarnation_) {
    throw error(Code::Aborted, "the task {} was started anew since the session was made: its values are gone",
                own_task_);
  }
  auto waiter = std::make_shared<Waiter>();
  waiter->done = std::move(done);
  // Before it waits, and without the lock: a run that has been stopped is told here.
  if (stop.stop_possible()) {
    waiter->on_stop.emplace(stop, [this, step, key, w = waiter.get()] { cancel(step, key, w); });
  }
  Tensor value;
  std::exception_ptr failed;
  {
    std::lock_guard lock(mutex_);
    if (waiter->stopped) {
      failed = std::make_exception_ptr(error(Code::Cancelled, "the wait for '{}' was cancelled", key));
    } else if (auto why = why_ended(step)) {
      failed = why;
    } else {
      Step& at = steps_[step];
      if (at.error) {
        failed = at.error;
      } else {
        Slot& slot = at.slots[key];
        if (slot.value.valid() || slot.dead) {
          value = std::move(slot.value);
          at.slots.erase(key);
          drop_unused(steps_.find(step));
        } else if (slot.waiter) {
          failed = std::make_exception_ptr(error(Code::Aborted, "'{}' is asked for twice", key));
        } else {
          slot.waiter = std::move(waiter);
          return;
        }
      }
    }
  }
  waiter->on_stop.reset();
  waiter->done(std::move(value), failed);
}

void StepTable::cancel(int64_t step, const std::string& key, const Waiter* waiter) {
  std::shared_ptr<Waiter> ended;
  {
    std::lock_guard lock(mutex_);
    const_cast<Waiter*>(waiter)->stopped = true;
    auto at = steps_.find(step);
    if (at == steps_.end()) return;
    auto slot = at->second.slots.find(key);
    if (slot == at->second.slots.end() || slot->second.waiter.get() != waiter)
      return;  // not there yet, or not any more
    ended = std::move(slot->second.waiter);
    at->second.slots.erase(slot);
    drop_unused(at);
  }
  // The callback's own memory goes with the waiter; what is needed afterwards is kept here.
  const Done done = std::move(ended->done);
  done({}, std::make_exception_ptr(error(Code::Cancelled, "the wait for a value of step {} was cancelled", step)));
}

void StepTable::enter(int64_t step, const void* session) {
  std::lock_guard lock(mutex_);
  if (auto why = why_ended(step)) std::rethrow_exception(why);
  Step& at = steps_[step];
  at.session = session;
  ++at.running;
}

void StepTable::leave(int64_t step) {
  std::lock_guard lock(mutex_);
  auto at = steps_.find(step);
  if (at == steps_.end()) return;  // forgotten meanwhile
  --at->second.running;
  drop_unused(at);
}

void StepTable::drop_unused(Steps::iterator step) {
  if (!step->second.is_used()) steps_.erase(step);
}

void StepTable::abort(int64_t step, std::exception_ptr error) {
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    std::lock_guard lock(mutex_);
    if (ended_.contains(step)) return;
    Step& at = steps_[step];
    if (!at.error) at.error = error;
    for (auto& [key, slot] : at.slots) {
      if (slot.waiter) waiters.push_back(std::move(slot.waiter));
    }
    at.slots.clear();
  }
  for (const auto& waiter : waiters) waiter->done({}, error);
}

void StepTable::forget(int64_t step, std::exception_ptr why) {
  std::vector<std::shared_ptr<Waiter>> waiters;
  std::unordered_map<std::string, Slot> dropped;
  {
    std::lock_guard lock(mutex_);
    remember_ended(step, why);
    auto at = steps_.find(step);
    if (at == steps_.end()) return;
    for (auto& [key, slot] : at->second.slots) {
      if (slot.waiter) waiters.push_back(std::move(slot.waiter));
    }
    dropped = std::move(at->second.slots);
    steps_.erase(at);
  }
  for (const auto& waiter : waiters) waiter->done({}, why ? why : over(step));
}

void StepTable::forget_session(const void* session) {
  std::vector<int64_t> steps;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, step] : steps_) {
      if (step.session == session) steps.push_back(id);
    }
  }
  for (const int64_t step : steps) forget(step);
}

std::exception_ptr StepTable::why_ended(int64_t step) const {
  auto found = ended_.find(step);
  if (found == ended_.end()) return nullptr;
  return found->second ? found->second : over(step);
}

void StepTable::remember_ended(int64_t step, std::exception_ptr why) {
  if (!ended_.emplace(step, std::move(why)).second) return;
  ended_order_.push_back(step);
  if (ended_order_.size() <= kEndedStepsKept) return;
  ended_.erase(ended_order_.front());
  ended_order_.pop_front();
}

StepTable::Counts StepTable::counts() const {
  std::lock_guard lock(mutex_);
  Counts counts{.steps = steps_.size()};
  for (const auto& [id, step] : steps_) {
    for (const auto& [key, slot] : step.slots) ++(slot.waiter ? counts.waits : counts.values);
  }
  return counts;
}

std::vector<std::string> StepTable::waits(size_t most) const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> list;
  for (const auto& [id, step] : steps_) {
    for (const auto& [key, slot] : step.slots) {
      if (list.size() < most && slot.waiter) list.push_back(fmt::format("step {} waits for {}", id, key));
    }
  }
  return list;
}

}  // namespace weir::distributed
