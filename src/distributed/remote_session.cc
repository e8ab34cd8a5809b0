#include "runtime/remote_session.h"

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_set>

#include "base/errors.h"
#include "distributed/cluster.h"
#include "distributed/near/near.h"
#include "distributed/status.h"
#include "distributed/transport.h"
#include "distributed/wire.h"
#include "graph/graph_def.h"
#include "graph/graph_impl.h"
#include "proto/master.pb.h"
#include "proto/worker.pb.h"
#include "weir/server.h"

namespace weir {
namespace distributed {
namespace {

enum Field { kRunStepFeed = 2, kRunStepTensor = 1, kRunCallableFeed = 3, kRunCallableFetch = 1 };
constexpr std::chrono::seconds kCloseTimeout{5};
// Longer than the server's own, whose message says more.
constexpr std::chrono::milliseconds kGrace{1000};
constexpr std::chrono::seconds kWaitNotice{10};
constexpr std::chrono::seconds kListTimeout{60};
constexpr std::chrono::milliseconds kLostPause{100};

proto::ConfigProto to_config(const SessionOptions& o) {
  proto::ConfigProto config;
  for (const auto& [type, count] : o.device_count) (*config.mutable_device_count())[type] = count;
  config.set_intra_op_parallelism_threads(o.intra_op_parallelism_threads);
  config.set_inter_op_parallelism_threads(o.inter_op_parallelism_threads);
  config.set_allow_soft_placement(o.allow_soft_placement);
  config.set_log_device_placement(o.log_device_placement);
  config.set_operation_timeout_in_ms(o.operation_timeout.count());
  for (const std::string& filter : o.device_filters) config.add_device_filters(filter);
  config.set_isolate_session_state(o.isolate_session_state);
  return config;
}

std::string address_of(const std::string& target) {
  constexpr std::string_view kPrefix = "grpc://";
  if (!target.starts_with(kPrefix) || target.size() == kPrefix.size()) {
    throw not_found("No session factory registered for the given session options: {{target: \"{}\"}}", target);
  }
  return target.substr(kPrefix.size());
}

int64_t random_request_id() {
  static thread_local std::mt19937_64 generator{std::random_device{}()};
  return static_cast<int64_t>(generator() >> 1) | 1;
}

// As in TensorFlow, the server hears of the session when something is first asked of it: so the wait for the server,
// and for the tasks of its cluster, is a wait of that step, with its deadline, and ends with it.
class GrpcSession final : public RemoteSession {
 public:
  GrpcSession(Graph& graph, const SessionOptions& options)
      : graph_(graph),
        options_(options),
        address_(address_of(options.target)),
        transport_(find_transport("grpc")),
        channel_(transport_->connect(address_, how())) {}
  ~GrpcSession() override { close(); }

  void run(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
           const RunOptions& options, std::span<Tensor> results) override {
    std::vector<std::string> names;
    for (const Output& fetch : fetches) names.push_back(fetch.name());
    proto::RunStepRequest request;
    for (const Operation& target : targets) request.add_target(target.name());
    run_step(request, names, feeds, options, results);
  }

  std::string partial_run_setup(const CallableSpec& spec) override {
    bring_up_to_date({});
    proto::PartialRunSetupRequest request;
    request.set_session_handle(handle_);
    for (const Output& feed : spec.feeds) request.add_feed(feed.name());
    for (const Output& fetch : spec.fetches) request.add_fetch(fetch.name());
    for (const Operation& target : spec.targets) request.add_target(target.name());
    proto::PartialRunSetupResponse response;
    ask("PartialRunSetup", encode(request), response, {}, "setting a partial run up");
    return response.partial_run_handle();
  }

  void partial_run(const std::string& handle, std::span<const Output> fetches, std::span<const Feed> feeds,
                   std::span<Tensor> results, const RunOptions& options) override {
    std::vector<std::string> names;
    for (const Output& fetch : fetches) names.push_back(fetch.name());
    proto::RunStepRequest request;
    request.set_partial_run_handle(handle);
    run_step(request, names, feeds, options, results);
  }

  std::shared_ptr<Callable> make_callable(const CallableSpec& spec) override;

  std::vector<DeviceInfo> devices() override {
    bring_up_to_date({.timeout = kListTimeout});
    proto::ListDevicesRequest request;
    request.set_session_handle(handle_);
    proto::ListDevicesResponse response;
    ask("ListDevices", encode(request), response, {.timeout = kListTimeout}, "listing devices");
    std::vector<DeviceInfo> list;
    for (const auto* devices : {&response.local_device(), &response.remote_device()}) {
      for (const auto& device : *devices) {
        list.push_back({.name = device.name(),
                        .type = device.device_type(),
                        .memory_limit = device.memory_limit(),
                        .description = device.physical_device_desc()});
      }
    }
    return list;
  }

