#include "weir/coordinator.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "base/errors.h"

namespace weir::train {

struct Coordinator::Impl {
  struct Member {
    std::string name;
    bool ended = false;
    std::thread thread = {};
  };

  explicit Impl(std::vector<Code> codes) : clean_stop(std::move(codes)) {}

  bool is_clean(const std::exception_ptr& reason) const {
    try {
      std::rethrow_exception(reason);
    } catch (const Error& e) {
      return std::find(clean_stop.begin(), clean_stop.end(), e.code()) != clean_stop.end();
    } catch (...) {
      return false;
    }
  }
  bool all_ended() const {
    return std::all_of(members.begin(), members.end(), [](const Member& m) { return m.ended; });
  }

  const std::vector<Code> clean_stop;
  mutable std::mutex mutex;
  mutable std::condition_variable_any changed;
  std::stop_source source;  // all guarded by the mutex
  std::exception_ptr error;
  std::list<Member> members;
};

Coordinator::Coordinator(std::vector<Code> clean_stop) : impl_(std::make_unique<Impl>(std::move(clean_stop))) {}

Coordinator::~Coordinator() {
  request_stop();
  for (Impl::Member& member : impl_->members) member.thread.join();
}

void Coordinator::request_stop(std::exception_ptr error) {
  if (error && impl_->is_clean(error)) error = nullptr;
  std::stop_source source{std::nostopstate};
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->source.stop_requested()) return;
    impl_->error = std::move(error);
    source = impl_->source;
  }
  source.request_stop();  // without the lock: runs that wait end in here
  std::lock_guard lock(impl_->mutex);
  impl_->changed.notify_all();
}

bool Coordinator::should_stop() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->source.stop_requested();
}

void Coordinator::rethrow() const {
  std::exception_ptr error;
  {
    std::lock_guard lock(impl_->mutex);
    error = impl_->error;
  }
  if (error) std::rethrow_exception(error);
}

std::stop_token Coordinator::token() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->source.get_token();
}

bool Coordinator::wait_for_stop(std::optional<std::chrono::nanoseconds> timeout,
                                const std::stop_token& interrupt) const {
  std::unique_lock lock(impl_->mutex);
  auto stopped = [&] { return impl_->source.stop_requested(); };
  if (timeout) return impl_->changed.wait_for(lock, interrupt, std::max(*timeout, {}), stopped);
  return impl_->changed.wait(lock, interrupt, stopped);
}

void Coordinator::clear_stop() {
  std::lock_guard lock(impl_->mutex);
  if (impl_->source.stop_requested()) impl_->source = std::stop_source();
  impl_->error = nullptr;
}

void Coordinator::start(std::string name, std::function<void(Coordinator&)> work) {
  std::lock_guard lock(impl_->mutex);
  Impl::Member& member = impl_->members.emplace_back(Impl::Member{std::move(name)});
  member.thread = std::thread([this, &member, work = std::move(work)] {
    try {
      work(*this);
    } catch (...) {
      request_stop(std::current_exception());
    }
    std::lock_guard ending(impl_->mutex);
    member.ended = true;
    impl_->changed.notify_all();
  });
}

void Coordinator::join(std::chrono::milliseconds grace) {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->all_ended() || impl_->source.stop_requested(); });
  if (!impl_->changed.wait_for(lock, grace, [&] { return impl_->all_ended(); }) && !impl_->error) {
    std::string names;
    for (const Impl::Member& member : impl_->members) {
      if (!member.ended) names += " " + member.name;
    }
    throw weir::error(Code::DeadlineExceeded, "Coordinator stopped with threads still running:{}", names);
  }
  std::list<Impl::Member> ended;
  for (auto at = impl_->members.begin(); at != impl_->members.end();) {
    auto next = std::next(at);
    if (at->ended) ended.splice(ended.end(), impl_->members, at);
    at = next;
  }
  std::exception_ptr error = impl_->error;
  lock.unlock();
  for (Impl::Member& member : ended) member.thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace weir::train
