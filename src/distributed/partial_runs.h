#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/step_table.h"
#include "distributed/transport.h"

namespace weir::distributed {

// Parts of steps whose values come and go in several calls. Each runs in a thread of its own from its first call to its
// last, and what it waits for goes through the rendezvous. Thread-safe.
class PartialRuns {
 public:
  PartialRuns() = default;
  ~PartialRuns();  // ends all
  PartialRuns(const PartialRuns&) = delete;
  PartialRuns& operator=(const PartialRuns&) = delete;

  struct Call {
    const std::string& graph;  // the part
    int64_t step = 0;
    const void* session = nullptr;  // whose it is
    const std::vector<std::pair<std::string, Tensor>>& sends;
    const std::vector<std::string>& receives;
    bool last = false;
    Deadline deadline = kNoDeadline;
    std::stop_token stop = {};
  };
  // Gives what the call brings, and the values that it asks for. The first of a step begins `run`; the last waits for
  // its end. A call that fails ends it.
  std::vector<Tensor> call(StepTable& table, const Call& call, std::function<void(const std::stop_token&)> run);

  void end(int64_t step);
  void end_session(const void* session);

 private:
  struct One;
  using Key = std::pair<std::string, int64_t>;  // part and step
  std::shared_ptr<One> find_or_begin(const Call& call, std::function<void(const std::stop_token&)> run);
  void end_all(const std::function<bool(const Key&, const One&)>& chosen);

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<One>> runs_;  // guarded by mutex_
};

}  // namespace weir::distributed
