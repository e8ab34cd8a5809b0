// The methods of /tensorflow.MasterService: what clients ask.
#include <random>

#include "base/errors.h"
#include "distributed/service.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "proto/master.pb.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

// Fields of messages that are tensors.
enum Field { kRunStepFeed = 2, kRunStepTensor = 1, kRunCallableFeed = 3, kRunCallableFetch = 1, kMetadata = 2 };

std::string random_handle() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

void add_metadata(const StepResult& result, proto::RunMetadata& metadata) {
  if (!result.step_stats.empty()) metadata.mutable_step_stats()->ParseFromString(result.step_stats);
}

}  // namespace

void Service::create_session(Incoming& call) {
  proto::CreateSessionRequest request;
  decode(call.request(), request);
  {
    std::lock_guard lock(mutex_);
    if (stopped_) throw error(Code::Unavailable, "the server is stopping");
    if (options_.max_sessions > 0 && sessions_.size() >= options_.max_sessions) {
      throw error(Code::ResourceExhausted, "there are {} sessions, and no more are made", sessions_.size());
    }
  }
  Deadline deadline = call.deadline();
  if (request.config().operation_timeout_in_ms() > 0) {
    deadline = std::min(deadline, std::chrono::steady_clock::now() +
                                      std::chrono::milliseconds(request.config().operation_timeout_in_ms()));
  }
  auto session = std::make_shared<MasterSession>(random_handle(), options_.master, request.config(), worker_, *peers_,
                                                 call.stop(), deadline);
  proto::CreateSessionResponse response;
  session->extend(request.graph_def(), 0);
  response.set_session_handle(session->handle());
  response.set_graph_version(session->version());
  // A client that has given up never hears of the handle, and would never close it.
  if (call.stop().stop_requested()) throw error(Code::Cancelled, "the client has given up");
  {
    std::lock_guard lock(mutex_);
    if (stopped_) throw error(Code::Unavailable, "the server is stopping");
    sessions_[session->handle()] = session;
  }
  call.answer(encode(response));
}

void Service::extend_session(Incoming& call) {
  proto::ExtendSessionRequest request;
  decode(call.request(), request);
  proto::ExtendSessionResponse response;
  response.set_new_graph_version(
      session(request.session_handle())->extend(request.graph_def(), request.current_graph_version()));
  call.answer(encode(response));
}

void Service::partial_run_setup(Incoming& call) {
  proto::PartialRunSetupRequest request;
  decode(call.request(), request);
  proto::PartialRunSetupResponse response;
  response.set_partial_run_handle(session(request.session_handle())
                                      ->setup_partial({request.feed().begin(), request.feed().end()},
                                                      {request.fetch().begin(), request.fetch().end()},
                                                      {request.target().begin(), request.target().end()}, call.stop(),
                                                      call.deadline()));
  call.answer(encode(response));
}

void Service::run_step(Incoming& call) {
  proto::RunStepRequest request;
  StepRequest step;
  decode_with_tensors(call.request(), kRunStepFeed, true, request, [&](std::string name, Tensor value) {
    step.feeds.emplace_back(std::move(name), std::move(value));
  });
  step.fetches.assign(request.fetch().begin(), request.fetch().end());
  step.targets.assign(request.target().begin(), request.target().end());
  step.options = request.options();
  step.stop = call.stop();
  step.deadline = call.deadline();
  proto::RunStepResponse response;
  StepResult result;
  try {
    seen_steps_.add(request.request_id(), "RunStep");
    const RunningStep running(*this);
    const std::shared_ptr<MasterSession> owner = session(request.session_handle());
    result = request.partial_run_handle().empty() ? owner->run(step)
                                                  : owner->run_partial(request.partial_run_handle(), step);
  } catch (...) {
    // Long messages do not fit into a status.
    if (!request.store_errors_in_response_body()) throw;
    const Error failed = as_error(std::current_exception());
    response.set_status_code(static_cast<proto::error::Code>(failed.code()));
    response.set_status_error_message(error_text(failed));
    call.answer(encode(response));
    return;
  }
  add_metadata(result, *response.mutable_metadata());
  Message message = encode(response);
  for (size_t i = 0; i < result.fetches.size(); ++i) {
    add_named_tensor(message, kRunStepTensor, step.fetches[i], result.fetches[i]);
  }
  call.answer(std::move(message));
}

