#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

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
  void send_dead(int64_t step, const std::string& key) override;
  void receive(int64_t step, const std::string& key, const std::stop_token& stop, Done done) override;
  // The same for a value that this task sends, whoever asks. Ends with Aborted when the key means an earlier life of
  // it.
  void receive_here(int64_t step, const std::string& key, const std::stop_token& stop, Done done);

  // A part of the step runs here, for this session; and has ended. What it has left for others stays until they fetch
  // it, the step is over, or the session is.
  void enter(int64_t step, const void* session);
  void leave(int64_t step);

  // The step has failed: every wait of it ends with the error, those to come included.
  void abort(int64_t step, std::exception_ptr error);
  // The step is over, and what is left of it goes. `why`: what those that ask for it later are told; null: only that.
  void forget(int64_t step, std::exception_ptr why = nullptr);
  // The same of all steps of a session: its master may be gone without having said that they are over.
  void forget_session(const void* session);

  struct Counts {
    size_t steps = 0, values = 0, waits = 0;
  };
  Counts counts() const;
  std::vector<std::string> waits(size_t most) const;  // "step 12 for key", for people

 private:
  struct Waiter;
  struct Slot {
    Tensor value = {};
    bool dead = false;
    std::shared_ptr<Waiter> waiter = {};
  };
  struct Step {
    std::unordered_map<std::string, Slot> slots = {};
    std::exception_ptr error = nullptr;
    const void* session = nullptr;  // whose it is, once a part has run here
    int running = 0;                // parts

    bool is_used() const { return !slots.empty() || error || running > 0; }
  };
  using Steps = std::unordered_map<int64_t, Step>;

  void put(int64_t step, const std::string& key, Tensor value, bool dead);
  void cancel(int64_t step, const std::string& key, const Waiter* waiter);
  // REQUIRE: mutex_ is held.
  void remember_ended(int64_t step, std::exception_ptr why);
  std::exception_ptr why_ended(int64_t step) const;  // null: it has not
  void drop_unused(Steps::iterator step);

  const std::string own_task_;
  const uint64_t incarnation_;
  const Fetch fetch_;
  mutable std::mutex mutex_;
  Steps steps_;  // all guarded by mutex_
  // The last ones that are over, and why, if there is more to say: what comes for them is late.
  std::unordered_map<int64_t, std::exception_ptr> ended_;
  std::deque<int64_t> ended_order_;
};

}  // namespace weir::distributed
