#include "ops/queue/meeting.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/errors.h"
#include "ops/run_control.h"

namespace weir::ops {
namespace {

std::exception_ptr cancelled(const Meeting::Visit& visit) {
  return std::make_exception_ptr(error(Code::Cancelled, "{} operation was cancelled", visit.name()));
}

// Ends a visit; the context is gone afterwards.
void finish(Meeting::Visit& visit, KernelContext& c, Completion done, std::exception_ptr error) {
  if (!error) {
    try {
      visit.deliver(c);
    } catch (...) {
      error = std::current_exception();
    }
  }
  done(std::move(error));
}

}  // namespace

// One that waits.
struct Meeting::Waiter {
  Waiter(Side where, std::unique_ptr<Visit> what, KernelContext& c, Completion completion)
      : side(where), visit(std::move(what)), context(&c), done(completion) {}

  const Side side;
  const std::unique_ptr<Visit> visit;
  KernelContext* const context;
  const Completion done;
  std::exception_ptr error = {};  // both guarded by the resource's mutex
  bool stopped = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

Meeting::~Meeting() = default;

bool Meeting::go_ahead(Side side, Visit& visit, KernelContext& c, Completion done) {
  std::exception_ptr error;
  std::vector<WaiterPtr> ended;
  if (c.control() && c.control()->stop.stop_requested()) {
    error = cancelled(visit);
  } else {
    std::lock_guard lock(mutex_);
    if ((in_order_ && waiting(side) > 0) || !visit.ready()) return false;
    try {
      visit.attempt();
    } catch (...) {
      error = std::current_exception();
    }
    advance(ended);
  }
  finish(visit, c, done, std::move(error));
  end(ended);
  return true;
}

void Meeting::wait(Side side, std::unique_ptr<Visit> visit, KernelContext& c, Completion done) {
  auto waiter = std::make_shared<Waiter>(side, std::move(visit), c, done);
  // Before it stands in the line, and without the lock: a run that has been stopped is told here.
  if (c.control()) {
    waiter->on_stop.emplace(c.control()->stop, [this, w = waiter.get()] { cancel(*w); });
  }
  std::vector<WaiterPtr> ended;
  {
    std::lock_guard lock(mutex_);
    if (waiter->stopped) {
      waiter->error = cancelled(*waiter->visit);
      ended.push_back(std::move(waiter));
    } else {
      lines_[static_cast<size_t>(side)].push_back(std::move(waiter));
      advance(ended);
    }
  }
  end(ended);
}

// Called while the waiter lives: its callback ends before it does.
void Meeting::cancel(Waiter& waiter) {
  std::vector<WaiterPtr> ended;
  {
    std::lock_guard lock(mutex_);
    waiter.stopped = true;
    Line& line = lines_[static_cast<size_t>(waiter.side)];
    auto at = std::find_if(line.begin(), line.end(), [&](const WaiterPtr& w) { return w.get() == &waiter; });
    if (at == line.end()) return;  // not there yet, or not any more
    waiter.error = cancelled(*waiter.visit);
    ended.push_back(std::move(*at));
    line.erase(at);
    waiter.visit->give_up();
    advance(ended);  // whoever stood behind it may go on
  }
  end(ended);
}

void Meeting::change(FunctionRef<void()> action) {
  std::vector<WaiterPtr> ended;
  {
    std::lock_guard lock(mutex_);
    dismissed_ = &ended;
    try {
      action();
    } catch (...) {
      dismissed_ = nullptr;
      throw;
    }
    dismissed_ = nullptr;
    advance(ended);
  }
  end(ended);
}

void Meeting::dismiss(Side side) {
  Line& line = lines_[static_cast<size_t>(side)];
  for (WaiterPtr& waiter : line) {
    waiter->error = cancelled(*waiter->visit);
    waiter->visit->give_up();
    dismissed_->push_back(std::move(waiter));
  }
  line.clear();
}

void Meeting::advance(std::vector<WaiterPtr>& ended) {
  for (bool moved = true; moved;) {
    moved = false;
    for (Line& line : lines_) {
      for (auto at = line.begin(); at != line.end();) {
        Waiter& waiter = **at;
        Visit::Outcome outcome = Visit::Outcome::Done;
        try {
          outcome = waiter.visit->attempt();
        } catch (...) {
          waiter.error = std::current_exception();
        }
        moved = moved || outcome != Visit::Outcome::Waits;
        if (outcome == Visit::Outcome::Done) {
          ended.push_back(std::move(*at));
          at = line.erase(at);
        } else if (in_order_) {
          break;
        } else {
          ++at;
        }
      }
    }
  }
}

void Meeting::end(const std::vector<WaiterPtr>& ended) {
  for (const WaiterPtr& waiter : ended) {
    // From here on its run's end is none of its business: the resource may be gone by then.
    waiter->on_stop.reset();
    finish(*waiter->visit, *waiter->context, waiter->done, waiter->error);
  }
}

}  // namespace weir::ops
