#include "distributed/master_session.h"

#include <algorithm>

#include "distributed/extend_graph.h"
#include "distributed/master_state.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

constexpr std::chrono::seconds kCleanupTimeout{10};
constexpr std::chrono::seconds kGreetingTimeout{5};
// How long a task may take to note a session, and to take in its part of a graph, when the client sets no limit.
constexpr std::chrono::seconds kSessionTimeout{60};
constexpr std::chrono::minutes kRegisterTimeout{10};
constexpr std::chrono::seconds kWaitNotice{10};
constexpr size_t kMostPrepared = 4096;  // kinds of steps that a session keeps

Deadline from_now(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

MasterSession::MasterSession(std::string handle, const MasterOptions& options, const proto::ConfigProto& config,
                             Worker& worker, Peers& peers, const std::stop_token& stop, Deadline deadline)
    : handle_(std::move(handle)),
      options_(options),
      config_(config),
      worker_(worker),
      peers_(peers),
      own_task_(task_name(options.job, options.task)) {
  devices_ = worker_.devices();
  incarnations_[own_task_] = worker_.incarnation();
  worker_.create_session(handle_, config_.isolate_session_state(),
                         {.task = own_task_, .incarnation = worker_.incarnation()});
  try {
    connect(stop, deadline);
  } catch (...) {
    worker_.delete_session(handle_);
    throw;
  }
}

MasterSession::~MasterSession() { close(); }

bool MasterSession::is_usable(const std::string& task) const {
  if (task == own_task_ || config_.device_filters().empty()) return true;
  const DeviceSpec device = DeviceSpec::parse(host_device(task));
  return std::any_of(config_.device_filters().begin(), config_.device_filters().end(), [&](const std::string& filter) {
    DeviceSpec spec = DeviceSpec::parse(filter);
    spec.type.reset();
    spec.index.reset();
    return spec.matches(device);
  });
}

void MasterSession::connect(const std::stop_token& stop, Deadline deadline) {
  for (const auto& peer : peers_.all()) {
    if (!is_usable(peer->name())) continue;
    auto notice = std::chrono::steady_clock::now() + kWaitNotice;
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      if (stop.stop_requested())
        throw error(Code::Cancelled, "the client has given up while {} was awaited", peer->name());
      if (now >= deadline) {
        throw error(Code::DeadlineExceeded, "the task {} at {} did not answer in time: the session cannot be made",
                    peer->name(), peer->address());
      }
      try {
        const CallOptions options{
            .deadline = std::min(deadline, now + kGreetingTimeout), .stop = stop, .wait_for_ready = true};
        auto devices = peer->devices(options);
        if (devices.empty()) throw error(Code::Unavailable, "{} has no devices", peer->name());
        incarnations_[peer->name()] = devices.front().incarnation();
        devices_.insert(devices_.end(), devices.begin(), devices.end());
        break;
      } catch (const Error& e) {
        if (e.code() == Code::Unauthenticated || e.code() == Code::PermissionDenied) throw;
        if (std::chrono::steady_clock::now() >= notice) {
          fmt::print(stderr, "weir: CreateSession still waiting for response from worker: {} at {}\n", peer->name(),
                     peer->address());
          notice += kWaitNotice;
        }
      }
    }
    proto::CreateWorkerSessionRequest request;
    request.set_session_handle(handle_);
    request.set_isolate_session_state(config_.isolate_session_state());
    request.set_master_task(own_task_);
    request.set_master_incarnation(static_cast<int64_t>(worker_.incarnation()));
    if (!peer->is_weir()) {
      // TensorFlow's tasks use the cluster that they were started with when the message names none.
      request.mutable_server_def()->set_protocol("grpc");
    }
    const Reply reply =
        peer->call("CreateWorkerSession", encode(request),
                   {.deadline = std::min(deadline, from_now(kSessionTimeout)), .stop = stop}, "told of a new session");
    if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  }
}

int64_t MasterSession::version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

