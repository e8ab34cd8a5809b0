#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::distributed {

// The bytes of a message, in pieces that are shared and never copied on their way. Most have one or two.
class Message {
 public:
  struct Piece {
    const char* data = nullptr;
    size_t size = 0;
    std::shared_ptr<const void> owner = {};
  };

  Message() = default;
  explicit Message(std::string bytes) { add(std::move(bytes)); }
  Message(const Message&) = default;
  Message& operator=(const Message&) = default;
  Message(Message&& other) noexcept { *this = std::move(other); }
  Message& operator=(Message&& other) noexcept {
    few_ = std::move(other.few_);
    more_ = std::move(other.more_);
    other.more_.clear();
    count_ = std::exchange(other.count_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~Message() = default;

  void add(std::string bytes) {
    if (bytes.empty()) return;
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    const std::string& text = *owner;
    add(text.data(), text.size(), std::move(owner));
  }
  // `owner` keeps the bytes as they are.
  void add(const void* data, size_t size, std::shared_ptr<const void> owner) {
    if (size == 0) return;
    Piece piece{static_cast<const char*>(data), size, std::move(owner)};
    size_ += size;
    if (count_ < few_.size()) {
      few_[count_++] = std::move(piece);
      return;
    }
    if (count_++ == few_.size()) more_.assign(few_.begin(), few_.end());
    more_.push_back(std::move(piece));
  }

  size_t size() const { return size_; }
  std::span<const Piece> pieces() const {
    return count_ <= few_.size() ? std::span(few_.data(), count_) : std::span<const Piece>(more_);
  }
  std::string flat() const {
    std::string bytes;
    bytes.reserve(size_);
    for (const Piece& piece : pieces()) bytes.append(piece.data, piece.size);
    return bytes;
  }

 private:
  std::array<Piece, 2> few_ = {};
  std::vector<Piece> more_;  // all of them, when they are more
  size_t count_ = 0, size_ = 0;
};

}  // namespace weir::distributed
