#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "base/errors.h"
#include "distributed/near/frame.h"
#include "distributed/near/near.h"
#include "distributed/near/own_server.h"

namespace weir::distributed {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kIdleThreads = 4;
constexpr uint64_t kNewConnection = 0, kEnd = 1, kFirstConnection = 2;  // what events are about

std::string random_name() {
  std::random_device source;
  return fmt::format("weir-{}-{:08x}{:08x}{:08x}{:08x}", getpid(), source(), source(), source(), source());
}

class SocketListener;

// One client. It asks, and waits for the answer, before it asks again. Thread-safe.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, uint64_t id, size_t most_bytes, SocketListener& listener)
      : socket_(std::move(socket)), id_(id), reader_(most_bytes), listener_(listener) {}

  const Socket& socket() const { return socket_; }
  uint64_t id() const { return id_; }
  // The socket has something to read, or has ended. The frame of a call that has come whole, in `call`. False: it is
  // over.
  bool happened(uint32_t events, std::optional<Frame>& call);
  std::stop_token stop() const { return gone_.get_token(); }
  void answer(Code code, const std::string& error, const std::string& details, const Message& body);
  void end();

 private:
  const Socket socket_;
  const uint64_t id_;
  std::mutex mutex_;
  FrameReader reader_;         // all guarded by mutex_
  bool is_answering_ = false;  // a call has come and has no answer yet
  bool ended_ = false;
  std::stop_source gone_;
  SocketListener& listener_;
};

// A call as its handler sees it.
class NearIncoming final : public Incoming {
 public:
  NearIncoming(std::shared_ptr<Connection> connection, Frame frame)
      : connection_(std::move(connection)), frame_(std::move(frame)), deadline_(deadline_of(frame_.head)) {}
  ~NearIncoming() override { fail(Code::Internal, "the call was dropped without an answer", {}); }
  NearIncoming(const NearIncoming&) = delete;
  NearIncoming& operator=(const NearIncoming&) = delete;

  std::string_view method() const override { return frame_.first; }
  const Message& request() const override { return frame_.body; }
  std::string peer() const override { return "this machine"; }
  std::string token() const override { return frame_.second; }
  std::stop_token stop() const override { return connection_->stop(); }
  Deadline deadline() const override { return deadline_; }
  void answer(Message body) override {
    if (!answered_.exchange(true)) connection_->answer(Code::Ok, {}, {}, body);
  }
  void fail(Code code, const std::string& message, const std::string& details) override {
    if (!answered_.exchange(true)) connection_->answer(code, message, details, {});
  }

 private:
  static Deadline deadline_of(const FrameHead& head) {
    constexpr int64_t kYear = int64_t{365} * 24 * 3600 * 1'000'000;
    if (head.timeout_us < 0 || head.timeout_us > kYear) return kNoDeadline;
    return std::chrono::steady_clock::now() + std::chrono::microseconds(head.timeout_us);
  }

  const std::shared_ptr<Connection> connection_;
  const Frame frame_;
  const Deadline deadline_;
  std::atomic<bool> answered_ = false;
};

class SocketListener final : public NearListener {
 public:
  SocketListener(Handler handler, size_t most_bytes)
      : handler_(std::move(handler)),
        most_bytes_(most_bytes),
        name_(random_name()),
        own_(std::make_shared<OwnServerCalls>(handler_)) {}
  ~SocketListener() override { close(); }

  // False: the system refuses.
  bool open() {
    socket_ = Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    events_ = Socket(epoll_create1(EPOLL_CLOEXEC));
    ending_ = Socket(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!socket_ || !events_ || !ending_) return false;
    socklen_t size = 0;
    const sockaddr_un address = near_address(name_, size);
    constexpr int kWaitingConnections = 512;
    if (bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        listen(socket_.fd(), kWaitingConnections) != 0) {
      return false;
    }
    if (!watch(EPOLL_CTL_ADD, socket_, kNewConnection, EPOLLIN) || !watch(EPOLL_CTL_ADD, ending_, kEnd, EPOLLIN))
      return false;
    add_own_server(name_, own_);
    std::lock_guard lock(mutex_);
    for (int i = 0; i < 2; ++i) add_thread();
    return true;
  }

  const std::string& name() const override { return name_; }

