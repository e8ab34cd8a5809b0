#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "devices/accelerator/driver.h"

namespace weir::accelerator {

// Takes regions from the driver and gives out blocks of them; blocks that come back are used again, next to each other
// joined, without asking the driver. A block may be given back while kernels still use it: whoever gets it next comes
// behind them in the device's order. Thread-safe.
class Allocator {
 public:
  struct Options {
    int64_t limit = 0;          // bytes of regions altogether
    bool allow_growth = false;  // regions no larger than what is asked for; else each as large as all before it
  };
  Allocator(Driver& driver, const Options& options) : driver_(driver), options_(options) {}
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Aligned to 256 bytes. Null: there is no room. Also for no bytes, an address of its own.
  char* take(size_t bytes);
  void give_back(char* data) noexcept;
  bool holds(const void* data) const;
  // Gives regions that nobody uses back to the driver.
  void trim();

  int64_t reserved() const;  // bytes of regions
  int64_t regions_made() const { return regions_made_; }

 private:
  struct Block {
    size_t bytes;
    bool free;
    char* region;  // the base of its region
  };
  using Blocks = std::map<char*, Block>;

  bool grow(size_t bytes);
  void trim_locked();
  void mark_free(Blocks::iterator block) { free_.emplace(block->second.bytes, block->first); }

  Driver& driver_;
  const Options options_;
  mutable std::mutex mutex_;
  mutable std::shared_mutex regions_mutex_;  // taken after mutex_
  std::map<const char*, Region> regions_;
  Blocks blocks_;
  std::set<std::pair<size_t, char*>> free_;
  int64_t reserved_ = 0;
  std::atomic<int64_t> regions_made_{0};
};

}  // namespace weir::accelerator
