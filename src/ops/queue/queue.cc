#include "ops/queue/queue.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/errors.h"

namespace weir::ops {

// One that waits to put an element in, or to take one out.
struct Queue::Waiter {
  Waiter(Completion completion, Tuple put_in, KernelContext* take_out)
      : done(completion), element(std::move(put_in)), out(take_out) {}

  Completion done;
  Tuple element;         // to put in, or taken out
  KernelContext* out;    // where to take it out to; null of one that puts in
  bool stopped = false;  // guarded by the queue's mutex
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

// Somebody whose wait is over. Told after the lock.
struct Queue::Ended {
  WaiterPtr waiter;
  std::exception_ptr error;

  void tell() const {
    std::exception_ptr failed = error;
    if (!failed && waiter->out) {
      try {
        for (size_t i = 0; i < waiter->element.size(); ++i) {
          waiter->out->set_output(static_cast<int>(i), std::move(waiter->element[i]));
        }
      } catch (...) {
        failed = std::current_exception();
      }
    }
    waiter->done(std::move(failed));
  }
};

Queue::Queue(Options options) : options_(std::move(options)) {
  if (!options_.shapes.empty() && options_.shapes.size() != options_.types.size()) {
    throw invalid_argument("the queue '{}' has {} components and {} shapes", options_.name, options_.types.size(),
                           options_.shapes.size());
  }
}

Queue::~Queue() = default;

std::string Queue::describe() const {
  std::lock_guard lock(mutex_);
  std::string text = fmt::format("queue '{}' ({}", options_.name, elements_.size());
  if (options_.capacity >= 0) text += fmt::format(" of {}", options_.capacity);
  text += elements_.size() == 1 && options_.capacity < 0 ? " element" : " elements";
  return text + (closed_ ? ", closed)" : ")");
}

void Queue::check(const Tuple& element) const {
  if (element.size() != options_.types.size()) {
    throw invalid_argument("Wrong number of components in tuple. Expected {}, got {}", options_.types.size(),
                           element.size());
  }
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].dtype() != options_.types[i]) {
      throw invalid_argument("Type mismatch in tuple component {}. Expected {}, got {}", i,
                             dtype_name(options_.types[i]), dtype_name(element[i].dtype()));
    }
    if (!options_.shapes.empty() && !options_.shapes[i].compatible(element[i].shape())) {
      throw invalid_argument("Shape mismatch in tuple component {}. Expected {}, got {}", i, options_.shapes[i].str(),
                             element[i].shape().str());
    }
  }
}

void Queue::enqueue(Tuple element, const KernelContext& c, Completion done) {
  check(element);
  auto waiter = std::make_shared<Waiter>(done, std::move(element), nullptr);
  if (c.control()) {
    waiter->on_stop.emplace(c.control()->stop, [this, w = waiter.get()] { cancel(*w); });
  }
  wait(enqueues_, std::move(waiter));
}

void Queue::dequeue(KernelContext& c, Completion done) {
  auto waiter = std::make_shared<Waiter>(done, Tuple(), &c);
  if (c.control()) {
    waiter->on_stop.emplace(c.control()->stop, [this, w = waiter.get()] { cancel(*w); });
  }
  wait(dequeues_, std::move(waiter));
}

void Queue::wait(std::list<WaiterPtr>& list, WaiterPtr waiter) {
  std::vector<Ended> ended;
  {
    std::lock_guard lock(mutex_);
    if (waiter->stopped) {
      ended.push_back({waiter, std::make_exception_ptr(error(Code::Cancelled, "{} operation was cancelled",
                                                             waiter->out ? "Dequeue" : "Enqueue"))});
    } else if (&list == &enqueues_ && closed_) {
      ended.push_back({waiter, closed_error()});
    } else {
      list.push_back(waiter);
      advance(ended);
    }
  }
  for (const Ended& one : ended) one.tell();
}

// Called while the waiter lives: its callback ends before it does.
void Queue::cancel(Waiter& waiter) {
  std::vector<Ended> ended;
  {
    std::lock_guard lock(mutex_);
    waiter.stopped = true;
    std::list<WaiterPtr>& list = waiter.out ? dequeues_ : enqueues_;
    auto at = std::find_if(list.begin(), list.end(), [&](const WaiterPtr& w) { return w.get() == &waiter; });
    if (at == list.end()) return;  // not there yet, or not any more
    ended.push_back({std::move(*at), std::make_exception_ptr(error(Code::Cancelled, "{} operation was cancelled",
                                                                   waiter.out ? "Dequeue" : "Enqueue"))});
    list.erase(at);
    advance(ended);  // whoever stood behind it may go on
  }
  for (const Ended& one : ended) one.tell();
}

void Queue::advance(std::vector<Ended>& ended) {
  for (bool moved = true; moved;) {
    moved = false;
    if (!enqueues_.empty() && has_room()) {
      elements_.push_back(std::move(enqueues_.front()->element));
      ended.push_back({std::move(enqueues_.front()), nullptr});
      enqueues_.pop_front();
      moved = true;
    }
    if (!dequeues_.empty() && !elements_.empty()) {
      dequeues_.front()->element = std::move(elements_.front());
      elements_.pop_front();
      ended.push_back({std::move(dequeues_.front()), nullptr});
      dequeues_.pop_front();
      moved = true;
    }
  }
  if (!closed_ || !enqueues_.empty()) return;
  for (WaiterPtr& waiter : dequeues_) ended.push_back({std::move(waiter), empty_error()});
  dequeues_.clear();
}

void Queue::close(bool cancel_pending_enqueues) {
  std::vector<Ended> ended;
  {
    std::lock_guard lock(mutex_);
    if (cancel_pending_enqueues) {
      for (WaiterPtr& waiter : enqueues_) {
        ended.push_back(
            {std::move(waiter), std::make_exception_ptr(error(Code::Cancelled, "Enqueue operation was cancelled"))});
      }
      enqueues_.clear();
    }
    closed_ = true;
    advance(ended);
  }
  for (const Ended& one : ended) one.tell();
}

int64_t Queue::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(elements_.size());
}

bool Queue::is_closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::exception_ptr Queue::closed_error() const {
  return std::make_exception_ptr(error(Code::Cancelled, "{} '{}' is closed.", options_.kind, options_.name));
}

std::exception_ptr Queue::empty_error() const {
  return std::make_exception_ptr(error(Code::OutOfRange,
                                       "{} '{}' is closed and has insufficient elements (requested 1, current size {})",
                                       options_.kind, options_.name, elements_.size()));
}

}  // namespace weir::ops
