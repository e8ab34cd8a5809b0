#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "ops/net/rendezvous.h"
#include "weir/error.h"

namespace weir::distributed {

// The rendezvous of a task: values by step and key. What others send is asked for by `fetch`.
class StepTable final : public ops::Rendezvous {
 public:
  using Fetch = std::function<void(int64_t step, const std::string& key, const std::stop_token& stop, Done done)>;
  StepTable(std::string own_task, uint64_t incarnation, Fetch fetch);
  ~StepTable() override;

  void send(int64_t step, const std::string& key, Tensor value) override;
  void receive(int64_t step, const std::string& key, const std::stop_token& stop, Done done) override;
  // The same for a value that this task sends, whoever asks. Ends with Aborted when the key means an earlier life of it.
  void receive_here(int64_t step, const std::string& key, const std::stop_token& stop, Done done);

  // The step has failed: every wait of it ends with the error, those to come included.
  void abort(int64_t step, std::exception_ptr error);
  // The step is over, and what is left of it goes.
  void forget(int64_t step);

  struct Counts {
    size_t steps = 0, values = 0, waits = 0;
  };
  Counts counts() const;
  std::vector<std::string> waits(size_t most) const;  // "step 12 for key", for people

 private:
  struct Waiter;
  struct Slot {
    Tensor value = {};
    std::shared_ptr<Waiter> waiter = {};
  };
  struct Step {
    std::unordered_map<std::string, Slot> slots = {};
    std::exception_ptr error = nullptr;
  };

  void cancel(int64_t step, const std::string& key, const Waiter* waiter);
  void remember_ended(int64_t step);  // REQUIRES: mutex_ is held

  const std::string own_task_;
  const uint64_t incarnation_;
  const Fetch fetch_;
  mutable std::mutex mutex_;
  std::unordered_map<int64_t, Step> steps_;  // all guarded by mutex_
  std::unordered_set<int64_t> ended_;        // the last ones that are over: what comes for them is late
  std::deque<int64_t> ended_order_;
};

}  // namespace weir::distributed
