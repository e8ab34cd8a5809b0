#pragma once

#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "ops/kernel.h"

namespace weir::ops {

// A resource at which runs meet: some bring what others take. Who cannot go on yet waits in a line, without holding a
// thread, until others have changed something, and ends with Cancelled when its run is stopped. Who need not wait pays
// for a lock and nothing else.
//
// Thread-safe. Completions are called without a lock held.
class Meeting : public Resource {
 public:
  // One operation of a run at the resource.
  class Visit {
   public:
    enum class Outcome { Waits, Moved, Done };
    virtual ~Visit() = default;
    // These three REQUIRE the resource's lock.
    virtual bool ready() const = 0;  // whether attempt() would end the visit
    virtual Outcome attempt() = 0;   // goes as far as it can now; a visit that throws has ended
    virtual void give_up() {}        // it is cancelled: puts back what it has taken
    // After the visit, without the lock: gives the outputs.
    virtual void deliver(KernelContext&) {}
    virtual std::string_view name() const = 0;  // for messages: "Enqueue"
  };

  ~Meeting() override;

 protected:
  enum class Side { Bringing, Taking };
  // In order: who came first goes first, and whoever is behind waits for that too.
  explicit Meeting(bool in_order) : in_order_(in_order) {}

  // Begins a visit. `done` is called when it has ended.
  template <class V>
  void come(Side side, V visit, KernelContext& c, Completion done) {
    if (!go_ahead(side, visit, c, done)) wait(side, std::make_unique<V>(std::move(visit)), c, done);
  }
  // Changes the resource under its lock, on behalf of nobody who waits; whoever can go on then does.
  void change(FunctionRef<void()> action);
  // REQUIRES: the lock is held, in change(). Ends the waits of one side with Cancelled.
  void dismiss(Side side);
  size_t waiting(Side side) const { return lines_[static_cast<size_t>(side)].size(); }  // REQUIRES: the lock is held

  mutable std::mutex mutex_;

 private:
  struct Waiter;
  using WaiterPtr = std::shared_ptr<Waiter>;
  using Line = std::list<WaiterPtr>;

  // A visit that need not wait; false: it has to.
  bool go_ahead(Side side, Visit& visit, KernelContext& c, Completion done);
  void wait(Side side, std::unique_ptr<Visit> visit, KernelContext& c, Completion done);
  void cancel(Waiter& waiter);
  // Lets everybody go on who can. REQUIRES: the lock is held.
  void advance(std::vector<WaiterPtr>& ended);
  static void end(const std::vector<WaiterPtr>& ended);

  const bool in_order_;
  std::array<Line, 2> lines_;
  std::vector<WaiterPtr>* dismissed_ = nullptr;  // during change()
};

}  // namespace weir::ops
