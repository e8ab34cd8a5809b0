#include "distributed/partial_runs.h"

#include <condition_variable>
#include <thread>

#include "base/errors.h"
#include "distributed/status.h"

namespace weir::distributed {
namespace {

constexpr size_t kMostRuns = 256;

// The values of these keys. Throws what keeps one from coming.
std::vector<Tensor> receive_all(StepTable& table, int64_t step, const std::vector<std::string>& keys,
                                const std::stop_token& caller, Deadline deadline) {
  std::vector<Tensor> values(keys.size());
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = keys.size();
  std::exception_ptr failed;
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_caller(caller, end);
  for (size_t i = 0; i < keys.size(); ++i) {
    table.receive_here(step, keys[i], source.get_token(), [&, i](Tensor value, std::exception_ptr why) {
      std::lock_guard lock(mutex);
      values[i] = std::move(value);
      if (why && !failed) failed = why;
      --left;
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  auto done = [&] { return left == 0; };
  if (deadline == kNoDeadline) {
    changed.wait(lock, done);
  } else if (!changed.wait_until(lock, deadline, done)) {
    lock.unlock();
    source.request_stop();
    lock.lock();
    changed.wait(lock, done);
    throw error(Code::DeadlineExceeded, "the partial run took longer than its timeout allows");
  }
  if (failed) std::rethrow_exception(failed);
  return values;
}

}  // namespace

struct PartialRuns::One {
  const void* session = nullptr;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // both guarded by mutex
  std::exception_ptr error;
  std::once_flag joined;
  std::thread thread;

  void run(const std::function<void(const std::stop_token&)>& part) {
    std::exception_ptr failed;
    try {
      part(stop.get_token());
    } catch (...) {
      failed = std::current_exception();
    }
    std::lock_guard lock(mutex);
    error = failed;
    ended = true;
    changed.notify_all();
  }

  // Waits for its end, and brings it about when the caller gives up.
  void wait(const std::stop_token& caller, Deadline deadline) {
    std::stop_callback by_caller(caller, [this] { stop.request_stop(); });
    {
      std::unique_lock lock(mutex);
      auto is_over = [this] { return ended; };
      if (deadline == kNoDeadline) {
        changed.wait(lock, is_over);
      } else if (!changed.wait_until(lock, deadline, is_over)) {
        lock.unlock();
        stop.request_stop();
      }
    }
    std::call_once(joined, [this] { thread.join(); });
  }
};

PartialRuns::~PartialRuns() {
  end_all([](const Key&, const One&) { return true; });
}

std::shared_ptr<PartialRuns::One> PartialRuns::find_or_begin(const Call& call,
                                                             std::function<void(const std::stop_token&)> run) {
  std::lock_guard lock(mutex_);
  const Key key{call.graph, call.step};
  if (auto found = runs_.find(key); found != runs_.end()) return found->second;
  if (runs_.size() >= kMostRuns)
    throw error(Code::ResourceExhausted, "{} partial runs are under way, and no more are taken", kMostRuns);
  auto one = std::make_shared<One>();
  one->session = call.session;
  one->thread = std::thread([one = one.get(), run = std::move(run)] { one->run(run); });
  runs_.emplace(key, one);
  return one;
}

std::vector<Tensor> PartialRuns::call(StepTable& table, const Call& call,
                                      std::function<void(const std::stop_token&)> run) {
  const std::shared_ptr<One> one = find_or_begin(call, std::move(run));
  std::vector<Tensor> values;
  std::exception_ptr failed;
  try {
    for (const auto& [key, value] : call.sends) table.send(call.step, key, value);
    values = receive_all(table, call.step, call.receives, call.stop, call.deadline);
  } catch (...) {
    failed = std::current_exception();
  }
  if (!call.last && !failed) return values;
  if (failed) one->stop.request_stop();
  {
    std::lock_guard lock(mutex_);
    runs_.erase({call.graph, call.step});
  }
  one->wait(call.stop, call.deadline);
  std::lock_guard lock(one->mutex);
  // What a step of the run says is the reason; what its rendezvous says, the consequence.
  if (one->error && (!failed || as_error(failed).code() == as_error(one->error).code())) failed = one->error;
  if (failed) std::rethrow_exception(failed);
  return values;
}

void PartialRuns::end(int64_t step) {
  end_all([&](const Key& key, const One&) { return key.second == step; });
}

void PartialRuns::end_session(const void* session) {
  end_all([&](const Key&, const One& one) { return one.session == session; });
}

void PartialRuns::end_all(const std::function<bool(const Key&, const One&)>& chosen) {
  std::vector<std::shared_ptr<One>> ended;
  {
    std::lock_guard lock(mutex_);
    for (auto at = runs_.begin(); at != runs_.end();) {
      if (!chosen(at->first, *at->second)) {
        ++at;
        continue;
      }
      ended.push_back(std::move(at->second));
      at = runs_.erase(at);
    }
  }
  for (const auto& one : ended) one->stop.request_stop();
  for (const auto& one : ended) one->wait({}, kNoDeadline);
}

}  // namespace weir::distributed
