#include "devices/accelerator/allocator.h"

#include <algorithm>

#include "weir/error.h"

namespace weir::accelerator {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kSmallestRegion = size_t{2} << 20;
constexpr size_t kFirstRegion = size_t{32} << 20;  // without allow_growth

size_t rounded(size_t bytes, size_t to) { return (std::max<size_t>(bytes, 1) + to - 1) / to * to; }

}  // namespace

Allocator::~Allocator() {
  for (const auto& [base, region] : regions_) driver_.release(region);
}

char* Allocator::take(size_t bytes) {
  if (bytes > static_cast<size_t>(options_.limit)) return nullptr;
  bytes = rounded(bytes, kAlignment);
  std::lock_guard lock(mutex_);
  auto found = free_.lower_bound({bytes, nullptr});
  if (found == free_.end()) {
    if (!grow(bytes)) {
      trim_locked();  // regions that are too small make room for one that is not
      if (!grow(bytes)) return nullptr;
    }
    found = free_.lower_bound({bytes, nullptr});
  }
  const auto block = blocks_.find(found->second);
  free_.erase(found);
  block->second.free = false;
  if (block->second.bytes > bytes) {
    const auto rest =
        blocks_.emplace(block->first + bytes, Block{block->second.bytes - bytes, true, block->second.region});
    mark_free(rest.first);
    block->second.bytes = bytes;
  }
  return block->first;
}

void Allocator::give_back(char* data) noexcept {
  std::lock_guard lock(mutex_);
  auto block = blocks_.find(data);
  if (block == blocks_.end()) return;
  block->second.free = true;
  auto joins = [&](Blocks::iterator a, Blocks::iterator b) {
    return a->second.free && b->second.free && a->second.region == b->second.region;
  };
  if (auto next = std::next(block); next != blocks_.end() && joins(block, next)) {
    free_.erase({next->second.bytes, next->first});
    block->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (block != blocks_.begin()) {
    if (auto before = std::prev(block); joins(before, block)) {
      free_.erase({before->second.bytes, before->first});
      before->second.bytes += block->second.bytes;
      blocks_.erase(block);
      block = before;
    }
  }
  mark_free(block);
}

bool Allocator::holds(const void* data) const {
  const char* at = static_cast<const char*>(data);
  std::shared_lock lock(regions_mutex_);
  auto after = regions_.upper_bound(at);
  if (after == regions_.begin()) return false;
  const Region& region = std::prev(after)->second;
  return at < region.base + region.bytes;
}

bool Allocator::grow(size_t bytes) {
  const auto largest = static_cast<size_t>(driver_.info().largest_region);
  const auto room = static_cast<size_t>(std::max<int64_t>(0, options_.limit - reserved_)) / kAlignment * kAlignment;
  if (bytes > room || bytes > largest) return false;
  size_t wanted = rounded(bytes, kSmallestRegion);
  if (!options_.allow_growth) wanted = std::max({wanted, kFirstRegion, static_cast<size_t>(reserved_)});
  wanted = std::min({wanted, room, largest});
  Region region;
  for (;;) {
    try {
      region = driver_.allocate(wanted);
      break;
    } catch (const Error& e) {
      if (e.code() != Code::ResourceExhausted) throw;
      if (wanted == bytes) return false;
      wanted = std::max(bytes, wanted / 2 / kAlignment * kAlignment);
    }
  }
  {
    std::unique_lock lock(regions_mutex_);
    regions_.emplace(region.base, region);
  }
  reserved_ += static_cast<int64_t>(region.bytes);
  ++regions_made_;
  mark_free(blocks_.emplace(region.base, Block{region.bytes, true, region.base}).first);
  return true;
}

void Allocator::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

void Allocator::trim_locked() {
  for (auto it = regions_.begin(); it != regions_.end();) {
    const Region region = it->second;
    const auto block = blocks_.find(region.base);
    if (!block->second.free || block->second.bytes != region.bytes) {
      ++it;
      continue;
    }
    free_.erase({block->second.bytes, block->first});
    blocks_.erase(block);
    {
      std::unique_lock lock(regions_mutex_);
      it = regions_.erase(it);
    }
    reserved_ -= static_cast<int64_t>(region.bytes);
    driver_.release(region);
  }
}

int64_t Allocator::reserved() const {
  std::lock_guard lock(mutex_);
  return reserved_;
}

}  // namespace weir::accelerator
