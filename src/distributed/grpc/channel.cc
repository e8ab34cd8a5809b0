#include "distributed/grpc/channel.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <optional>

#include "distributed/grpc/buffers.h"
#include "distributed/grpc/credentials.h"

namespace weir::distributed {
namespace {

constexpr int kEndThreads = 2;
constexpr int kKeepAliveMs = 10'000, kKeepAliveTimeoutMs = 10'000;
constexpr int kMaxReconnectMs = 1'000;
// How long a try to connect may take: a server that has much to do is slow to greet.
constexpr int kConnectMs = 10'000;
constexpr size_t kMostIdleQueues = 16;

// One call. It lives until its answer is there.
struct Call {
  grpc::ClientContext context = {};
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader = {};
  grpc::ByteBuffer body = {};
  grpc::Status status = {};
  std::function<void(Reply)> done = {};
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};

  Call(const CallOptions& options, const std::string& token) {
    if (options.deadline != kNoDeadline) {
      const auto left = options.deadline - std::chrono::steady_clock::now();
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::duration_cast<std::chrono::system_clock::duration>(left));
    }
    context.set_wait_for_ready(options.wait_for_ready);
    if (!token.empty()) context.AddMetadata(kTokenHeader, std::string(kTokenPrefix) + token);
  }

  void start(grpc::GenericStub& stub, std::string_view method, const Message& request, const CallOptions& options,
             grpc::CompletionQueue& queue) {
    reader = stub.PrepareUnaryCall(&context, std::string(method), to_buffer(request), &queue);
    reader->StartCall();
    if (options.stop.stop_possible()) on_stop.emplace(options.stop, [this] { context.TryCancel(); });
    reader->Finish(&body, &status, this);
  }

  Reply reply() {
    on_stop.reset();
    Reply reply;
    reply.code = static_cast<Code>(status.error_code());
    if (status.ok()) {
      reply.body = to_message(body);
      return reply;
    }
    reply.error = status.error_message();
    reply.details = status.error_details();
    // What Weir's servers say has details, what gRPC says by itself has none.
    reply.lost = status.error_code() == grpc::StatusCode::UNAVAILABLE && reply.details.empty();
    return reply;
  }
};

class GrpcChannel final : public Channel {
 public:
  GrpcChannel(const std::string& address, const ConnectOptions& options, std::shared_ptr<CallEnds> ends)
      : ends_(std::move(ends)), token_(options.credentials.token), stub_(connect(address, options)) {}

  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    auto* call = new Call(options, token_);
    call->done = std::move(done);
    call->start(stub_, method, request, options, ends_->queue());
  }

  Reply call(std::string_view method, Message request, const CallOptions& options) override {
    std::unique_ptr<grpc::CompletionQueue> queue = ends_->take();
    Reply reply;
    {
      Call call(options, token_);
      call.start(stub_, method, request, options, *queue);
      void* tag = nullptr;
      bool ok = false;
      queue->Next(&tag, &ok);
      reply = call.reply();
    }
    ends_->give_back(std::move(queue));
    return reply;
  }

 private:
  static std::shared_ptr<grpc::Channel> connect(const std::string& address, const ConnectOptions& options) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(options.max_message_bytes > 0 && options.max_message_bytes < INT32_MAX
                                           ? static_cast<int>(options.max_message_bytes)
                                           : INT32_MAX);
    arguments.SetMaxSendMessageSize(INT32_MAX);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // a step must not run twice
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // large values of others do not stand in the way
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    if (options.keep_alive) {
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMs);
      arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepAliveTimeoutMs);
      arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    }
    return grpc::CreateCustomChannel(address, channel_credentials(options.credentials), arguments);
  }

  const std::shared_ptr<CallEnds> ends_;
  const std::string token_;
  grpc::GenericStub stub_;
};

}  // namespace

CallEnds::CallEnds() {
  for (int i = 0; i < kEndThreads; ++i) threads_.emplace_back([this] { serve(); });
}

CallEnds::~CallEnds() {
  queue_.Shutdown();
  for (std::thread& thread : threads_) thread.join();
}

void CallEnds::serve() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    std::unique_ptr<Call> call(static_cast<Call*>(tag));
    std::function<void(Reply)> done = std::move(call->done);
    Reply reply = call->reply();
    call.reset();
    done(std::move(reply));
  }
}

std::unique_ptr<grpc::CompletionQueue> CallEnds::take() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto queue = std::move(idle_.back());
      idle_.pop_back();
      return queue;
    }
  }
  return std::make_unique<grpc::CompletionQueue>();
}

void CallEnds::give_back(std::unique_ptr<grpc::CompletionQueue> queue) {
  {
    std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdleQueues) {
      idle_.push_back(std::move(queue));
      return;
    }
  }
  queue->Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
  }
}

std::shared_ptr<Channel> make_grpc_channel(const std::string& address, const ConnectOptions& options,
                                           std::shared_ptr<CallEnds> ends) {
  return std::make_shared<GrpcChannel>(address, options, std::move(ends));
}

}  // namespace weir::distributed
