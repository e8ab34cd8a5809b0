#include "distributed/worker.h"

#include <random>

#include "base/errors.h"
#include "base/resource_manager.h"
#include "distributed/part.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

uint64_t random_incarnation() {
  std::random_device source;
  return (static_cast<uint64_t>(source()) << 32 | source()) | 1;
}

// How long the runs of a master's earlier life are waited for: they have been told to end.
constexpr std::chrono::seconds kLastRuns{5};

}  // namespace

// A run of a part, while it lives.
class Worker::RunningPart {
 public:
  RunningPart(Worker& worker, WorkerSession& session) : worker_(worker), session_(session) {
    ++worker_.runs_;
    ++worker_.running_;
    std::lock_guard lock(session_.mutex);
    ++session_.running;
  }
  ~RunningPart() {
    --worker_.running_;
    std::lock_guard lock(session_.mutex);
    if (--session_.running == 0) session_.ended.notify_all();
  }
  RunningPart(const RunningPart&) = delete;
  RunningPart& operator=(const RunningPart&) = delete;

 private:
  Worker& worker_;
  WorkerSession& session_;
};

Worker::Worker(WorkerOptions options, std::shared_ptr<Peers> peers)
    : options_(std::move(options)),
      incarnation_(random_incarnation()),
      peers_(std::move(peers)),
      steps_(make_resource<StepTable>(options_.task, incarnation_,
                                      [this](int64_t step, const std::string& key, const std::stop_token& stop,
                                             StepTable::Done done) { fetch(step, key, stop, std::move(done)); })),
      collectives_(make_resource<TaskCollectives>(options_.task, incarnation_, *peers_, *steps_)),
      shared_resources_(make_session()->resources),
      // What an earlier life of this task called its parts is nothing here.
      next_graph_(incarnation_) {
  const auto common = std::make_shared<WorkerSession>();
  common->resources = Resources::of_parts(*shared_resources_);
  sessions_[""] = common;
}

Worker::~Worker() { stop(); }

std::vector<proto::DeviceAttributes> Worker::devices() const {
  std::vector<proto::DeviceAttributes> list;
  SessionOptions options = options_.session;
  for (const DeviceInfo& info : list_local_devices(options)) {
    proto::DeviceAttributes& device = list.emplace_back();
    device.set_name(info.name);
    device.set_device_type(info.type);
    device.set_memory_limit(info.memory_limit > 0 ? info.memory_limit : int64_t{256} << 20);
    device.set_incarnation(incarnation_);
    device.set_physical_device_desc(kWeirDevice + info.description +
                                    (options_.near_name.empty() ? "" : kNearMark + options_.near_name) +
                                    (memory_probe().empty() ? "" : kMemoryMark + memory_probe()));
    device.mutable_locality();
  }
  return list;
}

std::shared_ptr<Worker::WorkerSession> Worker::make_session() {
  auto session = std::make_shared<WorkerSession>();
  session->resources = std::make_shared<Resources>();
  session->resources->manager()->find_or_make<ops::Rendezvous>(ops::Rendezvous::kContainer, ops::Rendezvous::kName,
                                                               [this] { return ResourcePtr<ops::Rendezvous>(steps_); });
  session->resources->manager()->find_or_make<ops::Collectives>(
      ops::Collectives::kContainer, ops::Collectives::kName,
      [this] { return ResourcePtr<ops::Collectives>(collectives_); });
  return session;
}

void Worker::create_session(const std::string& handle, bool isolate_state, const Master& master) {
  if (handle.empty()) throw invalid_argument("Session must have a handle.");
  const auto session = isolate_state ? make_session() : std::make_shared<WorkerSession>();
  // The parts that it registers, of all kinds of steps, are one session's: they share iterators and random sequences.
  session->resources = Resources::of_parts(isolate_state ? *session->resources : *shared_resources_);
  session->master = master;
  std::vector<std::string> abandoned;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [other, known] : sessions_) {
      const bool earlier =
          !master.task.empty() && known->master.task == master.task && known->master.incarnation != master.incarnation;
      if (earlier) abandoned.push_back(other);
    }
    if (!sessions_.emplace(handle, session).second) {
      throw error(Code::AlreadyExists, "the session {} is known already", handle);
    }
  }
  for (const std::string& other : abandoned) delete_session(other, kLastRuns);
}

void Worker::delete_session(const std::string& handle, std::chrono::milliseconds patience) {
  if (handle.empty()) return;
  std::vector<std::shared_ptr<Part>> parts;
  std::shared_ptr<WorkerSession> session;
  {
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(handle);
    if (found == sessions_.end()) return;
    session = std::move(found->second);
    sessions_.erase(found);
    for (auto at = graphs_.begin(); at != graphs_.end();) {
      if (at->second.session == session) {
        parts.push_back(std::move(at->second.part));
        at = graphs_.erase(at);
      } else {
        ++at;
      }
    }
  }
  for (const auto& part : parts) part->close();
  partial_runs_.end_session(session.get());
  steps_->forget_session(session.get());
  if (patience.count() == 0) return;
  std::unique_lock lock(session->mutex);
  session->ended.wait_for(lock, patience, [&] { return session->running == 0; });
}

std::shared_ptr<Worker::WorkerSession> Worker::find_session(const std::string& handle) const {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(handle);
  if (found == sessions_.end()) {
    throw error(Code::Aborted, "Session handle is not found: {}. Possibly this worker (\"{}\") just restarted.", handle,
                options_.task);
  }
  return found->second;
}

std::shared_ptr<Resources> Worker::resources(const std::string& session) const {
  return find_session(session)->resources;
}