int64_t MasterSession::extend(const proto::GraphDef& graph, int64_t current_version) {
  std::map<std::string, std::shared_ptr<Prepared>> dropped;  // let go of without the lock
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::FailedPrecondition, "Session is closed.");
  if (current_version != version_) {
    throw error(Code::Aborted, "Current version is {} but caller expected {}.", version_, current_version);
  }
  if (graph.node_size() == 0 && graph.library().function_size() == 0 && graphs_) return version_;
  proto::GraphDef joined = join_graphs(client_graph_, graph);
  check_graph_allowed(joined, worker_.options());
  if (!graphs_ || !extend_in_place(graphs_->graph, graph)) {
    auto fresh = std::make_shared<Graphs>();
    import_client_graph(fresh->graph, joined);
    SessionOptions options = worker_.options().session;
    options.resources = worker_.resources(handle_);
    options.allow_soft_placement = config_.allow_soft_placement();
    options.log_device_placement = config_.log_device_placement();
    fresh->session = std::make_unique<Session>(fresh->graph.graph, options);
    graphs_ = std::move(fresh);
    dropped.swap(prepared_);
  }
  client_graph_ = std::move(joined);
  return ++version_;
}

std::shared_ptr<MasterSession::Graphs> MasterSession::graphs() const {
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::Cancelled, "Session has been closed.");
  return graphs_;
}

std::shared_ptr<MasterSession::Prepared> MasterSession::prepared(const Signature& signature, bool partial,
                                                                 const std::stop_token& stop, Deadline deadline) {
  const std::string key = signature.key(partial);
  {
    std::lock_guard lock(mutex_);
    auto known = prepared_.find(key);
    if (known != prepared_.end()) return known->second;
  }
  std::shared_ptr<Prepared> made = prepare(graphs(), signature, partial);
  if (!made->local) register_parts(*made, stop, deadline);
  std::map<std::string, std::shared_ptr<Prepared>> dropped;  // let go of without the lock
  std::lock_guard lock(mutex_);
  if (prepared_.size() >= kMostPrepared) dropped.swap(prepared_);
  return prepared_.emplace(key, made).first->second;
}

std::shared_ptr<MasterSession::Prepared> MasterSession::prepare(const std::shared_ptr<Graphs>& graphs,
                                                                const Signature& signature, bool partial) {
  auto made = std::make_shared<Prepared>(*this);
  made->graphs = graphs;
  std::unique_lock lock(graphs->mutex);
  const SessionGraph& graph = graphs->whole();
  StepSpec& spec = made->spec;
  spec.partial = partial;
  for (const std::string& name : signature.feeds) spec.feeds.push_back(graph.output(name));
  for (const std::string& name : signature.fetches) spec.fetches.push_back(graph.output(name));
  for (const std::string& name : signature.targets) spec.targets.push_back(graph.operation(name));
  for (const Output& fetch : spec.fetches) {
    auto fed = std::find(spec.feeds.begin(), spec.feeds.end(), fetch);
    made->echo.push_back(fed == spec.feeds.end() ? -1 : static_cast<int>(fed - spec.feeds.begin()));
  }
  made->text = made->describe();
  const bool alone = peers_.all().empty();
  if (alone && !partial) {
    made->local = graphs->session->make_callable({spec.feeds, spec.fetches, spec.targets});
    return made;
  }
  const std::vector<bool> needed = needed_nodes(graph, spec);
  const TaskChoice choice{.jobs = options_.jobs,
                          .own_job = options_.job,
                          .own_task = options_.task,
                          .soft = config_.allow_soft_placement(),
                          .is_usable = [this](const std::string& task) { return is_usable(task); }};
  const Assignment assignment = assign_tasks(graph, needed, choice);
  if (!partial && assignment.tasks.size() == 1 && assignment.tasks[0] == own_task_) {
    made->local = graphs->session->make_callable({spec.feeds, spec.fetches, spec.targets});
    return made;
  }
  const CutNames names{
      .incarnation = [this](const std::string& task) { return incarnations_.at(task); },
      .wants_full_devices = [this](const std::string& task) { return task != own_task_ && !peers_.at(task).is_weir(); },
      .next_number = [this] { return next_node_++; }};
  made->parts = cut_graph(graph, spec, needed, assignment, names);
  lock.unlock();
  for (const CutPart& part : made->parts)
    made->peers.push_back(part.task == own_task_ ? nullptr : &peers_.at(part.task));
  made->text = made->describe();
  return made;
}

