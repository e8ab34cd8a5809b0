#include "distributed/grpc/listener.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "distributed/grpc/buffers.h"
#include "distributed/grpc/credentials.h"

namespace weir::distributed {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kIdleThreads = 4;
constexpr int kSmallestPingIntervalMs = 5'000;
constexpr size_t kMostErrorBytes = 4'096;  // of a status; gRPC's limit on headers is 8 KB

class GrpcListener;

// What a tag of the completion queue does when its event has come.
struct Event {
  virtual void happened(bool ok) = 0;

 protected:
  ~Event() = default;
};

// One call, from before it has come until its answer is on its way. It keeps itself alive while gRPC holds one of its
// events.
class GrpcCall final : public std::enable_shared_from_this<GrpcCall> {
 public:
  explicit GrpcCall(GrpcListener& listener) : listener_(listener), stream_(&context_) {}

  void request(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue) {
    self_ = shared_from_this();
    ended_.self = self_;
    context_.AsyncNotifyWhenDone(&ended_);
    service.RequestCall(&context_, &stream_, &queue, &queue, &arrived_);
  }

  std::string_view method() const { return context_.method(); }
  const Message& request() const { return message_; }
  std::string peer() const { return context_.peer(); }
  std::string token() const {
    const auto& headers = context_.client_metadata();
    auto found = headers.find(kTokenHeader);
    if (found == headers.end()) return {};
    const std::string_view value(found->second.data(), found->second.size());
    return value.starts_with(kTokenPrefix) ? std::string(value.substr(kTokenPrefix.size())) : std::string();
  }
  std::stop_token stop() const { return gone_.get_token(); }
  Deadline deadline() const {
    const auto at = context_.deadline();
    if (at == std::chrono::system_clock::time_point::max()) return kNoDeadline;
    const auto left = at - std::chrono::system_clock::now();
    if (left > std::chrono::hours(24 * 365)) return kNoDeadline;
    return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(left);
  }

  void answer(Message body) {
    if (answered_.exchange(true)) return;
    written_.self = shared_from_this();
    stream_.WriteAndFinish(to_buffer(body), grpc::WriteOptions(), grpc::Status::OK, &written_);
  }
  void fail(Code code, const std::string& message, const std::string& details) {
    if (answered_.exchange(true)) return;
    written_.self = shared_from_this();
    std::string text = message;
    if (text.size() > kMostErrorBytes) text = text.substr(0, kMostErrorBytes) + "...";
    // Details tell what a server says from what gRPC says by itself.
    stream_.Finish(grpc::Status(static_cast<grpc::StatusCode>(code), text, details.empty() ? "weir" : details),
                   &written_);
  }

 private:
  struct Arrived final : Event {
    explicit Arrived(GrpcCall& c) : call(c) {}
    void happened(bool ok) override { call.arrived(ok); }
    GrpcCall& call;
  };
  struct Received final : Event {
    explicit Received(GrpcCall& c) : call(c) {}
    void happened(bool ok) override { call.received(ok); }
    GrpcCall& call;
  };
  struct Ended final : Event {
    explicit Ended(GrpcCall& c) : call(c) {}
    void happened(bool) override {
      std::shared_ptr<GrpcCall> kept = std::move(self);
      if (call.context_.IsCancelled()) call.gone_.request_stop();
    }
    GrpcCall& call;
    std::shared_ptr<GrpcCall> self = {};
  };
  struct Written final : Event {
    explicit Written(GrpcCall& c) : call(c) {}
    void happened(bool) override;
    GrpcCall& call;
    std::shared_ptr<GrpcCall> self = {};
  };

  void arrived(bool ok);
  void received(bool ok);

  GrpcListener& listener_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  grpc::ByteBuffer buffer_;
  Message message_;
  std::stop_source gone_;
  std::atomic<bool> answered_ = false;
  std::shared_ptr<GrpcCall> self_;  // until it was received
  Arrived arrived_{*this};
  Received received_{*this};
  Ended ended_{*this};
  Written written_{*this};
};

// A call as its handler sees it.
class GrpcIncoming final : public Incoming {
 public:
  explicit GrpcIncoming(std::shared_ptr<GrpcCall> call) : call_(std::move(call)) {}
  ~GrpcIncoming() override { call_->fail(Code::Internal, "the call was dropped without an answer", {}); }
  GrpcIncoming(const GrpcIncoming&) = delete;
  GrpcIncoming& operator=(const GrpcIncoming&) = delete;

  std::string_view method() const override { return call_->method(); }
  const Message& request() const override { return call_->request(); }
  std::string peer() const override { return call_->peer(); }
  std::string token() const override { return call_->token(); }
  std::stop_token stop() const override { return call_->stop(); }
  Deadline deadline() const override { return call_->deadline(); }
  void answer(Message body) override { call_->answer(std::move(body)); }
  void fail(Code code, const std::string& message, const std::string& details) override {
    call_->fail(code, message, details);
  }

