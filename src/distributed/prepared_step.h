#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/cut_graph.h"
#include "distributed/transport.h"
#include "distributed/worker.h"

namespace weir::distributed {

int64_t random_step_id();

// A kind of step that a master has cut into parts, which the tasks know.
struct PreparedStep {
  StepSpec spec = {};
  std::vector<int> echo = {};             // for each fetch: the feed that it is, or -1
  std::vector<CutPart> parts = {};        // empty: the step needs no other task
  std::vector<Peer*> peers = {};          // who runs each part; null: this task
  std::vector<std::string> handles = {};  // what the tasks call their parts
  std::string text = {};                  // for people: "fetches loss:0; runs train"

  std::string describe() const;  // what `text` should be
};

// One call of a partial run: feeds that it does not bring are null, fetches that it does not ask for false.
struct StepPiece {
  std::vector<bool> fetches = {};
  bool last = false;
};

// One run of the parts of a step: what came of each of them, in whatever order they end. The first failure ends the
// others.
class PartsRun {
 public:
  // `piece`: null for the whole step.
  PartsRun(const PreparedStep& step, const StepPiece* piece, int64_t id, const std::stop_token& stop);
  ~PartsRun();  // waits for what is under way
  PartsRun(const PartsRun&) = delete;
  PartsRun& operator=(const PartsRun&) = delete;

  std::stop_token stop() const { return source_.get_token(); }
  Message request(int part, const std::vector<const Tensor*>& feeds, const std::string& session, bool trace) const;
  // The same for the part that runs here.
  Worker::Run own_request(int part, const std::vector<const Tensor*>& feeds, const std::string& session) const;

  void begun();                                      // one more is under way elsewhere
  void ended(int part, Reply reply);                 // one that is under way elsewhere has ended
  void gave(int part, std::vector<Tensor> fetches);  // one that ran here
  void failed(Error error);
  void add_stats(const std::string& stats);
  void wait();  // until nothing is under way
  bool has_failed() const;

  // Puts the fetches where they belong, or throws the error that came first and is no consequence of another.
  void finish(std::vector<Tensor>& results, std::string* stats, const Graph* graph);

 private:
  bool wants(int fetch) const { return !piece_ || piece_->fetches[static_cast<size_t>(fetch)]; }

  const PreparedStep& step_;
  const StepPiece* const piece_;
  const int64_t id_;
  const int64_t began_us_;
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

}  // namespace weir::distributed
