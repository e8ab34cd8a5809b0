#include "distributed/service.h"

#include "base/errors.h"
#include "distributed/status.h"

namespace weir::distributed {
namespace {

const std::string kReceive = kWorkerService + "RecvTensor";

// Takes as long for every wrong token of the right length.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char differences = 0;
  for (size_t i = 0; i < a.size(); ++i) differences |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differences == 0;
}

}  // namespace

Service::Service(const ServiceOptions& options, std::shared_ptr<Peers> peers)
    : options_(options), peers_(std::move(peers)), worker_(options_.worker, peers_) {}

Service::~Service() { stop(); }

const std::map<std::string, Service::Method, std::less<>>& Service::methods() {
  static const std::map<std::string, Method, std::less<>> table = {
      {kMasterService + "CreateSession", &Service::create_session},
      {kMasterService + "ExtendSession", &Service::extend_session},
      {kMasterService + "PartialRunSetup", &Service::partial_run_setup},
      {kMasterService + "RunStep", &Service::run_step},
      {kMasterService + "CloseSession", &Service::close_session},
      {kMasterService + "ListDevices", &Service::list_devices},
      {kMasterService + "Reset", &Service::reset},
      {kMasterService + "MakeCallable", &Service::make_callable},
      {kMasterService + "RunCallable", &Service::run_callable},
      {kMasterService + "ReleaseCallable", &Service::release_callable},
      {kWorkerService + "GetStatus", &Service::get_status},
      {kWorkerService + "CreateWorkerSession", &Service::create_worker_session},
      {kWorkerService + "DeleteWorkerSession", &Service::delete_worker_session},
      {kWorkerService + "RegisterGraph", &Service::register_graph},
      {kWorkerService + "DeregisterGraph", &Service::deregister_graph},
      {kWorkerService + "RunGraph", &Service::run_graph},
      {kWorkerService + "CleanupGraph", &Service::cleanup_graph},
      {kWorkerService + "CleanupAll", &Service::cleanup_all},
      {kWorkerService + "Logging", &Service::logging},
      {kWorkerService + "Tracing", &Service::tracing},
      {kWorkerService + "MarkRecvFinished", &Service::mark_recv_finished},
      {"/weir.Status/Show", &Service::show_status},
  };
  return table;
}

void Service::handle(const std::shared_ptr<Incoming>& call) {
  try {
    ++calls_;
    if (!options_.token.empty() && !same_secret(options_.token, call->token())) {
      throw error(Code::Unauthenticated,
                  "this server wants a token that the call does not show (docs/cluster.md, Security)");
    }
    if (call->method() == kReceive) {
      receive_tensor(call);
      return;
    }
    if (call->method() == kJoinMethod) {
      if (options_.worker.untrusted_clients) {
        throw error(Code::PermissionDenied, "this server brings no groups together: its clients are not trusted");
      }
      join_group(call);
      return;
    }
    auto found = methods().find(call->method());
    if (found == methods().end()) throw error(Code::Unimplemented, "there is no method {} here", call->method());
    (this->*found->second)(*call);
  } catch (...) {
    const Error failed = as_error(std::current_exception());
    call->fail(failed.code(), error_text(failed));
  }
}

Service::RunningStep::RunningStep(Service& service) : service_(service) {
  if (++service_.running_steps_ <= service_.options_.max_running_steps) return;
  --service_.running_steps_;
  throw error(Code::ResourceExhausted, "{} steps are under way at {}, and no more are taken",
              service_.options_.max_running_steps, service_.options_.worker.task);
}

std::shared_ptr<MasterSession> Service::session(const std::string& handle) const {
  std::lock_guard lock(mutex_);
  auto found = sessions_.find(handle);
  if (found == sessions_.end()) {
    throw error(Code::Aborted, "Session {} is not found. Possibly, this master has restarted.", handle);
  }
  return found->second;
}

void Service::stop() {
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    sessions.swap(sessions_);
  }
  worker_.stop();
  for (const auto& [handle, session] : sessions) session->close();
}

std::string Service::status() const {
  const Worker::Counts counts = worker_.counts();
  auto& worker = const_cast<Worker&>(worker_);
  const StepTable::Counts steps = worker.steps().counts();
  std::string text = fmt::format(
      "task {} (incarnation {:016x})\n  {} calls so far; {} bytes of values received from other tasks, {} given to "
      "them\n"
      "  in shared memory: {} bytes read, {} lent\n"
      "  as a worker: {} sessions, {} parts of graphs, {} runs so far, {} now\n"
      "  values left for others: {}; waits of others for values: {}\n",
      options_.worker.task, worker_.incarnation(), calls_.load(), counts.bytes_in, bytes_out_.load(),
      counts.bytes_borrowed, bytes_lent_.load(), counts.sessions, counts.graphs, counts.runs, counts.running,
      steps.values, steps.waits);
  constexpr size_t kMostWaits = 20;
  for (const std::string& wait : worker.steps().waits(kMostWaits)) text += "    " + wait + "\n";
  std::lock_guard lock(mutex_);
  text += fmt::format("  as a master: {} sessions\n", sessions_.size());
  for (const auto& [handle, session] : sessions_) text += "    " + session->describe() + "\n";
  return text;
}

void Service::show_status(Incoming& call) { call.answer(Message(status())); }

}  // namespace weir::distributed
