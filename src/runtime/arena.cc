#include "runtime/arena.h"

#include <algorithm>
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
    if (it->bytes >= bytes && (best == holes_.end() || it->bytes < best->bytes)) best = it;
  }
  if (best != holes_.end()) {
    const size_t offset = best->offset;
    if (best->bytes == bytes) {
      holes_.erase(best);
    } else {
      *best = {offset + bytes, best->bytes - bytes};
    }
    return offset;
  }
  // Grow; a hole at the very end becomes part of the new place.
  size_t offset = size_;
  if (!holes_.empty() && holes_.back().offset + holes_.back().bytes == size_) {
    offset = holes_.back().offset;
    holes_.pop_back();
  }
  if (__builtin_add_overflow(offset, bytes, &size_)) too_large();
  return offset;
}

void ArenaLayout::free(size_t offset, size_t bytes) {
  bytes = round_up(bytes == 0 ? 1 : bytes);
  auto next = std::lower_bound(holes_.begin(), holes_.end(), offset,
                               [](const Hole& hole, size_t at) { return hole.offset < at; });
  const bool joins_next = next != holes_.end() && offset + bytes == next->offset;
  const bool joins_last = next != holes_.begin() && std::prev(next)->offset + std::prev(next)->bytes == offset;
  if (joins_last && joins_next) {
    std::prev(next)->bytes += bytes + next->bytes;
    holes_.erase(next);
  } else if (joins_last) {
    std::prev(next)->bytes += bytes;
  } else if (joins_next) {
    *next = {offset, bytes + next->bytes};
  } else {
    holes_.insert(next, {offset, bytes});
  }
}

}  // namespace weir
