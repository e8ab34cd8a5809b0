#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "ops/kernel.h"
#include "ops/net/rendezvous.h"
#include "ops/run_control.h"
#include "runtime/lanes.h"

namespace weir {

// Which iteration of which loop a value is of, as TensorFlow's executors write it behind the keys of what they send.
class DataflowFrameName {
 public:
  DataflowFrameName() = default;
  DataflowFrameName inside(int64_t iteration, const std::string& loop) const;
  // `key` ends with "0:0", which stands for no loop. `numbered`: from TensorFlow 2.4 on a loop is known by a mixture of
  // numbers, before by that of its whole name.
  std::string in_key(const std::string& key, int64_t iteration, bool numbered) const;

 private:
  std::string path_;
  uint64_t by_path_ = 0, by_numbers_ = 0;
};

// What a run of raw control flow has begun and goes on by itself: values that other tasks send, and parts that wait.
// One thread begins and takes; the rest comes from any.
class DataflowExchange {
 public:
  explicit DataflowExchange(const RunControl& control);
  // Ends what is under way, and waits until it has.
  ~DataflowExchange();
  DataflowExchange(const DataflowExchange&) = delete;
  DataflowExchange& operator=(const DataflowExchange&) = delete;

  // The run's, stopped as soon as this ends.
  const RunControl& control() const { return own_; }

  struct Arrival {
    int id = -1;
    Tensor value = {};  // not valid: dead, or there is none
    std::exception_ptr error = nullptr;
  };
  void receive(int id, ops::Rendezvous& rendezvous, int64_t step, const std::string& key);
  // `work` runs on a lane.
  void run(int id, LanePool& lanes, std::function<void()> work);
  // Whether there is something to take, or will be.
  bool expects() const;
  // The next that has ended. Throws what ends the run meanwhile.
  Arrival take();

 private:
  void begin();
  void arrive(Arrival arrival);

  const RunControl control_;
  RunControl own_;
  std::stop_source source_;
  std::list<std::function<void()>> works_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> arrived_;  // both guarded by mutex_
  int under_way_ = 0;
  // The last to be made and the first to go.
  using OnStop = std::stop_callback<std::function<void()>>;
  OnStop by_session_, by_program_, by_caller_;
};

}  // namespace weir
