#pragma once

#include <condition_variable>
#include <functional>
#include <thread>

#include "ops/data/dataset.h"
#include "ops/run_control.h"

namespace weir::ops {

// Threads that work for one iterator, ahead of who asks it. They end with the iterator, with the part of the pipeline
// that made it, and with the session; whatever they wait for or pull from ends at once then.
//
// `mutex` guards what they share with the iterator, `changed` tells of every change of it.
class Background {
 public:
  explicit Background(const IterateContext& creator);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  std::mutex mutex;
  std::condition_variable_any changed;

  void start(std::function<void(const IterateContext&)> work);
  size_t threads() const { return threads_.size(); }
  bool stopped() const { return token_.stop_requested(); }
  // Ends the threads. The owner's destructor calls it before anything that they use goes.
  void end();

  // For who asks: sleeps until `holds`. Throws when its run, or the background, has ended before.
  template <class Holds>
  void wait(const IterateContext& asker, std::unique_lock<std::mutex>& lock, Holds holds) {
    auto awake = [&] { return holds() || stopped(); };
    const RunControl& control = asker.control;
    if (control.has_deadline()) {
      changed.wait_until(lock, control.stop, control.deadline, awake);
    } else {
      changed.wait(lock, control.stop, awake);
    }
    if (!holds()) asker.end();
  }
  // For the threads: false when the background has ended before.
  template <class Holds>
  bool sleep(std::unique_lock<std::mutex>& lock, Holds holds) {
    changed.wait(lock, [&] { return holds() || stopped(); });
    return !stopped();
  }

 private:
  void stop() noexcept;

  Pipeline& pipeline_;
  std::stop_source source_;
  const std::stop_token token_ = source_.get_token();
  RunControl control_;
  std::vector<std::thread> threads_;
  struct Stop {
    Background* background;
    void operator()() noexcept { background->stop(); }
  };
  std::stop_callback<Stop> with_creator_;
};

// What a thread made for who asks: an element, an error, or the end.
struct Made {
  Element element;
  std::exception_ptr error;
  bool end = false;

  // Gives it on: throws the error, false at the end.
  bool give(Element& out) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
    if (end) return false;
    out = std::move(element);
    return true;
  }
  // The next element of an iterator.
  void take(ElementIterator& from, const IterateContext& c) noexcept {
    try {
      end = !from.next(c, element);
    } catch (...) {
      error = std::current_exception();
    }
  }
};

}  // namespace weir::ops
