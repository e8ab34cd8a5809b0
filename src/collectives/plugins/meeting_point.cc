#include "collectives/plugins/meeting_point.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace weir::collectives {
namespace {

// A question: what is asked, then a key and a value, each with its length before it. The answer to Get is a value, to
// Leave an empty one when everybody has come.
enum class Question : uint32_t { Set = 1, Get = 2, Leave = 3 };
constexpr uint32_t kMaxBytes = 1 << 20;  // addresses are short: more is no rank of ours
constexpr int kMaxProcesses = 65536;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

void send_all(int socket, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail(std::string("rank 0 was lost: ") + std::strerror(errno));
    at += sent;
    bytes -= static_cast<size_t>(sent);
  }
}
void receive_all(int socket, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) fail("rank 0 has closed the connection");
    if (got < 0) fail(std::string("rank 0 does not answer: ") + std::strerror(errno));
    at += got;
    bytes -= static_cast<size_t>(got);
  }
}
void send_text(int socket, const void* data, size_t bytes) {
  const auto length = static_cast<uint32_t>(bytes);
  send_all(socket, &length, sizeof length);
  send_all(socket, data, bytes);
}
std::vector<char> receive_text(int socket) {
  uint32_t length = 0;
  receive_all(socket, &length, sizeof length);
  if (length > kMaxBytes) fail("a message is too long");
  std::vector<char> text(length);
  receive_all(socket, text.data(), length);
  return text;
}
void send_question(int socket, Question question, const std::string& key, const std::vector<char>& value) {
  send_all(socket, &question, sizeof question);
  send_text(socket, key.data(), key.size());
  send_text(socket, value.data(), value.size());
}

struct Addresses {
  addrinfo* first = nullptr;
  Addresses(const std::string& host, const std::string& port) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &first);
    if (code != 0) fail("there is no address for " + host + ":" + port + ": " + gai_strerror(code));
  }
  ~Addresses() { freeaddrinfo(first); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
};

void set_timeout(int socket, std::chrono::milliseconds timeout) {
  if (timeout.count() <= 0) return;
  timeval limit = {.tv_sec = timeout.count() / 1000, .tv_usec = (timeout.count() % 1000) * 1000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

MeetingPoint::MeetingPoint(const Options& options) : options_(options) {
  const size_t colon = options.address.rfind(':');
  if (colon == std::string::npos) fail("the address of rank 0 must be host:port, not '" + options.address + "'");
  const std::string host = options.address.substr(0, colon), port = options.address.substr(colon + 1);
  if (options.serves) {
    listen(host, port);
  } else {
    connect(host, port);
  }
}

MeetingPoint::~MeetingPoint() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (listener_ >= 0) ::shutdown(listener_, SHUT_RDWR);
  if (socket_ >= 0) ::close(socket_);
  if (server_.joinable()) server_.join();
  for (std::thread& answer : answers_) answer.join();
  if (listener_ >= 0) ::close(listener_);
}

void MeetingPoint::listen(const std::string& host, const std::string& port) {
  const Addresses addresses(host, port);
  std::string why = "no address";
  for (const addrinfo* at = addresses.first; at && listener_ < 0; at = at->ai_next) {
    const int made = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (made < 0) continue;
    const int on = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(made, at->ai_addr, at->ai_addrlen) == 0 && ::listen(made, 1024) == 0) {
      listener_ = made;
    } else {
      why = std::strerror(errno);
      ::close(made);
    }
  }
  if (listener_ < 0) fail("rank 0 cannot listen at " + options_.address + ": " + why);
  server_ = std::thread([this] { serve(); });
}

void MeetingPoint::connect(const std::string& host, const std::string& port) {
  const auto until = std::chrono::steady_clock::now() + options_.timeout;
  std::string why;
  for (;;) {
    try {
      const Addresses addresses(host, port);  // the name of a machine that is being started may come later, too
      for (const addrinfo* at = addresses.first; at; at = at->ai_next) {
        const int made = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (made < 0) continue;
        if (::connect(made, at->ai_addr, at->ai_addrlen) == 0) {
          set_timeout(made, options_.timeout);
          socket_ = made;
          return;
        }
        why = std::strerror(errno);
        ::close(made);
      }
    } catch (const std::exception& failure) {
      why = failure.what();
    }
    if (std::chrono::steady_clock::now() > until) fail("rank 0 is not at " + options_.address + ": " + why);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void MeetingPoint::serve() {
  for (;;) {
    const int came = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    std::lock_guard lock(mutex_);
    if (ends_) {
      if (came >= 0) ::close(came);
      return;
    }
    if (came < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    if (answers_.size() >= kMaxProcesses) {
      ::close(came);
      continue;
    }
    set_timeout(came, options_.timeout);
    answers_.emplace_back([this, came] { answer(came); });
  }
}

void MeetingPoint::answer(int socket) {
  try {
    for (;;) {
      Question question = {};
      receive_all(socket, &question, sizeof question);
      const std::vector<char> key_text = receive_text(socket), value = receive_text(socket);
      const std::string key(key_text.begin(), key_text.end());
      if (question == Question::Set) {
        set(key, value);
      } else if (question == Question::Get) {
        const std::vector<char> found = wait_for(key);
        send_text(socket, found.data(), found.size());
      } else {
        {
          std::unique_lock lock(mutex_);
          ++left_;
          changed_.notify_all();
          changed_.wait(lock, [this] { return ends_ || left_ >= options_.size; });
        }
        send_text(socket, "", 0);
        break;
      }
    }
  } catch (const std::exception&) {
    // Whoever asked is gone, or is none of ours; the others notice by themselves.
  }
  ::close(socket);
}

void MeetingPoint::set(const std::string& key, const std::vector<char>& data) {
  if (!options_.serves) return send_question(socket_, Question::Set, key, data);
  std::lock_guard lock(mutex_);
  values_[key] = data;
  changed_.notify_all();
}

std::vector<char> MeetingPoint::wait_for(const std::string& key) {
  std::unique_lock lock(mutex_);
  auto there = [&] { return ends_ || values_.contains(key); };
  if (options_.timeout.count() > 0) {
    if (!changed_.wait_for(lock, options_.timeout, there))
      fail("not all processes have come: '" + key + "' is missing");
  } else {
    changed_.wait(lock, there);
  }
  if (!values_.contains(key)) fail("the meeting point was closed");
  return values_[key];
}

std::vector<char> MeetingPoint::get(const std::string& key) {
  if (options_.serves) return wait_for(key);
  send_question(socket_, Question::Get, key, {});
  return receive_text(socket_);
}

void MeetingPoint::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) get(key);
}
void MeetingPoint::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) { wait(keys); }

void MeetingPoint::leave() {
  if (!options_.serves) {
    send_question(socket_, Question::Leave, "", {});
    receive_text(socket_);
    return;
  }
  std::unique_lock lock(mutex_);
  ++left_;
  changed_.notify_all();
  auto all = [this] { return left_ >= options_.size; };
  if (options_.timeout.count() > 0) {
    if (!changed_.wait_for(lock, options_.timeout, all)) fail("not all processes have found each other in time");
  } else {
    changed_.wait(lock, all);
  }
}

}  // namespace weir::collectives