// The tasks keep the parts' graphs; this one need not.
void MasterSession::register_parts(Prepared& prepared, const std::stop_token& stop, Deadline deadline) {
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_client(stop, end), by_session(closing_.get_token(), end), by_server(worker_.stopping(), end);
  deadline = std::min(deadline, from_now(kRegisterTimeout));
  for (CutPart& part : prepared.parts) {
    if (part.task == own_task_) {
      prepared.handles.push_back(worker_.register_graph(handle_, part.graph, config_.allow_soft_placement()));
      part.graph.Clear();
      continue;
    }
    proto::RegisterGraphRequest request;
    request.set_session_handle(handle_);
    request.set_create_worker_session_called(true);
    request.mutable_graph_def()->Swap(&part.graph);
    *request.mutable_graph_options() = config_.graph_options();
    *request.mutable_config_proto() = config_;
    const Reply reply =
        peers_.at(part.task).call("RegisterGraph", encode(request), {.deadline = deadline, .stop = source.get_token()},
                                  "given its part of a graph");
    if (reply.code != Code::Ok) throw error_from_text(reply.code, reply.error, nullptr);
    proto::RegisterGraphResponse response;
    decode(reply.body, response);
    prepared.handles.push_back(response.graph_handle());
  }
}

// The tasks need not keep parts that nobody runs any more. Closing the session lets go of all at once.
void MasterSession::let_go(const Prepared& prepared) {
  if (closing_.stop_requested()) return;
  for (size_t i = 0; i < prepared.handles.size(); ++i) {  // fewer than parts when one was refused
    const std::string& task = prepared.parts[i].task;
    try {
      if (task == own_task_) {
        worker_.deregister_graph(handle_, prepared.handles[i]);
        continue;
      }
      proto::DeregisterGraphRequest request;
      request.set_session_handle(handle_);
      request.set_create_worker_session_called(true);
      request.set_graph_handle(prepared.handles[i]);
      peers_.at(task).begin("DeregisterGraph", encode(request), {.deadline = from_now(kCleanupTimeout)},
                            "letting go of its part of a graph", [](const Reply&) {});
    } catch (const Error&) {
      // It has let go already.
    }
  }
}

void MasterSession::close() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  closing_.request_stop();
  {
    std::lock_guard lock(mutex_);
    partial_runs_.clear();  // the tasks end them with the session
    prepared_.clear();
    callables_.clear();
    if (graphs_) graphs_->session->close();
  }
  worker_.delete_session(handle_);
  proto::DeleteWorkerSessionRequest request;
  request.set_session_handle(handle_);
  for (const auto& [task, incarnation] : incarnations_) {
    if (task == own_task_) continue;
    const Deadline deadline = from_now(kCleanupTimeout);
    peers_.at(task).begin("DeleteWorkerSession", encode(request), {.deadline = deadline}, "letting go of a session",
                          [](const Reply&) {});
  }
}

std::string MasterSession::describe() const {
  std::lock_guard lock(mutex_);
  std::string text = fmt::format("session {}: {} nodes, {} steps so far, {} kinds of steps", handle_,
                                 client_graph_.node_size(), steps_, prepared_.size());
  for (const auto& [step, running] : running_) {
    const auto age = std::chrono::duration<double>(std::chrono::steady_clock::now() - running.second).count();
    text += fmt::format("\n    step {} for {:.1f} s: {}", step, age, running.first->text);
  }
  return text;
}

}  // namespace weir::distributed