  void close() override {
    if (closed_.exchange(true)) return;
    closing_.request_stop();
    std::lock_guard lock(mutex_);  // after the last call that could make the session
    if (handle_.empty()) return;
    proto::CloseSessionRequest request;
    request.set_session_handle(handle_);
    // A server that does not answer any more has nothing left to close.
    channel_->call(kMasterService + "CloseSession", encode(request), {.deadline = deadline(kCloseTimeout)});
  }

  void reset(const std::vector<std::string>& containers) override {
    proto::ResetRequest request;
    for (const std::string& name : containers) request.add_container(name);
    for (const std::string& filter : options_.device_filters) request.add_device_filters(filter);
    proto::ResetResponse response;
    ask("Reset", encode(request), response, {.timeout = kListTimeout}, "resetting containers");
    closed_ = true;
    closing_.request_stop();
  }

 private:
  class GrpcCallable;

  static Deadline deadline(std::chrono::milliseconds timeout) { return std::chrono::steady_clock::now() + timeout; }

  ConnectOptions how() const {
    const ClusterCredentials& c = options_.credentials;
    return {.credentials = {c.ca_file, c.certificate_file, c.key_file, c.token}};
  }

  Deadline deadline_of(const RunOptions& options) const {
    const auto timeout = options.timeout.count() > 0 ? options.timeout : options_.operation_timeout;
    return timeout.count() > 0 ? deadline(timeout + kGrace) : kNoDeadline;
  }

  void require_open() const {
    if (closed_) throw error(Code::Cancelled, "the session has been closed");
  }

  Error explain(const Reply& reply, const std::string& doing) const {
    if (closed_ && reply.lost) return closed_meanwhile();
    if (reply.lost || reply.code == Code::DeadlineExceeded) {
      return error(reply.code, "the server at {} {}, while {}: {}", address_,
                   reply.lost ? "is lost, or was never there" : "did not answer in time", doing, reply.error);
    }
    return said(reply.code, reply.error);
  }
  // What the server says of a step.
  Error said(Code code, const std::string& text) const {
    return closed_ && code == Code::Aborted ? closed_meanwhile() : error_from_text(code, text, &graph_);
  }
  // What was on its way when this session was closed finds none at the server: no loss that one should recover from.
  static Error closed_meanwhile() { return error(Code::Cancelled, "the session was closed"); }

  void ask(const char* method, Message request, google::protobuf::MessageLite& response, const RunOptions& options,
           const std::string& doing) {
    const Reply reply = call_until_closed(kMasterService + method, std::move(request), options);
    if (reply.code != Code::Ok) throw explain(reply, doing);
    decode(reply.body, response);
  }

  // A call that ends with the session and with the program's token.
  Reply call_until_closed(const std::string& method, Message request, const RunOptions& options) {
    return call_until_closed(method, std::move(request), {.deadline = deadline_of(options)}, options.stop);
  }
  Reply call_until_closed(const std::string& method, Message request, CallOptions call,
                          const std::stop_token& program) {
    if (!program.stop_possible()) {
      call.stop = closing_.get_token();
      return channel_->call(method, std::move(request), call);
    }
    std::stop_source source;
    auto end = [&] { source.request_stop(); };
    std::stop_callback by_program(program, end), by_session(closing_.get_token(), end);
    call.stop = source.get_token();
    return channel_->call(method, std::move(request), call);
  }

  // Waits until the server answers, and finds out whether it is Weir's: such a server is asked now and then whether it
  // is still there, so that no step waits for one that was stopped or cut off. TensorFlow's take offence at that.
  void find_server(const RunOptions& options) {
    const Deadline end = deadline_of(options);
    while (true) {
      const CallOptions call{.deadline = std::min(end, deadline(kWaitNotice)), .wait_for_ready = true};
      const Reply reply =
          call_until_closed(kWorkerService + "GetStatus", encode(proto::GetStatusRequest()), call, options.stop);
      if (reply.code == Code::Ok) {
        proto::GetStatusResponse status;
        decode(reply.body, status);
        const auto& devices = status.device_attributes();
        if (!devices.empty() && devices[0].physical_device_desc().starts_with(kWeirDevice)) {
          ConnectOptions watched = how();
          watched.keep_alive = true;
          channel_ = transport_->connect(address_, watched);
          const std::string name = said_in(devices[0].physical_device_desc(), kNearMark);
          if (!name.empty()) channel_ = connect_near(name, std::move(channel_), watched, {});
        }
        return;
      }
      if (reply.code != Code::DeadlineExceeded && !reply.lost) return;  // it is there: what it refuses it says again
      if (std::chrono::steady_clock::now() >= end) throw explain(reply, "making a session");
      fmt::print(stderr, "weir: the session still waits for an answer of the server at {}\n", address_);
      if (reply.lost) std::this_thread::sleep_for(kLostPause);
    }
  }

