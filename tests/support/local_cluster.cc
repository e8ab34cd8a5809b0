#include "tests/support/local_cluster.h"

#include "base/errors.h"
#include "distributed/wire.h"
#include "graph/graph_def.h"

namespace weir::distributed {
namespace {

enum Field { kRunStepFeed = 2, kRunStepTensor = 1 };

int64_t next_request() {
  static std::atomic<int64_t> last = 0;
  return ++last;
}

// The way from one task to the others: whoever is killed says nothing any more, not even that it ends.
class MortalChannel final : public Channel {
 public:
  MortalChannel(std::shared_ptr<Channel> channel, std::shared_ptr<std::atomic<bool>> alive)
      : channel_(std::move(channel)), alive_(std::move(alive)) {}
  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    if (*alive_) {
      channel_->begin(method, std::move(request), options, std::move(done));
    } else {
      done(dead());
    }
  }
  Reply call(std::string_view method, Message request, const CallOptions& options) override {
    return *alive_ ? channel_->call(method, std::move(request), options) : dead();
  }

 private:
  static Reply dead() { return {.code = Code::Unavailable, .error = "the caller is dead", .lost = true}; }
  const std::shared_ptr<Channel> channel_;
  const std::shared_ptr<std::atomic<bool>> alive_;
};

class MortalTransport final : public Transport {
 public:
  MortalTransport(std::shared_ptr<Transport> transport, std::shared_ptr<std::atomic<bool>> alive)
      : transport_(std::move(transport)), alive_(std::move(alive)) {}
  std::unique_ptr<Listener> listen(const ListenOptions& options, Handler handler) override {
    return transport_->listen(options, std::move(handler));
  }
  std::shared_ptr<Channel> connect(const std::string& address, const ConnectOptions& options) override {
    return std::make_shared<MortalChannel>(transport_->connect(address, options), alive_);
  }

 private:
  const std::shared_ptr<Transport> transport_;
  const std::shared_ptr<std::atomic<bool>> alive_;
};

}  // namespace

LocalCluster::LocalCluster(const Options& options) : options_(options), transport_(make_loopback(options.faults)) {
  jobs_["ps"][0] = "ps0";
  for (int task = 0; task < options.workers; ++task) jobs_["worker"][task] = fmt::format("worker{}", task);
  for (const auto& [job, tasks] : jobs_) {
    for (const auto& [task, address] : tasks) start(job, task);
  }
}

LocalCluster::~LocalCluster() {
  std::map<std::string, Task> tasks;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (auto& [address, task] : tasks) task.service->stop();
  for (auto& [address, task] : tasks) task.end();
}

void LocalCluster::Task::end() {
  service->stop();
  listener->close();
}

LocalCluster::Task LocalCluster::make(const std::string& job, int task) {
  const std::string name = task_name(job, task);
  ServiceOptions options;
  options.master = {.jobs = jobs_, .job = job, .task = task};
  options.worker = options_.limits;
  options.worker.task = options.worker.session.task = name;
  options.worker.session.intra_op_parallelism_threads = 1;
  auto alive = std::make_shared<std::atomic<bool>>(true);
  const auto transport = std::make_shared<MortalTransport>(loopback_of(transport_, jobs_.at(job).at(task)), alive);
  auto service = std::make_shared<Service>(options, std::make_shared<Peers>(jobs_, name, transport, ConnectOptions()));
  auto listener = transport_->listen({.address = jobs_.at(job).at(task)},
                                     [service](const std::shared_ptr<Incoming>& call) { service->handle(call); });
  return {std::move(alive), std::move(service), std::move(listener)};
}

void LocalCluster::start(const std::string& job, int task) {
  Task made = make(job, task);
  std::lock_guard lock(mutex_);
  tasks_[jobs_.at(job).at(task)] = std::move(made);
}

void LocalCluster::kill(const std::string& job, int task) {
  Task ended;
  {
    std::lock_guard lock(mutex_);
    auto found = tasks_.find(jobs_.at(job).at(task));
    ended = std::move(found->second);
    tasks_.erase(found);
  }
  *ended.alive = false;
  ended.end();
}

void LocalCluster::restart(const std::string& address) {
  for (const auto& [job, tasks] : jobs_) {
    for (const auto& [task, at] : tasks) {
      if (at != address) continue;
      kill(job, task);
      start(job, task);
    }
  }
}

Reply LocalCluster::ask(const std::string& address, const std::string& method, const Message& request,
                        std::chrono::milliseconds timeout) {
  return loopback_of(transport_, "client")
      ->connect(address, {})
      ->call(method, request, {.deadline = std::chrono::steady_clock::now() + timeout});
}

Service& LocalCluster::service(const std::string& job, int task) {
  std::lock_guard lock(mutex_);
  return *tasks_.at(jobs_.at(job).at(task)).service;
}

LocalClient::LocalClient(LocalCluster& cluster, Graph& graph, int64_t timeout_ms, std::string master)
    : cluster_(cluster), master_(std::move(master)) {
  proto::CreateSessionRequest request;
  graph_to_proto(graph, *request.mutable_graph_def());
  request.mutable_config()->set_operation_timeout_in_ms(timeout_ms);
  const Reply reply = cluster.ask(master_, kMasterService + "CreateSession", encode(request));
  if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  proto::CreateSessionResponse response;
  decode(reply.body, response);
  handle_ = response.session_handle();
}

LocalClient::~LocalClient() {
  proto::CloseSessionRequest request;
  request.set_session_handle(handle_);
  cluster_.ask(master_, kMasterService + "CloseSession", encode(request));
}

std::vector<Tensor> LocalClient::run(const std::vector<std::string>& fetches, const std::vector<std::string>& targets,
                                     const std::vector<std::pair<std::string, Tensor>>& feeds) {
  proto::RunStepRequest request;
  for (const std::string& target : targets) request.add_target(target);
  return run(request, fetches, feeds);
}

std::string LocalClient::set_up(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches) {
  proto::PartialRunSetupRequest request;
  request.set_session_handle(handle_);
  for (const std::string& feed : feeds) request.add_feed(feed);
  for (const std::string& fetch : fetches) request.add_fetch(fetch);
  const Reply reply = cluster_.ask(master_, kMasterService + "PartialRunSetup", encode(request));
  if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  proto::PartialRunSetupResponse response;
  decode(reply.body, response);
  return response.partial_run_handle();
}

std::vector<Tensor> LocalClient::go_on(const std::string& partial, const std::vector<std::string>& fetches,
                                       const std::vector<std::pair<std::string, Tensor>>& feeds) {
  proto::RunStepRequest request;
  request.set_partial_run_handle(partial);
  return run(request, fetches, feeds);
}

std::vector<Tensor> LocalClient::run(proto::RunStepRequest& request, const std::vector<std::string>& fetches,
                                     const std::vector<std::pair<std::string, Tensor>>& feeds) {
  request.set_session_handle(handle_);
  request.set_request_id(next_request());
  for (const std::string& fetch : fetches) request.add_fetch(fetch);
  Message message = encode(request);
  for (const auto& [name, value] : feeds) add_named_tensor(message, kRunStepFeed, name, value);
  const Reply reply = cluster_.ask(master_, kMasterService + "RunStep", message);
  if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  proto::RunStepResponse response;
  std::vector<Tensor> values;
  decode_with_tensors(reply.body, kRunStepTensor, true, response,
                      [&](const std::string&, Tensor value) { values.push_back(std::move(value)); });
  return values;
}

}  // namespace weir::distributed
