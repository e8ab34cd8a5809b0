#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "distributed/near/call_ends.h"
#include "distributed/near/names.h"
#include "distributed/near/near.h"

namespace weir::distributed {
namespace {

constexpr size_t kMostIdle = 32;
constexpr std::chrono::seconds kLookTimeout{10};
// Any method will do: who refuses it runs.
constexpr const char* kLook = "/weir.Status/Alive";

bool is_silent(const Reply& reply) { return reply.lost || reply.code == Code::DeadlineExceeded; }

// The server is this process's. Another one may follow it at its address.
class OwnChannel final : public Channel {
 public:
  OwnChannel(std::shared_ptr<OwnServer> server, std::shared_ptr<Channel> far, std::string token,
             std::function<void()> nowhere)
      : server_(std::move(server)), far_(std::move(far)), token_(std::move(token)), nowhere_(std::move(nowhere)) {}

  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    far_->begin(method, std::move(request), options, std::move(done));
  }
  Reply call(std::string_view method, Message request, const CallOptions& options) override {
    if (auto reply = server_->call(method, request, token_, options)) return std::move(*reply);
    if (!leads_nowhere_.exchange(true) && nowhere_) nowhere_();
    return far_->call(method, std::move(request), options);
  }

 private:
  const std::shared_ptr<OwnServer> server_;
  const std::shared_ptr<Channel> far_;
  const std::string token_;
  const std::function<void()> nowhere_;
  std::atomic<bool> leads_nowhere_ = false;
};

class NearChannel final : public Channel, public std::enable_shared_from_this<NearChannel> {
 public:
  NearChannel(std::string name, std::shared_ptr<Channel> far, const ConnectOptions& options,
              std::function<void()> nowhere)
      : name_(std::move(name)),
        far_(std::move(far)),
        nowhere_(std::move(nowhere)),
        token_(options.credentials.token),
        most_bytes_(options.max_message_bytes > 0 ? options.max_message_bytes : INT32_MAX) {}

  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    auto connection = take();
    if (!connection) return far_->begin(method, std::move(request), options, std::move(done));
    auto begun = std::make_shared<NearCallEnds::Begun>();
    NearCall& call = begun->call;
    call.connection = std::move(connection);
    call.deadline = options.deadline;
    call.end_on(options.stop);
    begun->ended = [self = shared_from_this(), done = std::move(done)](
                       NearCallEnds::Begun& ended, FrameReader::State state) { done(self->finish(ended.call, state)); };
    if (!write(call, method, request)) {
      begun->ended(*begun, FrameReader::State::Ended);
      return;
    }
    begun->look = [far = far_](uint64_t id) {
      far->begin(kLook, {}, {.deadline = std::chrono::steady_clock::now() + kLookTimeout}, [id](const Reply& reply) {
        if (is_silent(reply)) NearCallEnds::instance().silent(id);
      });
    };
    NearCallEnds::instance().add(std::move(begun));
  }

  Reply call(std::string_view method, Message request, const CallOptions& options) override {
    auto connection = take();
    if (!connection) return far_->call(method, std::move(request), options);
    NearCall call;
    call.connection = std::move(connection);
    call.deadline = options.deadline;
    call.end_on(options.stop);
    const FrameReader::State state = write(call, method, request) ? wait(call, options) : FrameReader::State::Ended;
    return finish(call, state);
  }

 private:
  // A connection that nobody uses; null when there is none to be had.
  std::unique_ptr<NearConnection> take() {
    while (true) {
      std::unique_ptr<NearConnection> connection;
      {
        std::lock_guard lock(mutex_);
        if (leads_nowhere_) return nullptr;
        if (idle_.empty()) break;
        connection = std::move(idle_.back());
        idle_.pop_back();
      }
      char byte = 0;
      // Nothing may have come on it, its end in particular.
      if (recv(connection->socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) return connection;
    }
    Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    socklen_t size = 0;
    const sockaddr_un address = near_address(name_, size);
    if (socket && connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
        is_same_user(socket)) {
      return std::make_unique<NearConnection>(std::move(socket), most_bytes_);
    }
    if (errno == EAGAIN) return nullptr;  // many connect just now
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(leads_nowhere_, true)) return nullptr;
    }
    if (nowhere_) nowhere_();
    return nullptr;
  }

  bool write(NearCall& call, std::string_view method, const Message& request) const {
    FrameHead head;
    if (call.deadline != kNoDeadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::microseconds>(call.deadline - std::chrono::steady_clock::now());
      head.timeout_us = std::max<int64_t>(left.count(), 0);
    }
    const bool written = write_frame(call.connection->socket, head, method, token_, request, call.deadline);
    if (!written && call.deadline <= std::chrono::steady_clock::now()) call.end(NearCall::Why::Late);
    return written;
  }

  FrameReader::State wait(NearCall& call, const CallOptions& options) const {
    NearConnection& connection = *call.connection;
    Deadline look = std::chrono::steady_clock::now() + kSilence;
    while (true) {
      const Deadline until = std::min(call.deadline, look);
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd wanted{.fd = connection.socket.fd(), .events = POLLIN, .revents = 0};
      const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count() + 1, 0)));
      if (ready > 0) {
        const FrameReader::State state = connection.reader.advance(connection.socket);
        if (state != FrameReader::State::More) return state;
        look = std::chrono::steady_clock::now() + kSilence;
      } else if (std::chrono::steady_clock::now() >= call.deadline) {
        call.end(NearCall::Why::Late);
        return FrameReader::State::Ended;
      } else if (std::chrono::steady_clock::now() >= look) {
        const Deadline end = std::min(call.deadline, std::chrono::steady_clock::now() + kLookTimeout);
        const Reply reply = far_->call(kLook, {}, {.deadline = end, .stop = options.stop});
        if (is_silent(reply)) call.end(NearCall::Why::Silent);
        look = std::chrono::steady_clock::now() + kSilence;
      }
    }
  }

  // The connection can be used again unless something other than the answer has ended the call.
  Reply finish(NearCall& call, FrameReader::State state) {
    Reply reply = call.reply(state);
    if (state != FrameReader::State::Whole || call.why != NearCall::Why::None) return reply;
    std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(call.connection));
    return reply;
  }

  const std::string name_;
  const std::shared_ptr<Channel> far_;
  const std::function<void()> nowhere_;
  const std::string token_;
  const size_t most_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NearConnection>> idle_;  // both guarded by mutex_
  bool leads_nowhere_ = false;
};

}  // namespace

std::shared_ptr<Channel> connect_near_socket(const std::string& name, std::shared_ptr<Channel> far,
                                             const ConnectOptions& options, std::function<void()> nowhere) {
  return std::make_shared<NearChannel>(name, std::move(far), options, std::move(nowhere));
}

std::shared_ptr<Channel> connect_near(const std::string& name, std::shared_ptr<Channel> far,
                                      const ConnectOptions& options, std::function<void()> nowhere) {
  if (auto own = find_own_server(name))
    return std::make_shared<OwnChannel>(std::move(own), std::move(far), options.credentials.token, std::move(nowhere));
  return connect_near_socket(name, std::move(far), options, std::move(nowhere));
}

}  // namespace weir::distributed
