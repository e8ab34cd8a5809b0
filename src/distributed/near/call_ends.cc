#include "distributed/near/call_ends.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace weir::distributed {
namespace {

constexpr int kThreads = 2;
constexpr std::chrono::seconds kLookInterval{1};
constexpr uint64_t kWake = 0;

}  // namespace

Reply NearCall::reply(FrameReader::State state) {
  on_stop.reset();  // waits for it, if it runs just now
  if (state == FrameReader::State::Whole) {
    Frame frame = connection->reader.take();
    return {.code = static_cast<Code>(frame.head.code),
            .error = std::move(frame.first),
            .details = std::move(frame.second),
            .body = std::move(frame.body)};
  }
  switch (why) {
    case Why::Stopped:
      return {.code = Code::Cancelled, .error = "CANCELLED"};
    case Why::Late:
      return {.code = Code::DeadlineExceeded, .error = "Deadline Exceeded"};
    case Why::Silent:
      return {.code = Code::Unavailable, .error = "it does not answer any more", .lost = true};
    case Why::None:
      break;
  }
  return {.code = Code::Unavailable, .error = "the connection has ended", .lost = true};
}

NearCallEnds& NearCallEnds::instance() {
  static auto* ends = new NearCallEnds;  // as long as the process: calls may be under way when it ends
  return *ends;
}

NearCallEnds::NearCallEnds()
    : events_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      next_look_(std::chrono::steady_clock::now() + kLookInterval) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kWake;
  epoll_ctl(events_.fd(), EPOLL_CTL_ADD, wake_.fd(), &event);
  for (int i = 0; i < kThreads; ++i) std::thread([this] { serve(); }).detach();
}

void NearCallEnds::add(std::shared_ptr<Begun> begun) {
  NearConnection& connection = *begun->call.connection;
  begun->call.next_look = std::chrono::steady_clock::now() + kSilence;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  bool hurry = false;
  {
    std::lock_guard lock(mutex_);
    const uint64_t id = next_id_++;
    event.data.u64 = id;
    hurry = begun->call.deadline < next_look_;
    calls_.emplace(id, std::move(begun));
    // With the lock: the call may end, and its connection be used again, as soon as it is watched.
    const int operation = std::exchange(connection.is_watched, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    epoll_ctl(events_.fd(), operation, connection.socket.fd(), &event);
  }
  if (!hurry) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.fd(), &one, sizeof(one));
}

void NearCallEnds::silent(uint64_t id) {
  std::lock_guard lock(mutex_);
  auto found = calls_.find(id);
  if (found != calls_.end()) found->second->call.end(NearCall::Why::Silent);
}

void NearCallEnds::serve() {
  while (true) {
    int wait_ms = 0;
    {
      std::lock_guard lock(mutex_);
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(next_look_ - std::chrono::steady_clock::now());
      wait_ms = static_cast<int>(std::clamp<int64_t>(left.count() + 1, 0, 60'000));
    }
    epoll_event event{};
    const int ready = epoll_wait(events_.fd(), &event, 1, wait_ms);
    if (ready > 0 && event.data.u64 != kWake) {
      finish(event.data.u64);
    } else {
      look_after();
    }
  }
}

void NearCallEnds::finish(uint64_t id) {
  std::shared_ptr<Begun> begun;
  {
    std::lock_guard lock(mutex_);
    auto found = calls_.find(id);
    if (found == calls_.end()) return;
    begun = found->second;
  }
  // Nobody else has the call: its socket is watched for one event.
  NearConnection& connection = *begun->call.connection;
  const FrameReader::State state = connection.reader.advance(connection.socket);
  std::unique_lock lock(mutex_);
  if (state == FrameReader::State::More) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
    event.data.u64 = id;
    epoll_ctl(events_.fd(), EPOLL_CTL_MOD, connection.socket.fd(), &event);
    return;
  }
  calls_.erase(id);
  lock.unlock();
  begun->ended(*begun, state);
}

// Ends what is late, and asks about servers that have been silent for long.
void NearCallEnds::look_after() {
  std::vector<std::pair<uint64_t, std::shared_ptr<Begun>>> silent;
  {
    std::lock_guard lock(mutex_);
    const Deadline now = std::chrono::steady_clock::now();
    next_look_ = now + kLookInterval;
    for (auto& [id, begun] : calls_) {
      NearCall& call = begun->call;
      if (call.deadline <= now) {
        call.end(NearCall::Why::Late);
        continue;
      }
      next_look_ = std::min(next_look_, call.deadline);
      if (call.next_look > now) continue;
      call.next_look = now + kSilence;
      silent.emplace_back(id, begun);
    }
  }
  for (const auto& [id, begun] : silent) begun->look(id);
}

}  // namespace weir::distributed
