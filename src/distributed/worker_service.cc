// The methods of /tensorflow.WorkerService: what masters ask, and tasks that want values.
#include "base/errors.h"
#include "distributed/service.h"
#include "distributed/status.h"
#include "distributed/step_stats.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

enum Field { kSend = 3, kRecv = 1, kTensor = 1 };

// A value of a branch that does not run. Its type and shape are nobody's concern.
void answer_dead(Incoming& call) {
  proto::RecvTensorResponse response;
  response.set_is_dead(true);
  response.mutable_tensor()->set_dtype(proto::DT_FLOAT);
  response.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(0);
  call.answer(encode(response));
}

}  // namespace

void Service::get_status(Incoming& call) {
  proto::GetStatusRequest request;
  decode(call.request(), request);
  proto::GetStatusResponse response;
  for (const auto& device : worker_.devices()) *response.add_device_attributes() = device;
  call.answer(encode(response));
}

void Service::create_worker_session(Incoming& call) {
  proto::CreateWorkerSessionRequest request;
  decode(call.request(), request);
  worker_.create_session(
      request.session_handle(), request.isolate_session_state(),
      {.task = request.master_task(), .incarnation = static_cast<uint64_t>(request.master_incarnation())});
  call.answer(encode(proto::CreateWorkerSessionResponse()));
}

void Service::delete_worker_session(Incoming& call) {
  proto::DeleteWorkerSessionRequest request;
  decode(call.request(), request);
  worker_.delete_session(request.session_handle());
  call.answer(encode(proto::DeleteWorkerSessionResponse()));
}

void Service::register_graph(Incoming& call) {
  proto::RegisterGraphRequest request;
  decode(call.request(), request);
  proto::RegisterGraphResponse response;
  const std::string session = request.create_worker_session_called() ? request.session_handle() : "";
  response.set_graph_handle(
      worker_.register_graph(session, request.graph_def(), request.config_proto().allow_soft_placement()));
  call.answer(encode(response));
}

void Service::deregister_graph(Incoming& call) {
  proto::DeregisterGraphRequest request;
  decode(call.request(), request);
  worker_.deregister_graph(request.create_worker_session_called() ? request.session_handle() : "",
                           request.graph_handle());
  call.answer(encode(proto::DeregisterGraphResponse()));
}

void Service::run_graph(Incoming& call) {
  proto::RunGraphRequest request;
  Worker::Run run;
  decode_with_tensors(call.request(), kSend, true, request, [&](std::string name, Tensor value) {
    run.sends.emplace_back(std::move(name), std::move(value));
  });
  if (request.create_worker_session_called()) run.session = request.session_handle();
  run.graph = request.graph_handle();
  run.step = request.step_id();
  run.receives.assign(request.recv_key().begin(), request.recv_key().end());
  run.partial = request.is_partial();
  run.last = request.is_last_partial_run();
  run.stop = call.stop();
  if (call.deadline() != kNoDeadline) {
    run.timeout = std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                             call.deadline() - std::chrono::steady_clock::now()));
  }
  RunTrace trace;
  if (request.exec_opts().record_timeline()) run.trace = &trace;
  proto::RunGraphResponse response;
  std::vector<Tensor> values;
  try {
    seen_parts_.add(request.request_id(), "RunGraph");
    const RunningStep running(*this);
    values = worker_.run(run);
  } catch (...) {
    if (!request.store_errors_in_response_body()) throw;
    const Error failed = as_error(std::current_exception());
    response.set_status_code(static_cast<proto::error::Code>(failed.code()));
    response.set_status_error_message(error_text(failed));
    call.answer(encode(response));
    return;
  }
  if (run.trace) response.mutable_step_stats()->ParseFromString(stats_of_task(trace, options_.worker.task));
  Message message = encode(response);
  for (size_t i = 0; i < values.size(); ++i) add_named_tensor(message, kRecv, run.receives[i], values[i]);
  call.answer(std::move(message));
}

void Service::cleanup_graph(Incoming& call) {
  proto::CleanupGraphRequest request;
  decode(call.request(), request);
  worker_.cleanup(request.step_id());
  call.answer(encode(proto::CleanupGraphResponse()));
}

void Service::cleanup_all(Incoming& call) {
  proto::CleanupAllRequest request;
  decode(call.request(), request);
  worker_.reset({request.container().begin(), request.container().end()});
  call.answer(encode(proto::CleanupAllResponse()));
}

void Service::logging(Incoming& call) { call.answer(encode(proto::LoggingResponse())); }
void Service::tracing(Incoming& call) { call.answer(Message()); }
void Service::mark_recv_finished(Incoming& call) { call.answer(encode(proto::MarkRecvFinishedResponse())); }

void Service::join_group(const std::shared_ptr<Incoming>& call) {
  proto::NodeDef request;
  decode(call->request(), request);
  worker_.collectives().join(request, call->stop(), [call](const proto::NodeDef& group, std::exception_ptr failed) {
    if (!failed) {
      call->answer(encode(group));
      return;
    }
    const Error e = as_error(failed);
    call->fail(e.code(), error_text(e));
  });
}

void Service::receive_tensor(const std::shared_ptr<Incoming>& call) {
  proto::RecvTensorRequest request;
  decode(call->request(), request);
  worker_.steps().receive_here(request.step_id(), request.rendezvous_key(), call->stop(),
                               [this, call,
                                lend = request.transport_options().type_url() == kLendType
                                           ? request.transport_options().value()
                                           : std::string()](const Tensor& value, std::exception_ptr failed) {
                                 if (failed) {
                                   const Error e = as_error(failed);
                                   call->fail(e.code(), error_text(e));
                                   return;
                                 }
                                 if (!value.valid()) {
                                   answer_dead(*call);
                                   return;
                                 }
                                 if (const std::string place = worker_.lender().lend(value, lend); !place.empty()) {
                                   proto::RecvTensorResponse response;
                                   response.mutable_transport_options()->set_type_url(kLendType);
                                   response.mutable_transport_options()->set_value(place);
                                   bytes_lent_ += static_cast<int64_t>(value.bytes());
                                   call->answer(encode(response));
                                   return;
                                 }
                                 Message message;
                                 add_tensor(message, kTensor, value);
                                 bytes_out_ += static_cast<int64_t>(message.size());
                                 call->answer(std::move(message));
                               });
}

}  // namespace weir::distributed
