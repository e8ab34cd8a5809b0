#include "distributed/near/frame.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace weir::distributed {
namespace {

constexpr std::chrono::seconds kPatience{20};  // with who reads nothing
constexpr size_t kMostTextBytes = 1 << 20;
constexpr size_t kMostPieces = 256;  // of one system call

bool wait_until_writable(const Socket& socket, Deadline deadline) {
  const Deadline end = std::min(deadline, std::chrono::steady_clock::now() + kPatience);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wanted{.fd = socket.fd(), .events = POLLOUT, .revents = 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0) return (wanted.revents & POLLOUT) != 0;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Takes what was written off the front.
void advance(std::span<iovec>& pieces, size_t written) {
  while (!pieces.empty() && written >= pieces.front().iov_len) {
    written -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (pieces.empty()) return;
  pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + written;
  pieces.front().iov_len -= written;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

void Socket::end() const { shutdown(fd_, SHUT_RDWR); }

bool write_frame(const Socket& socket, FrameHead head, std::string_view first, std::string_view second,
                 const Message& body, Deadline deadline) {
  head.first = static_cast<uint32_t>(first.size());
  head.second = static_cast<uint32_t>(second.size());
  head.body = body.size();
  std::vector<iovec> list;
  list.reserve(3 + body.pieces().size());
  auto add = [&](const void* data, size_t size) {
    if (size > 0) list.push_back({const_cast<void*>(data), size});
  };
  add(&head, sizeof(head));
  add(first.data(), first.size());
  add(second.data(), second.size());
  for (const Message::Piece& piece : body.pieces()) add(piece.data, piece.size);
  std::span<iovec> left(list);
  while (!left.empty()) {
    msghdr message{};
    message.msg_iov = left.data();
    message.msg_iovlen = std::min(left.size(), kMostPieces);
    const ssize_t written = sendmsg(socket.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written >= 0) {
      advance(left, static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_until_writable(socket, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

FrameReader::State FrameReader::advance(const Socket& socket) {
  while (!has_head_) {
    const ssize_t got = recv(socket.fd(), start_ + started_, sizeof(start_) - started_, MSG_DONTWAIT);
    if (got == 0) return State::Ended;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? State::More : State::Ended;
    }
    started_ += static_cast<size_t>(got);
    if (started_ < sizeof(FrameHead)) continue;
    if (take_head() == State::Ended) return State::Ended;
  }
  return read_rest(socket);
}

FrameReader::State FrameReader::take_head() {
  std::memcpy(&head_, start_, sizeof(head_));
  const size_t texts = size_t{head_.first} + head_.second;
  if (head_.magic != FrameHead::kMagic || texts > kMostTextBytes || head_.body > most_) return State::Ended;
  const size_t rest = started_ - sizeof(head_);
  if (rest > texts + head_.body) return State::Ended;  // nobody may begin a call before the last one is answered
  texts_.resize(texts);
  body_size_ = head_.body;
  body_ = body_size_ > 0 ? std::make_shared_for_overwrite<char[]>(body_size_) : nullptr;
  got_ = 0;
  has_head_ = true;
  put(start_ + sizeof(head_), rest);
  return State::More;
}

void FrameReader::put(const char* data, size_t size) {
  const size_t text = got_ < texts_.size() ? std::min(size, texts_.size() - got_) : 0;
  if (text > 0) std::memcpy(texts_.data() + got_, data, text);
  if (size > text) std::memcpy(body_.get() + (got_ + text - texts_.size()), data + text, size - text);
  got_ += size;
}

FrameReader::State FrameReader::read_rest(const Socket& socket) {
  while (missing() > 0) {
    const bool in_texts = got_ < texts_.size();
    char* to = in_texts ? texts_.data() + got_ : body_.get() + (got_ - texts_.size());
    const size_t room = in_texts ? texts_.size() - got_ : missing();
    const ssize_t got = recv(socket.fd(), to, room, MSG_DONTWAIT);
    if (got == 0) return State::Ended;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? State::More : State::Ended;
    }
    got_ += static_cast<size_t>(got);
  }
  return State::Whole;
}

Frame FrameReader::take() {
  Frame frame{.head = head_, .first = texts_.substr(0, head_.first), .second = texts_.substr(head_.first)};
  const char* data = body_.get();
  if (body_size_ > 0) frame.body.add(data, body_size_, std::move(body_));
  started_ = 0;
  has_head_ = false;
  return frame;
}

}  // namespace weir::distributed
