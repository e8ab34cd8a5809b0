#include "runtime/waiting_run.h"

#include <algorithm>
#include <cstdio>

#include "base/errors.h"
#include "ops/run_control.h"

namespace weir {
namespace {

// How often a long wait is looked at. Two looks that see the same say who is blocked on what.
constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

WaitingRun::WaitingRun(const WaitingGraph& graph) : graph_(graph) {
  waits_for_.resize(graph.stretches.size());
  ready_.reserve(graph.stretches.size());
  under_way_.resize(graph.after.size());
  seen_.resize(graph.after.size());
}

void WaitingRun::reset(Work& work) {
  if (source_.stop_requested()) source_ = std::stop_source();
  work_ = &work;
  std::lock_guard lock(mutex_);
  ready_.clear();
  for (size_t s = 0; s < graph_.stretches.size(); ++s) {
    waits_for_[s] = graph_.stretches[s].waits_for;
    if (waits_for_[s] == 0) ready_.push_back(static_cast<int>(s));
  }
  stretches_left_ = static_cast<int>(graph_.stretches.size());
  pending_ = 0;
  look_at_ = {};
  looks_ = 0;
  for (std::string& seen : seen_) seen.clear();
  error_ = nullptr;
  late_ = false;
  failed_ = -1;
}

void WaitingRun::run(const RunControl& control, Work& work) {
  reset(work);
  RunControl own = control;
  own.stop = source_.get_token();
  {
    auto on_stop = [this] { stop(); };
    auto token = [](const std::stop_token* t) { return t ? *t : std::stop_token(); };
    std::stop_callback session(token(control.session), on_stop);
    std::stop_callback program(token(control.program), on_stop);
    std::stop_callback outer(control.stop, on_stop);
    std::unique_lock lock(mutex_);
    while (stretches_left_ > 0 || pending_ > 0) {
      const bool stopped = error_ || source_.stop_requested();
      if (stopped && pending_ == 0) break;
      if (!stopped && !ready_.empty()) {
        run_ready(lock, own);
      } else {
        sleep(lock, own);
      }
    }
    // What has ended well in spite of the deadline is no failure: others would miss what the run took.
    if (stretches_left_ == 0 && pending_ == 0 && (!error_ || late_)) return;
  }
  if (!error_) control.end();
  std::exception_ptr error = std::exchange(error_, nullptr);
  if (failed_ >= 0) work.blame(failed_, std::move(error));
  std::rethrow_exception(std::move(error));
}

void WaitingRun::run_ready(std::unique_lock<std::mutex>& lock, const RunControl& control) {
  auto first = std::min_element(ready_.begin(), ready_.end());
  const int stretch = *first;
  ready_.erase(first);
  lock.unlock();
  std::exception_ptr error;
  try {
    work_->run_stretch(stretch, control);
  } catch (...) {
    error = std::current_exception();
  }
  if (error) fail(-1, std::move(error));
  lock.lock();
  --stretches_left_;
  release(graph_.stretches[static_cast<size_t>(stretch)].successors);
}

void WaitingRun::sleep(std::unique_lock<std::mutex>& lock, const RunControl& control) {
  using Clock = std::chrono::steady_clock;
  if (look_at_ == Clock::time_point()) look_at_ = Clock::now() + kLookEvery;
  const bool timed = control.has_deadline() && !error_ && !source_.stop_requested();
  const Clock::time_point until = timed ? std::min(control.deadline, look_at_) : look_at_;
  if (changed_.wait_until(lock, until) == std::cv_status::no_timeout) return;
  if (timed && Clock::now() >= control.deadline) {
    // TensorFlow's words first, for programs that look for them.
    Error late =
        error(Code::DeadlineExceeded,
              "Timed out waiting for notification: the run took longer than its timeout allows, and waits for {}",
              pending_steps());
    lock.unlock();
    fail(-1, std::make_exception_ptr(std::move(late)), /*late=*/true);
    lock.lock();
  } else if (Clock::now() >= look_at_) {
    look();
    look_at_ += kLookEvery;
  }
}

void WaitingRun::look() {
  ++looks_;
  for (size_t w = 0; w < under_way_.size(); ++w) {
    if (!under_way_[w]) {
      seen_[w].clear();
      continue;
    }
    const int waiting = static_cast<int>(w);
    std::string sight = work_->describe(waiting);
    if (sight != seen_[w]) {
      seen_[w] = std::move(sight);  // something goes on: a queue that fills, say
    } else if (work_->may_warn(waiting)) {
      const std::string line =
          fmt::format("weir: a run has waited for {} seconds: {}\n", (looks_ * kLookEvery).count(), sight);
      std::fwrite(line.data(), 1, line.size(), stderr);
    }
  }
}

Completion WaitingRun::begin(int waiting) {
  std::lock_guard lock(mutex_);
  ++pending_;
  under_way_[static_cast<size_t>(waiting)] = true;
  return {*this, waiting};
}

void WaitingRun::complete(int waiting, std::exception_ptr error) noexcept {
  if (!error) {
    try {
      work_->finish(waiting);
    } catch (...) {
      error = std::current_exception();
    }
  }
  const bool well = !error;
  if (!well) fail(waiting, std::move(error));
  // The caller may go on, and this object may end, as soon as the lock is free.
  std::lock_guard lock(mutex_);
  --pending_;
  under_way_[static_cast<size_t>(waiting)] = false;
  if (well) release(graph_.after[static_cast<size_t>(waiting)]);
  changed_.notify_one();
}

void WaitingRun::fail(int waiting, std::exception_ptr error, bool late) {
  {
    std::lock_guard lock(mutex_);
    if (error_) {
      late_ = false;  // something has not ended well
      return;
    }
    late_ = late;
    error_ = std::move(error);
    failed_ = waiting;
  }
  stop();
}

void WaitingRun::stop() {
  // Without the lock: whoever waits completes in here.
  source_.request_stop();
  std::lock_guard lock(mutex_);
  changed_.notify_one();
}

void WaitingRun::release(const std::vector<int>& stretches) {
  for (int stretch : stretches) {
    if (--waits_for_[static_cast<size_t>(stretch)] == 0) ready_.push_back(stretch);
  }
}

std::string WaitingRun::pending_steps() const {
  std::string list;
  for (size_t w = 0; w < under_way_.size(); ++w) {
    if (under_way_[w]) list += (list.empty() ? "" : ", ") + work_->describe(static_cast<int>(w));
  }
  return list.empty() ? "nothing" : list;
}

}  // namespace weir
