#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "distributed/transport.h"

namespace weir::distributed {

// A file descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Whoever reads or writes it, here or at the other end, finds that it has ended.
  void end() const;

 private:
  int fd_ = -1;
};

// What goes over a near socket: calls and their answers, one at a time in each connection. A head, two texts, a body.
struct FrameHead {
  static constexpr uint32_t kMagic = 0x57'4e'31'0a;  // another layout has another
  uint32_t magic = kMagic;
  int32_t code = 0;                // of an answer
  uint32_t first = 0, second = 0;  // bytes of the texts: method and token of a call, error and details of an answer
  uint64_t body = 0;               // its bytes
  int64_t timeout_us = -1;         // of a call; -1: none
};

struct Frame {
  FrameHead head = {};
  std::string first = {}, second = {};
  Message body = {};
};

// Fills in the sizes and writes all, waiting while the other side is slow to read. False: it is gone, has read nothing
// for long, or the deadline has passed; what was written is of no use.
bool write_frame(const Socket& socket, FrameHead head, std::string_view first, std::string_view second,
                 const Message& body, Deadline deadline);

// A frame as it comes in. Never waits.
class FrameReader {
 public:
  explicit FrameReader(size_t most_body_bytes) : most_(most_body_bytes) {}
  enum class State { More, Whole, Ended };  // Ended: the connection, or what comes is no frame
  State advance(const Socket& socket);
  Frame take();  // REQUIRES: it is whole. The next one can come.

 private:
  State take_head();
  size_t missing() const { return texts_.size() + body_size_ - got_; }
  State read_rest(const Socket& socket);
  void put(const char* data, size_t size);

  const size_t most_;
  char start_[4096];  // most frames are no longer
  size_t started_ = 0;
  bool has_head_ = false;
  FrameHead head_;
  std::string texts_;
  std::shared_ptr<char[]> body_;
  size_t body_size_ = 0, got_ = 0;
};

}  // namespace weir::distributed