  void close() override {
    remove_own_server(name_);
    std::map<uint64_t, std::shared_ptr<Connection>> connections;
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(closing_, true)) return;
      connections.swap(connections_);
    }
    for (const auto& [id, connection] : connections) connection->end();
    own_->close();
    if (ending_) {
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(ending_.fd(), &one, sizeof(one));
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return threads_ == 0; });
  }

  // What the next event of a connection may be: its end alone, or a call too.
  void expect(const Connection& connection, bool call) {
    const uint32_t events = EPOLLRDHUP | EPOLLONESHOT | (call ? static_cast<uint32_t>(EPOLLIN) : 0U);
    watch(EPOLL_CTL_MOD, connection.socket(), connection.id(), events);
  }

 private:
  bool watch(int operation, const Socket& socket, uint64_t id, uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    return epoll_ctl(events_.fd(), operation, socket.fd(), &event) == 0;
  }

  // REQUIRES: mutex_ is held.
  void add_thread() {
    ++threads_;
    ++polling_;
    std::thread([this] { serve(); }).detach();
  }

  void serve() {
    while (true) {
      epoll_event event{};
      const int ready = epoll_wait(events_.fd(), &event, 1, -1);
      if (ready < 0 && errno != EINTR) break;
      if (ready <= 0) continue;
      if (event.data.u64 == kEnd) break;
      if (event.data.u64 == kNewConnection) {
        accept_all();
        continue;
      }
      if (!handle(event.data.u64, event.events)) return;
    }
    std::lock_guard lock(mutex_);
    --polling_;
    if (--threads_ == 0) changed_.notify_all();
  }

  void accept_all() {
    while (true) {
      Socket socket(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        // No descriptor is left: who waits is still there when one is.
        if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return;
      }
      if (!is_same_user(socket)) continue;
      std::lock_guard lock(mutex_);
      if (closing_) return;
      const uint64_t id = next_id_++;
      auto connection = std::make_shared<Connection>(std::move(socket), id, most_bytes_, *this);
      connections_.emplace(id, connection);
      watch(EPOLL_CTL_ADD, connection->socket(), id, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT);
    }
  }

  // False: this thread is one too many, and has ended.
  bool handle(uint64_t id, uint32_t events) {
    std::shared_ptr<Connection> connection;
    bool is_looked_after = true;
    {
      std::lock_guard lock(mutex_);
      auto found = connections_.find(id);
      if (found == connections_.end()) return true;
      connection = found->second;
      --polling_;
      // The handler runs in this thread, while another one looks after the sockets.
      if (polling_ == 0 && threads_ < kMostThreads) add_thread();
      is_looked_after = polling_ > 0;
    }
    std::optional<Frame> call;
    const bool is_over = !connection->happened(events, call);
    if (call) answer(connection, std::move(*call), is_looked_after);
    std::lock_guard lock(mutex_);
    if (is_over) connections_.erase(id);
    if (polling_ >= kIdleThreads && !closing_) {
      if (--threads_ == 0) changed_.notify_all();
      return false;
    }
    ++polling_;
    return true;
  }

  void answer(const std::shared_ptr<Connection>& connection, Frame frame, bool is_looked_after) {
    auto call = std::make_shared<NearIncoming>(connection, std::move(frame));
    try {
      // The last thread must not wait: nobody would see the call that it waits for.
      if (!is_looked_after) throw Error(Code::ResourceExhausted, "the server has no thread left to answer this call");
      handler_(call);
    } catch (const Error& e) {
      call->fail(e.code(), e.what(), {});
    } catch (const std::exception& e) {
      call->fail(Code::Internal, e.what(), {});
    }
  }

  const Handler handler_;
  const size_t most_bytes_;
  const std::string name_;
  const std::shared_ptr<OwnServerCalls> own_;
  Socket socket_, events_, ending_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_:
  std::map<uint64_t, std::shared_ptr<Connection>> connections_;
  uint64_t next_id_ = kFirstConnection;
  bool closing_ = false;
  int threads_ = 0, polling_ = 0;
};

bool Connection::happened(uint32_t events, std::optional<Frame>& call) {
  std::unique_lock lock(mutex_);
  if (ended_) return false;
  if (is_answering_) {
    // Whoever has asked reads only: what comes is the end.
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) {
      listener_.expect(*this, false);
      return true;
    }
    ended_ = true;
  } else {
    switch (reader_.advance(socket_)) {
      case FrameReader::State::More:
        listener_.expect(*this, true);
        return true;
      case FrameReader::State::Whole:
        call = reader_.take();
        is_answering_ = true;
        listener_.expect(*this, false);
        return true;
      case FrameReader::State::Ended:
        ended_ = true;
    }
  }
  lock.unlock();
  gone_.request_stop();
  return false;
}

void Connection::answer(Code code, const std::string& error, const std::string& details, const Message& body) {
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  const bool written = write_frame(socket_, {.code = static_cast<int32_t>(code)}, error, details, body, kNoDeadline);
  std::lock_guard lock(mutex_);
  is_answering_ = false;
  if (ended_) return;
  if (!written) socket_.end();
  listener_.expect(*this, true);
}

void Connection::end() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  socket_.end();
  gone_.request_stop();
}

}  // namespace

std::unique_ptr<NearListener> listen_near(Handler handler, size_t max_message_bytes) {
  constexpr size_t kMost = INT32_MAX;
  auto listener = std::make_unique<SocketListener>(std::move(handler),
                                                   max_message_bytes > 0 ? std::min(max_message_bytes, kMost) : kMost);
  if (!listener->open()) return nullptr;
  return listener;
}

}  // namespace weir::distributed
