#include "distributed/master_session.h"

#include <algorithm>
#include <random>
#include <thread>

#include "base/errors.h"
#include "distributed/extend_graph.h"
#include "distributed/prepared_step.h"
#include "distributed/status.h"
#include "distributed/step_stats.h"
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

int64_t random_step_id() {
  static thread_local std::mt19937_64 generator{std::random_device{}()};
  return static_cast<int64_t>(generator() >> 8) | 1;
}

std::chrono::milliseconds left_until(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

Deadline from_now(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

bool traces(const proto::RunOptions& options) { return options.trace_level() != proto::RunOptions::NO_TRACE; }

}  // namespace

// What a step is known by.
struct MasterSession::Signature {
  std::vector<std::string> feeds, fetches, targets;

  std::string key(bool partial) const {
    std::string text = partial ? "p" : "r";
    for (const auto* list : {&feeds, &fetches, &targets}) {
      text += '\n';
      for (const std::string& name : *list) text += name + ' ';
    }
    return text;
  }
};

// One state of the session's graph, and the session that runs what needs no other task.
struct MasterSession::Graphs {
  SessionGraph graph;
  std::unique_ptr<Session> session;
  std::mutex mutex;
  int64_t described = -1;  // guarded by mutex: the graph's version that its message is of

  // The graph with its message as it is now. REQUIRES: mutex is held.
  const SessionGraph& whole() {
    if (described != graph.graph.version()) {
      graph.describe();
      described = graph.graph.version();
    }
    return graph;
  }
};

struct MasterSession::Prepared : PreparedStep {
  explicit Prepared(MasterSession& o) : owner(o) {}
  ~Prepared() { owner.let_go(*this); }  // runs that are under way keep it
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  MasterSession& owner;
  std::shared_ptr<Graphs> graphs;
  std::optional<Session::Callable> local;  // when nothing needs another task
};

struct MasterSession::Callable {
  std::shared_ptr<Prepared> prepared;
  proto::RunOptions options;
};

struct MasterSession::PartialRun {
  std::shared_ptr<Prepared> prepared;
  int64_t step = 0;
  Signature signature;
  std::vector<bool> fed, fetched;  // guarded by the session's mutex
  std::stop_source stop;
  std::thread thread;
  std::mutex mutex;
  std::exception_ptr error;  // guarded by mutex
};

// Notes that a step is under way.
class MasterSession::Running {
 public:
  Running(MasterSession& session, int64_t step, std::string what) : session_(session), step_(step) {
    std::lock_guard lock(session_.mutex_);
    if (session_.closed_) throw error(Code::Cancelled, "Session has been closed.");
    ++session_.steps_;
    session_.running_[step] = {std::move(what), std::chrono::steady_clock::now()};
  }
  ~Running() {
    std::lock_guard lock(session_.mutex_);
    session_.running_.erase(step_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  MasterSession& session_;
  const int64_t step_;
};

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
  worker_.create_session(handle_, config_.isolate_session_state(), {.task = own_task_, .incarnation = worker_.incarnation()});
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
      if (stop.stop_requested()) throw error(Code::Cancelled, "the client has given up while {} was awaited", peer->name());
      if (now >= deadline) {
        throw error(Code::DeadlineExceeded, "the task {} at {} did not answer in time: the session cannot be made", peer->name(),
                    peer->address());
      }
      try {
        const CallOptions options{.deadline = std::min(deadline, now + kGreetingTimeout), .stop = stop, .wait_for_ready = true};
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
    const Reply reply = peer->call("CreateWorkerSession", encode(request),
                                   {.deadline = std::min(deadline, from_now(kSessionTimeout)), .stop = stop},
                                   "told of a new session");
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

std::shared_ptr<MasterSession::Prepared> MasterSession::prepared(const Signature& signature, bool partial) {
  const std::string key = signature.key(partial);
  {
    std::lock_guard lock(mutex_);
    auto known = prepared_.find(key);
    if (known != prepared_.end()) return known->second;
  }
  std::shared_ptr<Prepared> made = prepare(graphs(), signature, partial);
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
  for (const std::string& name : signature.feeds) spec.feeds.push_back(graph.output(name));
  for (const std::string& name : signature.fetches) spec.fetches.push_back(graph.output(name));
  for (const std::string& name : signature.targets) spec.targets.push_back(graph.operation(name));
  for (const Output& fetch : spec.fetches) {
    auto fed = std::find(spec.feeds.begin(), spec.feeds.end(), fetch);
    made->echo.push_back(fed == spec.feeds.end() ? -1 : static_cast<int>(fed - spec.feeds.begin()));
  }
  made->feed_names = signature.feeds;
  made->fetch_names = signature.fetches;
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
  const CutNames names{.incarnation = [this](const std::string& task) { return incarnations_.at(task); },
                       .wants_full_devices =
                           [this](const std::string& task) { return task != own_task_ && !peers_.at(task).is_weir(); },
                       .next_number = [this] { return next_node_++; }};
  made->parts = cut_graph(graph, spec, needed, assignment, names);
  lock.unlock();
  if (partial && (made->parts.size() != 1 || made->parts[0].task != own_task_)) {
    throw error(Code::Unimplemented, "a partial run that needs tasks beside {}, with which the session was made", own_task_);
  }
  register_parts(*made, partial);
  return made;
}

void MasterSession::register_parts(Prepared& prepared, bool partial) {
  for (const CutPart& part : prepared.parts) {
    if (part.task == own_task_) {
      prepared.handles.push_back(worker_.register_graph(handle_, part.graph, config_.allow_soft_placement(), partial));
      continue;
    }
    proto::RegisterGraphRequest request;
    request.set_session_handle(handle_);
    request.set_create_worker_session_called(true);
    *request.mutable_graph_def() = part.graph;
    *request.mutable_graph_options() = config_.graph_options();
    *request.mutable_config_proto() = config_;
    const CallOptions options{.deadline = from_now(kRegisterTimeout), .stop = closing_.get_token()};
    const Reply reply = peers_.at(part.task).call("RegisterGraph", encode(request), options, "given its part of a graph");
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
        worker_.deregister_graph(prepared.handles[i]);
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

StepResult MasterSession::run(const StepRequest& request) {
  Signature signature;
  std::vector<const Tensor*> feeds;
  for (const auto& [name, value] : request.feeds) {
    signature.feeds.push_back(name);
    feeds.push_back(&value);
  }
  signature.fetches = request.fetches;
  signature.targets = request.targets;
  return execute(prepared(signature, false), feeds, request.options, request.stop, request.deadline);
}

StepResult MasterSession::execute(const std::shared_ptr<Prepared>& prepared, const std::vector<const Tensor*>& feeds,
                                  const proto::RunOptions& options, const std::stop_token& stop, Deadline deadline) {
  const int64_t step = random_step_id();
  const Running running(*this, step, prepared->describe());
  const int64_t timeout = options.timeout_in_ms() > 0 ? options.timeout_in_ms() : config_.operation_timeout_in_ms();
  if (timeout > 0) deadline = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout));
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_client(stop, end), by_session(closing_.get_token(), end), by_server(worker_.stopping(), end);
  StepResult result;
  result.fetches.resize(prepared->spec.fetches.size());
  try {
    if (prepared->local) {
      RunTrace trace;
      RunOptions run_options{.stop = source.get_token(), .trace = traces(options) ? &trace : nullptr};
      if (deadline != kNoDeadline) run_options.timeout = left_until(deadline);
      std::vector<Tensor> values;
      values.reserve(feeds.size());
      for (const Tensor* feed : feeds) values.push_back(*feed);
      prepared->local->call(values, result.fetches, run_options);
      if (run_options.trace) result.step_stats = stats_of_task(trace, own_task_);
    } else {
      run_parts(*prepared, step, feeds, result.fetches, options, source.get_token(), deadline,
                traces(options) ? &result.step_stats : nullptr);
    }
  } catch (const Error& e) {
    if (e.code() == Code::Cancelled && closing_.stop_requested()) {
      throw error(Code::Cancelled, "Step was cancelled by an explicit call to `Session::Close()`.");
    }
    throw;
  }
  return result;
}

void MasterSession::run_parts(Prepared& prepared, int64_t step, const std::vector<const Tensor*>& feeds,
                              std::vector<Tensor>& results, const proto::RunOptions& options, const std::stop_token& stop,
                              Deadline deadline, std::string* stats) {
  PartsRun run(prepared, step, stop);
  for (size_t i = 0; i < prepared.echo.size(); ++i) {
    if (prepared.echo[i] >= 0) results[i] = *feeds[static_cast<size_t>(prepared.echo[i])];
  }
  int own = -1, last = -1;
  for (size_t p = 0; p < prepared.parts.size(); ++p) {
    if (prepared.parts[p].task == own_task_) {
      own = static_cast<int>(p);
    } else {
      last = static_cast<int>(p);
    }
  }
  const CallOptions call_options{.deadline = deadline, .stop = run.stop()};
  for (size_t p = 0; p < prepared.parts.size(); ++p) {
    const int number = static_cast<int>(p);
    if (number == own || (own < 0 && number == last)) continue;
    run.begun();
    peers_.at(prepared.parts[p].task)
        .begin("RunGraph", run.request(number, feeds, handle_, stats != nullptr), call_options, "running its part of a step",
               [&run, number](Reply reply) { run.ended(number, std::move(reply)); });
  }
  if (own >= 0) {
    const CutPart& part = prepared.parts[static_cast<size_t>(own)];
    RunTrace trace;
    Worker::Run local{.graph = prepared.handles[static_cast<size_t>(own)], .step = step, .stop = run.stop()};
    for (const auto& [feed, key] : part.feeds) local.sends.emplace_back(key, *feeds[static_cast<size_t>(feed)]);
    for (const auto& [fetch, key] : part.fetches) local.receives.push_back(key);
    if (deadline != kNoDeadline) local.timeout = left_until(deadline);
    if (stats) local.trace = &trace;
    try {
      run.gave(own, worker_.run(local));
      if (stats) run.add_stats(stats_of_task(trace, own_task_));
    } catch (...) {
      run.failed(as_error(std::current_exception()));
    }
  } else {
    Peer& peer = peers_.at(prepared.parts[static_cast<size_t>(last)].task);
    Reply reply = peer.call("RunGraph", run.request(last, feeds, handle_, stats != nullptr), call_options,
                            "running its part of a step");
    run.begun();
    run.ended(last, std::move(reply));
  }
  run.wait();
  const bool others = std::any_of(prepared.parts.begin(), prepared.parts.end(), [&](const CutPart& part) {
    return part.task != own_task_ && !peers_.at(part.task).is_weir();
  });
  if (run.has_failed() || others) cleanup(prepared, step);
  run.finish(results, stats, &prepared.graphs->graph.graph);
  (void)options;
}

void MasterSession::cleanup(const Prepared& prepared, int64_t step) {
  proto::CleanupGraphRequest request;
  request.set_step_id(step);
  for (const CutPart& part : prepared.parts) {
    if (part.task == own_task_) {
      worker_.cleanup(step);
    } else {
      const Deadline deadline = from_now(kCleanupTimeout);
      peers_.at(part.task).begin("CleanupGraph", encode(request), {.deadline = deadline}, "cleaning up", [](const Reply&) {});
    }
  }
}

int64_t MasterSession::make_callable(const proto::CallableOptions& options) {
  if (options.tensor_connection_size() > 0) throw error(Code::Unimplemented, "callables with connected tensors");
  const Signature signature{{options.feed().begin(), options.feed().end()},
                            {options.fetch().begin(), options.fetch().end()},
                            {options.target().begin(), options.target().end()}};
  auto callable = std::make_shared<Callable>(Callable{prepared(signature, false), options.run_options()});
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::Cancelled, "Session has been closed.");
  callables_[++next_callable_] = std::move(callable);
  return next_callable_;
}

StepResult MasterSession::run_callable(int64_t handle, std::vector<Tensor> feeds, const std::stop_token& stop,
                                       Deadline deadline) {
  std::shared_ptr<Callable> callable;
  {
    std::lock_guard lock(mutex_);
    auto found = callables_.find(handle);
    if (found == callables_.end()) throw invalid_argument("No such callable handle: {}", handle);
    callable = found->second;
  }
  if (feeds.size() != callable->prepared->spec.feeds.size()) {
    throw invalid_argument("Expected {} feeds, but got {}", callable->prepared->spec.feeds.size(), feeds.size());
  }
  std::vector<const Tensor*> values;
  values.reserve(feeds.size());
  for (const Tensor& feed : feeds) values.push_back(&feed);
  return execute(callable->prepared, values, callable->options, stop, deadline);
}

void MasterSession::release_callable(int64_t handle) {
  std::lock_guard lock(mutex_);
  if (callables_.erase(handle) == 0) throw invalid_argument("No such callable handle: {}", handle);
}

std::string MasterSession::setup_partial(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                         const std::vector<std::string>& targets) {
  auto run = std::make_shared<PartialRun>();
  run->signature = {feeds, fetches, targets};
  run->prepared = prepared(run->signature, true);
  run->step = random_step_id();
  run->fed.resize(feeds.size());
  run->fetched.resize(fetches.size());
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::Cancelled, "Session has been closed.");
  const std::string handle = fmt::format("{};{}", handle_, ++next_partial_);
  partial_runs_[handle] = run;
  // Values that it waits for come with the client's later calls; the session's end ends it.
  run->thread = std::thread([this, run = run.get()] {
    try {
      worker_.run({.graph = run->prepared->handles[0], .step = run->step, .stop = run->stop.get_token()});
    } catch (...) {
      std::lock_guard guard(run->mutex);
      run->error = std::current_exception();
    }
  });
  return handle;
}

StepResult MasterSession::run_partial(const std::string& handle, const StepRequest& request) {
  std::shared_ptr<PartialRun> run;
  std::vector<std::pair<std::string, Tensor>> sends;
  std::vector<std::string> keys;
  bool last = false;
  {
    std::lock_guard lock(mutex_);
    auto found = partial_runs_.find(handle);
    if (found == partial_runs_.end()) throw invalid_argument("Must run 'setup' before performing partial runs!");
    run = found->second;
    const CutPart& part = run->prepared->parts[0];
    if (!request.targets.empty()) throw invalid_argument("a partial run takes its targets with its setup");
    auto number = [](const std::vector<std::string>& names, const std::string& name, const char* what) {
      auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) throw invalid_argument("The {} '{}' was not specified in partial_run_setup.", what, name);
      return static_cast<size_t>(at - names.begin());
    };
    auto key_of = [](const std::vector<std::pair<int, std::string>>& keys_of, size_t wanted) {
      for (const auto& [index, key] : keys_of) {
        if (static_cast<size_t>(index) == wanted) return key;
      }
      return std::string();
    };
    for (const auto& [name, value] : request.feeds) {
      const size_t feed = number(run->signature.feeds, name, "feed");
      if (run->fed[feed]) throw invalid_argument("The feed {} has already been fed.", name);
      run->fed[feed] = true;
      if (const std::string key = key_of(part.feeds, feed); !key.empty()) sends.emplace_back(key, value);
    }
    for (const std::string& name : request.fetches) {
      const size_t fetch = number(run->signature.fetches, name, "fetch");
      if (run->fetched[fetch]) throw invalid_argument("The fetch {} has already been fetched.", name);
      run->fetched[fetch] = true;
      keys.push_back(key_of(part.fetches, fetch));
    }
    last = std::find(run->fed.begin(), run->fed.end(), false) == run->fed.end() &&
           std::find(run->fetched.begin(), run->fetched.end(), false) == run->fetched.end();
    if (last) partial_runs_.erase(found);
  }
  const Running running(*this, random_step_id(), "partial run: " + run->prepared->describe());
  StepResult result;
  std::exception_ptr failed;
  try {
    for (auto& [key, value] : sends) worker_.steps().send(run->step, key, std::move(value));
    result.fetches = receive_all(worker_.steps(), run->step, keys, request.stop, closing_.get_token(), request.deadline);
  } catch (...) {
    failed = std::current_exception();
  }
  if (last || failed) {
    if (failed) {
      run->stop.request_stop();
      std::lock_guard lock(mutex_);
      partial_runs_.erase(handle);
    }
    if (run->thread.joinable()) run->thread.join();
    worker_.cleanup(run->step);
    std::lock_guard guard(run->mutex);
    // What a step of the run says is the reason; what its rendezvous says, the consequence.
    if (run->error && (!failed || as_error(failed).code() == as_error(run->error).code())) failed = run->error;
  }
  if (failed) std::rethrow_exception(failed);
  return result;
}

void MasterSession::close() {
  std::map<std::string, std::shared_ptr<PartialRun>> partial;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    partial.swap(partial_runs_);
  }
  closing_.request_stop();
  for (const auto& [name, run] : partial) {
    run->stop.request_stop();
    if (run->thread.joinable()) run->thread.join();
    worker_.cleanup(run->step);
  }
  {
    std::lock_guard lock(mutex_);
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
    text += fmt::format("\n    step {} for {:.1f} s: {}", step, age, running.first);
  }
  return text;
}

}  // namespace weir::distributed
