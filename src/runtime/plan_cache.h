#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/plan.h"
#include "runtime/run_count.h"

namespace weir {

// What a run asks for, with the plans that there are for it.
class Signature {
 public:
  std::vector<Output> feeds, fetches;
  std::vector<DType> feed_types;
  std::vector<Operation> targets;
  const Body* body = nullptr;  // of a function; null: a session's run

  bool matches(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets) const;

 private:
  friend class PlanCache;
  struct Entry {
    std::shared_ptr<const Fit> fit;
    uint64_t used = 0;  // the cache's clock then
  };

  std::mutex mutex_;
  // All guarded by mutex_:
  std::unordered_multimap<size_t, Entry> fits_;  // by a hash of the feeds' shapes
  Entry* last_ = nullptr;
  std::vector<std::shared_ptr<Plan>> plans_;  // to fit to further shapes; the one that was made last stands first
  std::shared_ptr<const Fit> generic_;        // leaves all shapes to the run
  std::vector<size_t> making_;                // hashes of the shapes that threads are making plans for
  std::condition_variable made_;
};

// The plans of a session: found by what a run asks for and the shapes that it feeds, made or fitted when they are not
// there, and dropped in the order of their use when they are too many. Thread-safe: plans are made outside of all
// locks, and only threads that need the same one wait for it.
class PlanCache {
 public:
  struct Limits {
    size_t bytes = size_t{128} << 20;  // of all plans together, roughly, without their arenas
    size_t plans = 8;                  // of a signature, before one that leaves all shapes to the run takes over
    int new_nodes = 100;  // runs in a row that each ask for nodes made since the last: more are worth a warning
  };
  // `users` counts the threads that are in a run: signatures that they found are not deleted.
  PlanCache(const PlanEnvironment& environment, const Limits& limits, const RunCount& users)
      : environment_(environment), limits_(limits), users_(users) {}

  // The signature of a run; null when it is new and has to be checked and added. REQUIRES: the
  // thread is counted among the users.
  Signature* find(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets);
  Signature& add(std::unique_ptr<Signature> signature);
  // For signatures that somebody else owns: their plans count as well.
  void enter(Signature& signature);
  void leave(Signature& signature);

  // The plan for these feeds, whose types are right.
  std::shared_ptr<const Fit> plan(Signature& signature, std::span<const Tensor* const> feeds);

  // Drops all plans that no run is using, and with them what their frames hold. Signatures stay.
  void clear();

  size_t bytes() const { return bytes_; }
  size_t signatures() const;

 private:
  struct Made {
    std::shared_ptr<const Fit> fit;
    bool is_new = false;      // a plan, not one that was fitted
    bool is_generic = false;  // for all shapes
  };
  Made make(const Signature& signature, std::span<const Tensor* const> feeds,
            const std::vector<std::shared_ptr<Plan>>& plans) const;
  std::shared_ptr<const Fit> make_plan(const Signature& signature, std::span<const FeedSpec> specs) const;
  std::shared_ptr<const Fit> enter(Signature& signature, size_t hash, Made made);
  void shrink();
  void drop(Signature& signature, const Fit* fit);  // REQUIRES: mutex_ and signature.mutex_ are held
  void warn_of_new_nodes(const Signature& signature);

  const PlanEnvironment environment_;
  const Limits limits_;
  const RunCount& users_;
  std::atomic<uint64_t> clock_{1};  // advances with every plan that is made or fitted
  std::atomic<size_t> bytes_{0};

  mutable std::mutex mutex_;  // guards what follows; taken before a signature's
  std::unordered_multimap<size_t, std::unique_ptr<Signature>> signatures_;
  std::atomic<Signature*> last_{nullptr};
  std::vector<Signature*> owned_elsewhere_;
  std::vector<std::unique_ptr<Signature>> gone_;  // that runs may still look at
  int new_nodes_ = 0;                             // runs in a row that asked for nodes made since the one before
  size_t nodes_before_ = 0;
  bool warned_ = false;
};

}  // namespace weir