std::string Worker::register_graph(const std::string& session, const proto::GraphDef& graph, bool soft_placement) {
  check_graph_allowed(graph, options_);
  // Masters older than 1.4 tell nobody of their sessions.
  const auto owner = find_session(session);
  SessionOptions options = options_.session;
  options.resources = owner->resources;
  options.allow_soft_placement = soft_placement;
  auto part = std::make_shared<Part>(graph, options);
  std::lock_guard lock(mutex_);
  if (!sessions_.contains(session)) throw error(Code::Aborted, "the session {} was closed meanwhile", session);
  std::string handle = fmt::format("{:016x}", ++next_graph_);
  graphs_[handle] = {owner, std::move(part)};
  return handle;
}

void Worker::deregister_graph(const std::string& session, const std::string& handle) {
  const Registered registered = find_graph(session, handle);  // runs that are under way keep it
  std::lock_guard lock(mutex_);
  graphs_.erase(handle);
}

Worker::Registered Worker::find_graph(const std::string& session, const std::string& handle) const {
  std::lock_guard lock(mutex_);
  auto found = graphs_.find(handle);
  auto owner = session.empty() ? sessions_.end() : sessions_.find(session);
  if (found == graphs_.end() ||
      (!session.empty() && (owner == sessions_.end() || owner->second != found->second.session))) {
    throw error(Code::Aborted, "Graph handle is not found: {}. Possibly, this worker just restarted.", handle);
  }
  return found->second;
}

std::vector<Tensor> Worker::run_piece(const Run& run) {
  const Registered registered = find_graph(run.session, run.graph);
  if (!registered.part->runs_in_pieces()) {
    throw error(Code::Unimplemented, "partial runs over several tasks need a master of Weir's");
  }
  const Deadline deadline = run.timeout.count() > 0 ? std::chrono::steady_clock::now() + run.timeout : kNoDeadline;
  return partial_runs_.call(
      *steps_,
      {.graph = run.graph,
       .step = run.step,
       .session = registered.session.get(),
       .sends = run.sends,
       .receives = run.receives,
       .last = run.last,
       .deadline = deadline,
       .stop = run.stop},
      [this, session = run.session, graph = run.graph, step = run.step](const std::stop_token& stop) {
        this->run({.session = session, .graph = graph, .step = step, .stop = stop});
      });
}

void Worker::cleanup(int64_t step) {
  steps_->forget(step);
  partial_runs_.end(step);
}

std::vector<Tensor> Worker::run(const Run& run) {
  if (run.partial) return run_piece(run);
  const Registered registered = find_graph(run.session, run.graph);
  if (stopping_.stop_requested()) throw error(Code::Unavailable, "the task {} is stopping", options_.task);
  const RunningPart running(*this, *registered.session);
  lender_.collect();  // so that what was given back can be written in place
  struct GiveBack {
    Borrower& borrower;
    ~GiveBack() { borrower.collect(); }
  } give_back{borrower_};
  steps_->enter(run.step, registered.session.get());
  struct Leave {
    StepTable& steps;
    const int64_t step;
    ~Leave() { steps.leave(step); }
  } leave{*steps_, run.step};
  std::stop_source source;
  auto stop = [&] { source.request_stop(); };
  std::stop_callback by_master(run.stop, stop), by_server(stopping_.get_token(), stop);
  try {
    return registered.part->run(run.step, run.sends, run.receives,
                                {.timeout = run.timeout, .stop = source.get_token(), .trace = run.trace});
  } catch (...) {
    const std::exception_ptr failed = std::current_exception();
    steps_->abort(run.step, failed);
    throw;
  }
}

void Worker::fetch(int64_t step, const std::string& key, const std::stop_token& stop, StepTable::Done done) {
  Peer& peer = peers_->at(parse_key(key).send_task());
  proto::RecvTensorRequest request;
  request.set_step_id(step);
  request.set_rendezvous_key(key);
  peer.get_to_know();
  if (peer.is_near()) {
    request.mutable_transport_options()->set_type_url(kLendType);
    request.mutable_transport_options()->set_value(lend_request());
  }
  peer.begin(
      "RecvTensor", encode(request), {.stop = stop}, "asked for the value",
      [this, done = std::move(done)](Reply reply) {
        Tensor value;
        std::exception_ptr failed;
        try {
          if (reply.code != Code::Ok) throw error_from_text(reply.code, reply.error, nullptr);
          bytes_in_ += static_cast<int64_t>(reply.body.size());
          proto::RecvTensorResponse rest;
          decode_with_tensors(reply.body, 1, false, rest,
                              [&](std::string, Tensor tensor) { value = std::move(tensor); });
          if (rest.transport_options().type_url() == kLendType) {
            value = borrower_.borrow(rest.transport_options().value());
            bytes_borrowed_ += static_cast<int64_t>(value.bytes());
          }
          if (rest.is_dead()) {
            value = {};
          } else if (!value.valid()) {
            throw error(Code::Internal, "an answer without a value has come");
          }
        } catch (...) {
          failed = std::current_exception();
        }
        done(std::move(value), failed);
      },
      key);
}

void Worker::reset(const std::vector<std::string>& containers) {
  for (const std::string& name : containers) {
    if (name == ops::Rendezvous::kContainer) throw invalid_argument("the container '{}' is the server's own", name);
  }
  shared_resources_->reset(containers);
}

void Worker::stop() { stopping_.request_stop(); }

Worker::Counts Worker::counts() const {
  std::lock_guard lock(mutex_);
  return {.sessions = sessions_.size() - 1,
          .graphs = graphs_.size(),
          .runs = runs_,
          .running = running_,
          .bytes_in = bytes_in_,
          .bytes_borrowed = bytes_borrowed_};
}

}  // namespace weir::distributed