 private:
  const std::shared_ptr<GrpcCall> call_;
};

class GrpcListener final : public Listener {
 public:
  GrpcListener(const ListenOptions& options, Handler handler) : handler_(std::move(handler)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options.address, server_credentials(options.credentials), &port_);
    builder.RegisterAsyncGenericService(&service_);
    const size_t most = options.max_message_bytes;
    builder.SetMaxReceiveMessageSize(most > 0 && most < INT32_MAX ? static_cast<int>(most) : INT32_MAX);
    builder.SetMaxSendMessageSize(INT32_MAX);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kSmallestPingIntervalMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    // A client that is gone without a word is noticed.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      throw Error(Code::Unavailable,
                  "cannot listen at '" + options.address + "': the address is in use or not this machine's");
    }
    expect();
    std::lock_guard lock(mutex_);
    for (int i = 0; i < 2; ++i) add_thread();
  }
  ~GrpcListener() override { close(); }

  int port() const override { return port_; }

  void close() override {
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(closing_, true)) return;
    }
    // Calls that wait are cancelled at once; whoever handles them answers, which nobody reads any more.
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return handling_ == 0 && open_ == 0; });
    queue_->Shutdown();
    changed_.wait(lock, [&] { return threads_ == 0; });
  }

  // Lets the next call come.
  void expect() {
    std::lock_guard lock(mutex_);
    if (closing_) return;
    ++open_;
    std::make_shared<GrpcCall>(*this)->request(service_, *queue_);
  }
  void closed() {
    std::lock_guard lock(mutex_);
    if (--open_ == 0) changed_.notify_all();
  }

  // Runs the handler in this thread, while another one looks after the queue.
  void handle(const std::shared_ptr<GrpcCall>& call) {
    bool is_looked_after = true;
    {
      std::lock_guard lock(mutex_);
      ++handling_;
      if (polling_ == 0 && threads_ < kMostThreads) add_thread();
      is_looked_after = polling_ > 0;
    }
    try {
      // The last thread must not wait: nobody would see the call that it waits for.
      if (!is_looked_after) throw Error(Code::ResourceExhausted, "the server has no thread left to answer this call");
      handler_(std::make_shared<GrpcIncoming>(call));
    } catch (const Error& e) {
      call->fail(e.code(), e.what(), {});
    } catch (const std::exception& e) {
      call->fail(Code::Internal, e.what(), {});
    }
    std::lock_guard lock(mutex_);
    if (--handling_ == 0) changed_.notify_all();
  }

 private:
  // REQUIRES: mutex_ is held.
  void add_thread() {
    ++threads_;
    ++polling_;
    std::thread([this] { serve(); }).detach();
  }

  void serve() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
      {
        std::lock_guard lock(mutex_);
        --polling_;
      }
      static_cast<Event*>(tag)->happened(ok);
      std::lock_guard lock(mutex_);
      if (polling_ >= kIdleThreads && !closing_) {
        if (--threads_ == 0) changed_.notify_all();
        return;
      }
      ++polling_;
    }
    std::lock_guard lock(mutex_);
    --polling_;
    if (--threads_ == 0) changed_.notify_all();
  }

  const Handler handler_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  bool closing_ = false;
  int threads_ = 0, polling_ = 0, handling_ = 0;
  // Calls that may come or have come, and whose answers are not on their way yet. While there is one the queue must
  // stay: gRPC ends the process when something is begun on a queue that is shut down.
  int open_ = 0;
};

void GrpcCall::arrived(bool ok) {
  if (!ok) {  // the listener closes: this call never came, and gRPC says nothing about its end
    ended_.self.reset();
    const std::shared_ptr<GrpcCall> kept = std::move(self_);
    listener_.closed();
    return;
  }
  listener_.expect();
  stream_.Read(&buffer_, &received_);
}

void GrpcCall::Written::happened(bool) {
  std::shared_ptr<GrpcCall> kept = std::move(self);
  kept->listener_.closed();
}

void GrpcCall::received(bool ok) {
  std::shared_ptr<GrpcCall> kept = std::move(self_);
  if (!ok) {
    fail(Code::InvalidArgument, "the call came without a message", {});
    return;
  }
  message_ = to_message(buffer_);
  buffer_.Clear();
  listener_.handle(kept);
}

}  // namespace

std::unique_ptr<Listener> listen_on_grpc(const ListenOptions& options, Handler handler) {
  return std::make_unique<GrpcListener>(options, std::move(handler));
}

}  // namespace weir::distributed
