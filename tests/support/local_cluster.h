#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/service.h"
#include "proto/master.pb.h"
#include "tests/support/loopback.h"
#include "weir/graph.h"

namespace weir::distributed {

// Tasks of one cluster in this process: a parameter server "ps0" and workers "worker0", "worker1", ... Thread-safe.
class LocalCluster {
 public:
  struct Options {
    LoopbackFaults faults = {};
    WorkerOptions limits = {};
    int workers = 2;
  };
  LocalCluster() : LocalCluster(Options()) {}
  explicit LocalCluster(const Options& options);
  ~LocalCluster();

  void start(const std::string& job, int task);
  // As kill -9: what it kept is gone, and its calls are lost.
  void kill(const std::string& job, int task);
  // For a task that is gone already, killed by the transport: starts it anew.
  void restart(const std::string& address);

  Reply ask(const std::string& address, const std::string& method, const Message& request,
            std::chrono::milliseconds timeout = std::chrono::seconds(20));
  Service& service(const std::string& job, int task);

 private:
  struct Task {
    std::shared_ptr<std::atomic<bool>> alive;
    std::shared_ptr<Service> service;
    std::unique_ptr<Listener> listener;
    void end();
  };
  Task make(const std::string& job, int task);

  const Options options_;
  const std::shared_ptr<Transport> transport_;
  Jobs jobs_;
  std::mutex mutex_;
  std::map<std::string, Task> tasks_;  // by address; guarded by mutex_
};

// A client of one of the workers.
class LocalClient {
 public:
  // Throws what the server says.
  LocalClient(LocalCluster& cluster, Graph& graph, int64_t timeout_ms = 0, std::string master = "worker0");
  ~LocalClient();  // closes the session
  LocalClient(const LocalClient&) = delete;
  LocalClient& operator=(const LocalClient&) = delete;

  std::vector<Tensor> run(const std::vector<std::string>& fetches, const std::vector<std::string>& targets = {},
                          const std::vector<std::pair<std::string, Tensor>>& feeds = {});
  // A step in pieces: its handle, and one of its calls.
  std::string set_up(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches);
  std::vector<Tensor> go_on(const std::string& partial, const std::vector<std::string>& fetches,
                            const std::vector<std::pair<std::string, Tensor>>& feeds);
  const std::string& handle() const { return handle_; }

 private:
  std::vector<Tensor> run(proto::RunStepRequest& request, const std::vector<std::string>& fetches,
                          const std::vector<std::pair<std::string, Tensor>>& feeds);

  LocalCluster& cluster_;
  const std::string master_;
  std::string handle_;
};

}  // namespace weir::distributed