void Service::close_session(Incoming& call) {
  proto::CloseSessionRequest request;
  decode(call.request(), request);
  const std::shared_ptr<MasterSession> closing = session(request.session_handle());
  {
    std::lock_guard lock(mutex_);
    sessions_.erase(request.session_handle());
  }
  closing->close();
  call.answer(encode(proto::CloseSessionResponse()));
}

void Service::list_devices(Incoming& call) {
  proto::ListDevicesRequest request;
  decode(call.request(), request);
  proto::ListDevicesResponse response;
  const auto own = worker_.devices();
  if (!request.session_handle().empty()) {
    for (const auto& device : session(request.session_handle())->devices()) {
      const bool local = device.name().starts_with(options_.worker.task + "/");
      *(local ? response.add_local_device() : response.add_remote_device()) = device;
    }
  } else {
    for (const auto& device : own) *response.add_local_device() = device;
    for (const auto& peer : peers_->all()) {
      const CallOptions options{
          .deadline = std::min(call.deadline(), std::chrono::steady_clock::now() + std::chrono::seconds(10)),
          .stop = call.stop()};
      for (const auto& device : peer->devices(options)) *response.add_remote_device() = device;
    }
  }
  call.answer(encode(response));
}

void Service::reset(Incoming& call) {
  proto::ResetRequest request;
  decode(call.request(), request);
  const std::vector<std::string> containers(request.container().begin(), request.container().end());
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    std::lock_guard lock(mutex_);
    sessions.swap(sessions_);
  }
  // As in TensorFlow, whoever has a session with this master finds it closed.
  for (const auto& [handle, closing] : sessions) closing->close();
  worker_.reset(containers);
  proto::CleanupAllRequest cleanup;
  for (const std::string& name : containers) cleanup.add_container(name);
  auto wanted = [&](const std::string& task) {
    if (request.device_filters().empty()) return true;
    for (const std::string& filter : request.device_filters()) {
      if (DeviceSpec::parse(filter).matches(DeviceSpec::parse(host_device(task)))) return true;
    }
    return false;
  };
  for (const auto& peer : peers_->all()) {
    if (!wanted(peer->name())) continue;
    const CallOptions options{
        .deadline = std::min(call.deadline(), std::chrono::steady_clock::now() + std::chrono::seconds(10)),
        .stop = call.stop()};
    const Reply reply = peer->call("CleanupAll", encode(cleanup), options, "resetting its containers");
    if (reply.code != Code::Ok) throw Error(reply.code, reply.error);
  }
  call.answer(encode(proto::ResetResponse()));
}

void Service::make_callable(Incoming& call) {
  proto::MakeCallableRequest request;
  decode(call.request(), request);
  proto::MakeCallableResponse response;
  response.set_handle(
      session(request.session_handle())->make_callable(request.options(), call.stop(), call.deadline()));
  call.answer(encode(response));
}

void Service::run_callable(Incoming& call) {
  proto::RunCallableRequest request;
  std::vector<Tensor> feeds;
  decode_with_tensors(call.request(), kRunCallableFeed, false, request,
                      [&](const std::string&, Tensor value) { feeds.push_back(std::move(value)); });
  seen_steps_.add(request.request_id(), "RunCallable");
  const RunningStep running(*this);
  const StepResult result =
      session(request.session_handle())->run_callable(request.handle(), std::move(feeds), call.stop(), call.deadline());
  proto::RunCallableResponse response;
  if (!result.step_stats.empty()) add_metadata(result, *response.mutable_metadata());
  Message message = encode(response);
  for (const Tensor& value : result.fetches) add_tensor(message, kRunCallableFetch, value);
  call.answer(std::move(message));
}

void Service::release_callable(Incoming& call) {
  proto::ReleaseCallableRequest request;
  decode(call.request(), request);
  session(request.session_handle())->release_callable(request.handle());
  call.answer(encode(proto::ReleaseCallableResponse()));
}

}  // namespace weir::distributed
