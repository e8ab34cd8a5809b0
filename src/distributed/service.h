#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "distributed/master_session.h"
#include "distributed/seen_requests.h"
#include "distributed/transport.h"
#include "distributed/worker.h"

namespace weir::distributed {

struct ServiceOptions {
  MasterOptions master = {};
  WorkerOptions worker = {};
  std::string token = {};   // that calls must show; empty: none
  size_t max_sessions = 0;  // 0: no limit
  // Steps that run at once, each with a thread of the transport: those that wait for ever must leave some for the calls
  // that end them.
  size_t max_running_steps = 768;
};

// What a server answers: the methods of TensorFlow's MasterService and WorkerService, and Weir's own /weir.Status. No
// message, whatever it says, ends the server. Thread-safe.
class Service {
 public:
  Service(const ServiceOptions& options, std::shared_ptr<Peers> peers);
  ~Service();
  // The handler of a listener.
  void handle(const std::shared_ptr<Incoming>& call);
  // Ends all sessions and steps, and refuses others.
  void stop();
  Worker& worker() { return worker_; }
  std::string status() const;  // for people

 private:
  using Method = void (Service::*)(Incoming& call);
  static const std::map<std::string, Method, std::less<>>& methods();
  // These wait, and hold no thread meanwhile.
  void receive_tensor(const std::shared_ptr<Incoming>& call);
  void join_group(const std::shared_ptr<Incoming>& call);

  // MasterService.
  void create_session(Incoming& call);
  void extend_session(Incoming& call);
  void partial_run_setup(Incoming& call);
  void run_step(Incoming& call);
  void close_session(Incoming& call);
  void list_devices(Incoming& call);
  void reset(Incoming& call);
  void make_callable(Incoming& call);
  void run_callable(Incoming& call);
  void release_callable(Incoming& call);
  // WorkerService.
  void get_status(Incoming& call);
  void create_worker_session(Incoming& call);
  void delete_worker_session(Incoming& call);
  void register_graph(Incoming& call);
  void deregister_graph(Incoming& call);
  void run_graph(Incoming& call);
  void cleanup_graph(Incoming& call);
  void cleanup_all(Incoming& call);
  void logging(Incoming& call);
  void tracing(Incoming& call);
  void mark_recv_finished(Incoming& call);
  // Weir's own.
  void show_status(Incoming& call);

  std::shared_ptr<MasterSession> session(const std::string& handle) const;
  // Counts a step while it lives.
  class RunningStep {
   public:
    explicit RunningStep(Service& service);  // throws ResourceExhausted
    ~RunningStep() { --service_.running_steps_; }
    RunningStep(const RunningStep&) = delete;
    RunningStep& operator=(const RunningStep&) = delete;

   private:
    Service& service_;
  };

  const ServiceOptions options_;
  const std::shared_ptr<Peers> peers_;
  Worker worker_;
  SeenRequests seen_steps_, seen_parts_;
  std::atomic<size_t> running_steps_ = 0;
  std::atomic<int64_t> bytes_out_ = 0, bytes_lent_ = 0, calls_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_;  // guarded by mutex_
  bool stopped_ = false;                                            // guarded by mutex_
};

}  // namespace weir::distributed
