#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "ops/net/collectives.h"

namespace weir::ops {

// One member of a round: its call, a number for it, which life of its task that is, and its value when that is in this
// process.
struct CollectiveMember {
  CollectiveCall call = {};
  int64_t id = 0;
  uint64_t incarnation = 0;
  Tensor input = {};
};

// All members of a group that have called an instance once, in the order of their devices.
struct CollectiveRound {
  std::vector<CollectiveMember> members = {};

  int rank_of(const CollectiveCall& call) const;
  int source() const;  // who sends, in a broadcast
  // What all get, when all values are in this process: worked out by the first who asks.
  const Tensor& result() const;

 private:
  mutable std::once_flag once_;
  mutable Tensor result_;
};

// Brings calls together: the first call of each member is one round, the second the next. Thread-safe.
class CollectiveRounds {
 public:
  // `fixed`: the devices of an instance's first round are its members for good, and others are refused. Else another
  // program may come with others.
  explicit CollectiveRounds(bool fixed) : fixed_(fixed) {}

  // `formed` is called once: with the round when all members have called, or with why there will be none. A member
  // whose `stop` is requested before has not called.
  using Formed = std::function<void(std::shared_ptr<const CollectiveRound> round, std::exception_ptr error)>;
  void join(CollectiveMember member, const std::stop_token& stop, Formed formed);

 private:
  struct Entry;
  struct Pending {
    std::vector<std::shared_ptr<Entry>> entries = {};
    std::set<std::string> seen = {};  // devices and nodes of members that have called
    // Why there will be no such round, and since when: for members that call yet.
    std::exception_ptr failed = nullptr;
    std::chrono::steady_clock::time_point failed_at = {};
  };
  using Keys = std::pair<int64_t, int64_t>;

  // REQUIRE: mutex_ is held.
  Pending& pending_for(const Keys& keys, const std::string& caller);
  void check_fixed(const Keys& keys, const CollectiveCall& call) const;
  void take_out(const Keys& keys, const Pending& pending);

  void cancel(const Keys& keys, const Entry* entry);

  const bool fixed_;
  std::mutex mutex_;
  std::map<Keys, std::deque<Pending>> pending_;  // both guarded by mutex_
  std::map<Keys, std::set<std::string>> devices_of_;
};

// Two values of one shape as one: "Add", "Mul", "Min" or "Max". The result is new memory. And a value divided by the
// size of the group, in place.
Tensor merge(const std::string& merge_op, const Tensor& a, const Tensor& b);
void divide(Tensor& value, int64_t by);

// The members of a process.
class LocalCollectives final : public Collectives {
 public:
  void run(const CollectiveCall& call, Tensor input, const std::stop_token& stop, Done done) override;

 private:
  CollectiveRounds rounds_{true};
};

}  // namespace weir::ops
