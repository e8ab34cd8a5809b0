#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::distributed {

// The bytes of a message, in pieces that are shared and never copied on their way.
class Message {
 public:
  struct Piece {
    const char* data = nullptr;
    size_t size = 0;
    std::shared_ptr<const void> owner = {};
  };

  Message() = default;
  explicit Message(std::string bytes) { add(std::move(bytes)); }

  void add(std::string bytes) {
    if (bytes.empty()) return;
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    const std::string& text = *owner;
    add(text.data(), text.size(), std::move(owner));
  }
  // `owner` keeps the bytes as they are.
  void add(const void* data, size_t size, std::shared_ptr<const void> owner) {
    if (size == 0) return;
    pieces_.push_back({static_cast<const char*>(data), size, std::move(owner)});
    size_ += size;
  }

  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::string flat() const {
    std::string bytes;
    bytes.reserve(size_);
    for (const Piece& piece : pieces_) bytes.append(piece.data, piece.size);
    return bytes;
  }

 private:
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

}  // namespace weir::distributed
