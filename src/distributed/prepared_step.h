#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/cut_graph.h"
#include "distributed/step_table.h"
#include "distributed/transport.h"

namespace weir::distributed {

// A kind of step that a master has cut into parts, which the tasks know.
struct PreparedStep {
  StepSpec spec = {};
  std::vector<std::string> feed_names = {}, fetch_names = {};
  std::vector<int> echo = {};              // for each fetch: the feed that it is, or -1
  std::vector<CutPart> parts = {};         // empty: the step needs no other task
  std::vector<std::string> handles = {};   // what the tasks call their parts

  std::string describe() const;  // "fetches loss:0; runs train"
};

// One run of the parts of a step: what came of each of them, in whatever order they end. The first failure ends the
// others.
class PartsRun {
 public:
  PartsRun(const PreparedStep& step, int64_t id, const std::stop_token& stop);
  ~PartsRun();  // waits for what is under way
  PartsRun(const PartsRun&) = delete;
  PartsRun& operator=(const PartsRun&) = delete;

  std::stop_token stop() const { return source_.get_token(); }
  Message request(int part, const std::vector<const Tensor*>& feeds, const std::string& session, bool trace) const;

  void begun();                                         // one more is under way elsewhere
  void ended(int part, Reply reply);                    // one that is under way elsewhere has ended
  void gave(int part, std::vector<Tensor> fetches);     // one that ran here
  void failed(Error error);
  void add_stats(const std::string& stats);
  void wait();  // until nothing is under way
  bool has_failed() const;

  // Puts the fetches where they belong, or throws the error that came first and is no consequence of another.
  void finish(std::vector<Tensor>& results, std::string* stats, const Graph* graph);

 private:
  const PreparedStep& step_;
  const int64_t id_;
  std::stop_source source_;
  std::stop_callback<std::function<void()>> by_caller_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  int under_way_ = 0;
  std::vector<Error> errors_;
  std::vector<std::pair<int, Tensor>> fetched_;
  std::string stats_;  // messages of this type, one behind the other, are one
};

// The values of these keys, all that the table will have. Throws what keeps one from coming.
std::vector<Tensor> receive_all(StepTable& table, int64_t step, const std::vector<std::string>& keys,
                                const std::stop_token& caller, const std::stop_token& session, Deadline deadline);

}  // namespace weir::distributed
