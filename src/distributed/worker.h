#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distributed/cluster.h"
#include "distributed/lend.h"
#include "distributed/partial_runs.h"
#include "distributed/step_table.h"
#include "distributed/task_collectives.h"
#include "proto/graph.pb.h"
#include "weir/session.h"

namespace weir::distributed {

struct WorkerOptions {
  std::string task = {};        // "/job:worker/replica:0/task:1"
  std::string near_name = {};   // by which processes beside it can call it; "": none
  SessionOptions session = {};  // threads and devices of the task
  size_t max_graph_nodes = 0;   // of a part, or of a session's graph; 0: no limit
  bool untrusted_clients = false;
};

// Throws PermissionDenied for a graph that the options do not allow.
void check_graph_allowed(const proto::GraphDef& graph, const WorkerOptions& options);

// The part of a graph that runs in this task.
class Part;

// What a task does for the masters of sessions: keeps parts of graphs, runs them, and hands values over. Thread-safe.
class Worker {
 public:
  Worker(WorkerOptions options, std::shared_ptr<Peers> peers);
  ~Worker();

  const WorkerOptions& options() const { return options_; }
  uint64_t incarnation() const { return incarnation_; }
  std::vector<proto::DeviceAttributes> devices() const;

  // Which life of a task made a session. Masters older than 1.15 do not say.
  struct Master {
    std::string task = {};
    uint64_t incarnation = 0;
  };
  // Sessions. Those without a handle share everything. A master's first one lets go of those of its earlier lives, and
  // waits a while for what they still run: it must not change what the new one has restored.
  // Throws AlreadyExists; InvalidArgument for one that there is not.
  void create_session(const std::string& handle, bool isolate_state, const Master& master);
  // `patience`: how long runs of it that are under way are waited for.
  void delete_session(const std::string& handle, std::chrono::milliseconds patience = {});
  // What a session keeps its variables in.
  std::shared_ptr<Resources> resources(const std::string& session) const;

  // Throws InvalidArgument for graphs that do not work.
  std::string register_graph(const std::string& session, const proto::GraphDef& graph, bool soft_placement);
  void deregister_graph(const std::string& session, const std::string& handle);

  struct Run {
    std::string session = {};  // whose part it is; "": masters older than 1.4 do not say
    std::string graph = {};
    int64_t step = 0;
    std::vector<std::pair<std::string, Tensor>> sends = {};  // values of the master, by key
    std::vector<std::string> receives = {};                  // keys of values for the master
    bool partial = false, last = false;                      // one of several calls of the step; the last of them
    std::chrono::milliseconds timeout{0};
    std::stop_token stop = {};
    RunTrace* trace = nullptr;
  };
  // The values of `receives`. A step that fails takes the waits of its other parts here with it.
  std::vector<Tensor> run(const Run& run);

  StepTable& steps() { return *steps_; }
  TaskCollectives& collectives() { return *collectives_; }
  Lender& lender() { return lender_; }
  void cleanup(int64_t step);
  void reset(const std::vector<std::string>& containers);
  // Refuses further runs and ends those that are under way.
  void stop();
  std::stop_token stopping() const { return stopping_.get_token(); }

  struct Counts {
    size_t sessions = 0, graphs = 0;
    int64_t runs = 0, running = 0, bytes_in = 0, bytes_borrowed = 0;
  };
  Counts counts() const;

 private:
  struct WorkerSession {
    std::shared_ptr<Resources> resources = nullptr;
    Master master = {};
    std::mutex mutex = {};
    std::condition_variable ended = {};
    int running = 0;  // parts, now; guarded by mutex
  };
  class RunningPart;
  struct Registered {
    std::shared_ptr<WorkerSession> session;
    std::shared_ptr<Part> part;
  };
  std::shared_ptr<WorkerSession> make_session();
  // Throws Aborted when the session has no such part.
  Registered find_graph(const std::string& session, const std::string& handle) const;
  std::vector<Tensor> run_piece(const Run& run);
  std::shared_ptr<WorkerSession> find_session(const std::string& handle) const;
  void fetch(int64_t step, const std::string& key, const std::stop_token& stop, StepTable::Done done);

  const WorkerOptions options_;
  const uint64_t incarnation_;
  const std::shared_ptr<Peers> peers_;
  const ResourcePtr<StepTable> steps_;
  const ResourcePtr<TaskCollectives> collectives_;
  const std::shared_ptr<Resources> shared_resources_;
  Lender lender_;
  Borrower borrower_;
  std::stop_source stopping_;
  std::atomic<int64_t> runs_ = 0, running_ = 0, bytes_in_ = 0, bytes_borrowed_ = 0;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions_;  // both guarded by mutex_
  std::map<std::string, Registered> graphs_;
  uint64_t next_graph_;
  PartialRuns partial_runs_;  // the first to go: they use the rest
};

}  // namespace weir::distributed
