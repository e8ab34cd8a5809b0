#pragma once

#include <cstddef>
#include <vector>

namespace weir {

// Lays values out in one block of memory as a plan's steps are walked in order: allocate at the producer, free after
// the last reader. The best-fitting hole is taken, which also tends to be warm in the cache.
class ArenaLayout {
 public:
  static constexpr size_t kAlignment = 64;

  size_t allocate(size_t bytes);
  void free(size_t offset, size_t bytes);
  size_t size() const { return size_; }  // the most that was ever needed

 private:
  static size_t round_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  struct Hole {
    size_t offset, bytes;
  };
  std::vector<Hole> holes_;  // by offset, never touching each other
  size_t size_ = 0;
};

}  // namespace weir
