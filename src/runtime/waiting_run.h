#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "ops/kernel.h"

namespace weir {

// What waits for what in a plan that holds steps that wait. Stretches are runs of other steps, in a fixed order; each
// is ready when the stretches and waiting steps before it have ended.
struct WaitingGraph {
  struct Stretch {
    int waits_for = 0;            // stretches and waiting steps
    std::vector<int> successors;  // stretches
  };
  std::vector<Stretch> stretches;
  std::vector<std::vector<int>> after;  // of each waiting step: the stretches that wait for it

  bool waits() const { return !after.empty(); }
};

// One run of such a plan: whatever is ready runs in the caller's thread, one stretch after the other, and the caller
// sleeps only when nothing is. Reused from run to run; a run that succeeds allocates nothing.
class WaitingRun final : public Completion::Receiver {
 public:
  // What the plan does in a run.
  class Work {
   public:
    // Runs the steps of a stretch. A step that waits is begun by begin(), and its kernel started.
    virtual void run_stretch(int stretch, const RunControl& control) = 0;
    // A waiting step has ended well: takes its outputs over. May throw.
    virtual void finish(int waiting) = 0;
    // Throws the error of a waiting step, with the node's name.
    [[noreturn]] virtual void blame(int waiting, std::exception_ptr error) = 0;
    // The step and what it waits for, for messages.
    virtual std::string describe(int waiting) const = 0;
    // Whether a long wait of this step is worth telling, and nobody has been told yet.
    virtual bool may_warn(int waiting) const = 0;

   protected:
    ~Work() = default;
  };

  explicit WaitingRun(const WaitingGraph& graph);

  // Runs everything. The first error of any step ends the waits of all others at once, and is thrown when they have
  // ended; so are the ends that `control` brings.
  void run(const RunControl& control, Work& work);

  // Notes that a waiting step is under way. Its kernel, or whoever works for it, calls the completion.
  Completion begin(int waiting);
  // From any thread; see Completion.
  void complete(int waiting, std::exception_ptr error) noexcept override;

 private:
  void reset(Work& work);
  void run_ready(std::unique_lock<std::mutex>& lock, const RunControl& control);
  void sleep(std::unique_lock<std::mutex>& lock, const RunControl& control);
  // Keeps the first error, and ends every wait of the run.
  void fail(int waiting, std::exception_ptr error, bool late = false);
  void stop();
  void release(const std::vector<int>& stretches);  // REQUIRES: mutex_ is held
  std::string pending_steps() const;                // REQUIRES: mutex_ is held
  void look();                                      // REQUIRES: mutex_ is held

  const WaitingGraph& graph_;
  std::stop_source source_;  // a new one only after a run that was stopped
  Work* work_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  std::vector<int> waits_for_;   // of each stretch, still
  std::vector<int> ready_;       // stretches
  std::vector<bool> under_way_;  // waiting steps
  int stretches_left_ = 0, pending_ = 0;
  std::chrono::steady_clock::time_point look_at_ = {};
  int looks_ = 0;
  std::vector<std::string> seen_;  // of each waiting step: what the last look saw
  std::exception_ptr error_;
  bool late_ = false;  // it is that of the deadline
  int failed_ = -1;    // the waiting step whose error it is
};

}  // namespace weir
