#pragma once

#include <atomic>

#include "ops/data/dataset.h"
#include "ops/random/word_stream.h"

// State of data sets that programs hold by handles of their own.
namespace weir::ops {

// Where the seeds of every iteration of a shuffle come from when each is to have an order of its own. Thread-safe.
class RandomSeedGenerator final : public Resource {
 public:
  explicit RandomSeedGenerator(std::pair<uint64_t, uint64_t> seeds) : words_(cpu::Philox(seeds.first, seeds.second)) {}
  std::string describe() const override { return "a generator of seeds"; }
  std::pair<uint64_t, uint64_t> next() {
    std::lock_guard lock(mutex_);
    const uint64_t first = words_.next();
    return {first, words_.next()};
  }

 private:
  std::mutex mutex_;
  WordStream words_;
};

// What one whole iteration gave, in memory. Thread-safe.
class MemoryCache final : public Resource {
 public:
  std::string describe() const override { return "a cache of elements"; }
  bool complete() const { return complete_; }
  const std::vector<Element>& elements() const { return elements_; }  // REQUIRES: complete()
  // The first who comes fills it.
  void fill(std::vector<Element>&& elements) {
    std::lock_guard lock(mutex_);
    if (complete_) return;
    elements_ = std::move(elements);
    complete_ = true;
  }

 private:
  std::mutex mutex_;
  std::vector<Element> elements_;
  std::atomic<bool> complete_{false};  // elements_ does not change any more
};

}  // namespace weir::ops
