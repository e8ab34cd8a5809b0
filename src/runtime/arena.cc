#include "runtime/arena.h"

#include <cstdint>

#include "base/errors.h"

namespace weir {

namespace {

[[noreturn]] void too_large() {
  throw error(Code::ResourceExhausted, "out of memory: the values of a plan take more than 2^64 bytes");
}

}  // namespace

size_t ArenaLayout::allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kAlignment) too_large();
  bytes = round_up(bytes == 0 ? 1 : bytes);
  auto best = holes_.end();
  for (auto it = holes_.begin(); it != holes_.end(); ++it) {
    if (it->second >= bytes && (best == holes_.end() || it->second < best->second)) best = it;
  }
  if (best != holes_.end()) {
    size_t offset = best->first, rest = best->second - bytes;
    holes_.erase(best);
    if (rest > 0) holes_.emplace(offset + bytes, rest);
    return offset;
  }
  // Grow; a hole at the very end becomes part of the new place.
  size_t offset = size_;
  if (!holes_.empty()) {
    auto last = std::prev(holes_.end());
    if (last->first + last->second == size_) {
      offset = last->first;
      holes_.erase(last);
    }
  }
  if (__builtin_add_overflow(offset, bytes, &size_)) too_large();
  return offset;
}

void ArenaLayout::free(size_t offset, size_t bytes) {
  bytes = round_up(bytes == 0 ? 1 : bytes);
  auto next = holes_.lower_bound(offset);
  if (next != holes_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      holes_.erase(before);
    }
  }
  if (next != holes_.end() && offset + bytes == next->first) {
    bytes += next->second;
    holes_.erase(next);
  }
  holes_.emplace(offset, bytes);
}

}  // namespace weir