  // REQUIRES: mutex_ is held.
  void create(const RunOptions& options) {
    find_server(options);
    proto::CreateSessionRequest request;
    proto::CreateSessionResponse response;
    take_new_nodes(*request.mutable_graph_def());
    *request.mutable_config() = to_config(options_);
    request.set_target(options_.target);
    try {
      ask("CreateSession", encode(request), response, options, "making a session");
    } catch (...) {
      sent_.clear();
      sent_functions_.clear();
      throw;
    }
    handle_ = response.session_handle();
    version_ = response.graph_version();
  }

  void run_step(proto::RunStepRequest& request, const std::vector<std::string>& fetches, std::span<const Feed> feeds,
                const RunOptions& options, std::span<Tensor> results) {
    require_open();
    bring_up_to_date(options);
    request.set_session_handle(handle_);
    request.set_request_id(random_request_id());
    request.set_store_errors_in_response_body(true);
    for (const std::string& name : fetches) request.add_fetch(name);
    fill_options(options, *request.mutable_options());
    Message message = encode(request);
    for (const Feed& feed : feeds) {
      check_feed(feed.output, feed.value);
      add_named_tensor(message, kRunStepFeed, feed.output.name(), feed.value);
    }
    const Reply reply = call_until_closed(kMasterService + "RunStep", std::move(message), options);
    if (reply.code != Code::Ok) throw explain(reply, "running a step");
    proto::RunStepResponse response;
    size_t next = 0;
    std::vector<bool> got(fetches.size());
    decode_with_tensors(reply.body, kRunStepTensor, true, response, [&](const std::string& name, Tensor value) {
      // Mostly in the order of the request.
      size_t at = next < fetches.size() && fetches[next] == name ? next : 0;
      while (at < fetches.size() && (fetches[at] != name || got[at])) ++at;
      if (at == fetches.size()) return;
      results[at] = std::move(value);
      got[at] = true;
      next = at + 1;
    });
    if (response.status_code() != proto::error::OK) {
      throw said(static_cast<Code>(response.status_code()), response.status_error_message());
    }
    for (size_t i = 0; i < fetches.size(); ++i) {
      if (got[i]) continue;
      // The same tensor fetched twice may come once.
      auto same = std::find(fetches.begin(), fetches.end(), fetches[i]);
      results[i] = results[static_cast<size_t>(same - fetches.begin())];
      if (!results[i].valid())
        throw error(Code::Internal, "the server at {} gave no value of '{}'", address_, fetches[i]);
    }
    fill_trace(options, response.metadata());
  }

  static void check_feed(const Output& output, const Tensor& value) {
    if (value.dtype() == output.dtype()) return;
    output.node()->fail(Code::InvalidArgument,
                        fmt::format("a value of type {} is fed; '{}' is {}", dtype_name(value.dtype()), output.name(),
                                    dtype_name(output.dtype())));
  }

  static void fill_options(const RunOptions& options, proto::RunOptions& message) {
    message.set_timeout_in_ms(options.timeout.count());
    if (options.trace) message.set_trace_level(proto::RunOptions::FULL_TRACE);
  }

  static void fill_trace(const RunOptions& options, const proto::RunMetadata& metadata) {
    if (!options.trace) return;
    *options.trace = {};
    options.trace->remote_stats = metadata.step_stats().SerializeAsString();
  }

  // Nodes that the server does not know yet.
  void take_new_nodes(proto::GraphDef& message) {
    proto::GraphDef whole;
    seen_version_ = graph_.version();
    graph_to_proto(graph_, whole);
    *message.mutable_versions() = whole.versions();
    for (proto::NodeDef& node : *whole.mutable_node()) {
      if (sent_.insert(node.name()).second) *message.add_node() = std::move(node);
    }
    for (auto& function : *whole.mutable_library()->mutable_function()) {
      if (sent_functions_.insert(function.signature().name()).second) {
        *message.mutable_library()->add_function() = std::move(function);
      }
    }
  }

  // What the graph has that the server does not know. The first time, makes the session.
  void bring_up_to_date(const RunOptions& options) {
    std::lock_guard lock(mutex_);
    require_open();
    if (handle_.empty()) return create(options);
    if (graph_.version() == seen_version_) return;
    proto::ExtendSessionRequest request;
    const auto sent = sent_;
    const auto sent_functions = sent_functions_;
    const int64_t seen = seen_version_;
    take_new_nodes(*request.mutable_graph_def());
    request.set_session_handle(handle_);
    request.set_current_graph_version(version_);
    proto::ExtendSessionResponse response;
    try {
      ask("ExtendSession", encode(request), response, options, "giving it more of the graph");
    } catch (...) {
      sent_ = sent;
      sent_functions_ = sent_functions;
      seen_version_ = seen;
      throw;
    }
    version_ = response.new_graph_version();
  }

