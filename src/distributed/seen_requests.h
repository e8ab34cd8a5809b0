#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>

namespace weir::distributed {

// Numbers of the requests that came last. A request that comes again must not run again: whoever sent it cannot know
// whether the first one did. Thread-safe.
class SeenRequests {
 public:
  // Throws Aborted for one that came before. 0 is no number: whoever sends it does not say.
  void add(int64_t id, const char* what);

 private:
  std::mutex mutex_;
  std::unordered_set<int64_t> ids_;  // both guarded by mutex_
  std::deque<int64_t> order_;
};

}  // namespace weir::distributed
