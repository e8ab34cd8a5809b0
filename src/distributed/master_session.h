#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "distributed/cut_graph.h"
#include "distributed/worker.h"
#include "proto/config.pb.h"
#include "weir/session.h"

namespace weir::distributed {

struct PreparedStep;
struct StepPiece;

struct MasterOptions {
  Jobs jobs = {};
  std::string job = {};
  int task = 0;
};

// What a client asks for in a step.
struct StepRequest {
  std::vector<std::pair<std::string, Tensor>> feeds = {};
  std::vector<std::string> fetches = {}, targets = {};
  proto::RunOptions options = {};
  std::stop_token stop = {};
  Deadline deadline = kNoDeadline;
};
struct StepResult {
  std::vector<Tensor> fetches;
  std::string step_stats;  // serialised, when it was asked for
};

// A session that a client has made with this task: its graph, and for each kind of step the parts that it is cut into
// and that the tasks know. What runs in this task alone is an ordinary session's run. Thread-safe.
class MasterSession {
 public:
  // Waits until every task that the session may use has answered. Throws Cancelled and DeadlineExceeded.
  MasterSession(std::string handle, const MasterOptions& options, const proto::ConfigProto& config, Worker& worker,
                Peers& peers, const std::stop_token& stop, Deadline deadline);
  ~MasterSession();

  const std::string& handle() const { return handle_; }
  int64_t extend(const proto::GraphDef& graph, int64_t current_version);
  int64_t version() const;

  StepResult run(const StepRequest& request);

  // Callables.
  int64_t make_callable(const proto::CallableOptions& options, const std::stop_token& stop, Deadline deadline);
  StepResult run_callable(int64_t handle, std::vector<Tensor> feeds, const std::stop_token& stop, Deadline deadline);
  void release_callable(int64_t handle);

  // Partial runs.
  std::string setup_partial(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                            const std::vector<std::string>& targets, const std::stop_token& stop, Deadline deadline);
  StepResult run_partial(const std::string& handle, const StepRequest& request);

  // The devices of all tasks that the session uses, this one's first.
  std::vector<proto::DeviceAttributes> devices() const { return devices_; }
  // Ends the steps that are under way and lets go of everything that other tasks keep for it.
  void close();

  std::string describe() const;  // for people: what it does now

 private:
  struct Signature;
  struct Prepared;
  struct PartialRun;
  struct Callable;
  struct Graphs;
  class Running;

  std::shared_ptr<Graphs> graphs() const;
  // What the tasks know of such steps. The first one tells them, which ends with the step.
  std::shared_ptr<Prepared> prepared(const Signature& signature, bool partial, const std::stop_token& stop,
                                     Deadline deadline);
  std::shared_ptr<Prepared> prepare(const std::shared_ptr<Graphs>& graphs, const Signature& signature, bool partial);
  void register_parts(Prepared& prepared, const std::stop_token& stop, Deadline deadline);
  Deadline end_of_step(const proto::RunOptions& options, Deadline by_caller) const;
  void let_go(const Prepared& prepared);
  StepResult execute(const std::shared_ptr<Prepared>& prepared, const std::vector<const Tensor*>& feeds,
                     const proto::RunOptions& options, const std::stop_token& stop, Deadline deadline);
  // `piece`: null for a whole step. `stats`: null when nobody asks for them.
  void run_parts(const Prepared& prepared, const StepPiece* piece, int64_t step,
                 const std::vector<const Tensor*>& feeds, StepResult& result, const std::stop_token& stop,
                 Deadline deadline, std::string* stats);
  void cleanup(const Prepared& prepared, int64_t step);
  [[noreturn]] void rethrow_unless_closed(const Error& e) const;
  static void take_piece(PartialRun& run, const StepRequest& request, std::vector<const Tensor*>& feeds,
                         std::vector<size_t>& order, StepPiece& piece);
  bool is_usable(const std::string& task) const;
  void connect(const std::stop_token& stop, Deadline deadline);

  const std::string handle_;
  const MasterOptions& options_;
  const proto::ConfigProto config_;
  Worker& worker_;
  Peers& peers_;
  const std::string own_task_;
  std::vector<proto::DeviceAttributes> devices_;
  std::map<std::string, uint64_t> incarnations_;  // of the tasks in use
  std::stop_source closing_;
  std::atomic<int64_t> next_node_ = 0;  // for the names of nodes that cutting makes

  mutable std::mutex mutex_;
  // All guarded by mutex_:
  proto::GraphDef client_graph_;
  int64_t version_ = 0;
  std::shared_ptr<Graphs> graphs_;
  std::map<std::string, std::shared_ptr<Prepared>> prepared_;  // by signature
  std::map<int64_t, std::shared_ptr<Callable>> callables_;
  int64_t next_callable_ = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs_;
  int64_t next_partial_ = 0;
  bool closed_ = false;
  int64_t steps_ = 0;
  std::map<int64_t, std::pair<std::shared_ptr<const PreparedStep>, std::chrono::steady_clock::time_point>>
      running_;  // steps
};

}  // namespace weir::distributed