  Graph& graph_;
  const SessionOptions options_;
  const std::string address_;
  const std::shared_ptr<Transport> transport_;
  // Both are the same from the session's creation at the server on, and guarded by mutex_ before.
  std::shared_ptr<Channel> channel_;
  std::string handle_;
  std::stop_source closing_;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  // All guarded by mutex_:
  int64_t version_ = 0;                    // the server's
  std::atomic<int64_t> seen_version_ = 0;  // of the graph
  std::unordered_set<std::string> sent_, sent_functions_;
};

// Feeds and fetches that the server knows by a number.
class GrpcSession::GrpcCallable final : public RemoteSession::Callable {
 public:
  GrpcCallable(GrpcSession& session, const CallableSpec& spec) : session_(session), spec_(spec) {}

  size_t fetches() const override { return spec_.fetches.size(); }

  // The server hears of it with the first call, whose deadline and token hold for that, too.
  int64_t handle(const RunOptions& options) {
    std::lock_guard lock(mutex_);
    if (known_) return handle_;
    session_.bring_up_to_date(options);
    proto::MakeCallableRequest request;
    request.set_session_handle(session_.handle_);
    proto::CallableOptions& callable = *request.mutable_options();
    for (const Output& feed : spec_.feeds) callable.add_feed(feed.name());
    for (const Output& fetch : spec_.fetches) callable.add_fetch(fetch.name());
    for (const Operation& target : spec_.targets) callable.add_target(target.name());
    proto::MakeCallableResponse response;
    session_.ask("MakeCallable", encode(request), response, options, "making a callable");
    known_ = true;
    return handle_ = response.handle();
  }

  void call(std::span<const Tensor> feeds, std::span<Tensor> results, const RunOptions& options) override {
    if (feeds.size() != spec_.feeds.size() || results.size() != spec_.fetches.size()) {
      throw invalid_argument("{} feeds and {} results are given; {} and {} are wanted", feeds.size(), results.size(),
                             spec_.feeds.size(), spec_.fetches.size());
    }
    session_.require_open();
    // The options of a callable are fixed when it is made.
    if (options.trace || options.timeout.count() > 0) {
      std::vector<Feed> fed;
      for (size_t i = 0; i < feeds.size(); ++i) fed.push_back({spec_.feeds[i], feeds[i]});
      session_.run(spec_.fetches, fed, spec_.targets, options, results);
      return;
    }
    proto::RunCallableRequest request;
    request.set_handle(handle(options));
    request.set_session_handle(session_.handle_);
    request.set_request_id(random_request_id());
    Message message = encode(request);
    for (size_t i = 0; i < feeds.size(); ++i) {
      check_feed(spec_.feeds[i], feeds[i]);
      add_tensor(message, kRunCallableFeed, feeds[i]);
    }
    const Reply reply = session_.call_until_closed(kMasterService + "RunCallable", std::move(message), options);
    if (reply.code != Code::Ok) throw session_.explain(reply, "running a step");
    proto::RunCallableResponse response;
    size_t next = 0;
    decode_with_tensors(reply.body, kRunCallableFetch, false, response, [&](const std::string&, Tensor value) {
      if (next < results.size()) results[next] = std::move(value);
      ++next;
    });
    if (next != results.size()) {
      throw error(Code::Internal, "the server at {} gave {} values; {} were asked for", session_.address_, next,
                  results.size());
    }
  }

  ~GrpcCallable() override {
    if (session_.closed_ || !known_) return;
    proto::ReleaseCallableRequest request;
    request.set_session_handle(session_.handle_);
    request.set_handle(handle_);
    session_.channel_->begin(kMasterService + "ReleaseCallable", encode(request), {.deadline = deadline(kCloseTimeout)},
                             [](const Reply&) {});
  }

 private:
  GrpcSession& session_;
  const CallableSpec spec_;
  std::mutex mutex_;
  bool known_ = false;  // both guarded by mutex_
  int64_t handle_ = 0;
};

std::shared_ptr<RemoteSession::Callable> GrpcSession::make_callable(const CallableSpec& spec) {
  require_open();
  return std::make_shared<GrpcCallable>(*this, spec);
}

}  // namespace
}  // namespace distributed

std::unique_ptr<RemoteSession> connect_session(Graph& graph, const SessionOptions& options) {
  return std::make_unique<distributed::GrpcSession>(graph, options);
}

}  // namespace weir
