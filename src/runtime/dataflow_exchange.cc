#include "runtime/dataflow_exchange.h"

#include <cstring>

#include "base/errors.h"

namespace weir {
namespace {

// MurmurHash64A, with which TensorFlow numbers names.
uint64_t hash(const std::string& text) {
  constexpr uint64_t kSeed = 0xDECAFCAFFE, kFactor = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t hash = kSeed ^ (text.size() * kFactor);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word *= kFactor;
    word ^= word >> kShift;
    hash = (hash ^ (word * kFactor)) * kFactor;
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * kFactor;
  }
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

uint64_t mix(uint64_t a, uint64_t b) { return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4)); }

std::stop_token token(const std::stop_token* stop) { return stop ? *stop : std::stop_token(); }

}  // namespace

DataflowFrameName DataflowFrameName::inside(int64_t iteration, const std::string& loop) const {
  DataflowFrameName name;
  name.path_ = fmt::format("{};{};{}", path_, iteration, loop);
  name.by_path_ = hash(name.path_);
  name.by_numbers_ = mix(by_numbers_, mix(static_cast<uint64_t>(iteration), hash(loop)));
  return name;
}

std::string DataflowFrameName::in_key(const std::string& key, int64_t iteration, bool numbered) const {
  constexpr size_t kNoLoop = 3;  // "0:0"
  return fmt::format("{}{}:{}", std::string_view(key).substr(0, key.size() - kNoLoop),
                     numbered ? by_numbers_ : by_path_, iteration);
}

DataflowExchange::DataflowExchange(const RunControl& control)
    : control_(control),
      own_(control),
      by_session_(token(control.session), [this] { source_.request_stop(); }),
      by_program_(token(control.program), [this] { source_.request_stop(); }),
      by_caller_(control.stop, [this] { source_.request_stop(); }) {
  own_.stop = source_.get_token();
}

DataflowExchange::~DataflowExchange() {
  source_.request_stop();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ == 0; });
}

void DataflowExchange::begin() {
  std::lock_guard lock(mutex_);
  ++under_way_;
}

void DataflowExchange::arrive(Arrival arrival) {
  // This may end as soon as the lock is free.
  std::lock_guard lock(mutex_);
  arrived_.push_back(std::move(arrival));
  --under_way_;
  changed_.notify_one();
}

void DataflowExchange::receive(int id, ops::Rendezvous& rendezvous, int64_t step, const std::string& key) {
  begin();
  try {
    rendezvous.receive(step, key, own_.stop, [this, id](Tensor value, std::exception_ptr error) {
      arrive({id, std::move(value), std::move(error)});
    });
  } catch (...) {
    arrive({id, {}, std::current_exception()});
  }
}

void DataflowExchange::run(int id, LanePool& lanes, std::function<void()> work) {
  begin();
  works_.push_back([this, id, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    arrive({id, {}, std::move(error)});
  });
  try {
    lanes.start(works_.back());
  } catch (...) {
    arrive({id, {}, std::current_exception()});
  }
}

bool DataflowExchange::expects() const {
  std::lock_guard lock(mutex_);
  return under_way_ > 0 || !arrived_.empty();
}

DataflowExchange::Arrival DataflowExchange::take() {
  std::unique_lock lock(mutex_);
  while (arrived_.empty()) {
    // A stop ends what is under way, which arrives then.
    if (!control_.has_deadline()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, control_.deadline) == std::cv_status::timeout) {
      control_.check();
    }
  }
  Arrival arrival = std::move(arrived_.front());
  arrived_.pop_front();
  if (arrival.error) control_.check();  // it may be a consequence
  return arrival;
}

}  // namespace weir
