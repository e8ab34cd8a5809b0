#include "tensor/shared_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>
#include <random>
#include <vector>

namespace weir {
namespace {

constexpr size_t kMostIdleBytes = size_t{512} << 20;

std::atomic<bool> sharing = false;

struct Blocks {
  std::mutex mutex;
  std::map<const void*, SharedBlock> in_use;
  std::multimap<size_t, SharedBlock> idle;  // by size
  size_t idle_bytes = 0;
};

Blocks& blocks() {
  static auto* all = new Blocks;  // buffers may be freed when the process ends
  return *all;
}

uint64_t random_id() {
  std::random_device source;
  return static_cast<uint64_t>(source()) << 32 | source();
}

// A few sizes only, so that what is freed fits what is asked for next.
size_t rounded(size_t bytes) {
  size_t step = kSmallestSharedBlock;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

std::optional<SharedBlock> make_block(size_t bytes) {
  const size_t whole = bytes + SharedBlock::kDataOffset;
  const int fd = memfd_create("weir", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return std::nullopt;
  // Sealed: who maps it can be sure that its pages stay.
  if (ftruncate(fd, static_cast<off_t>(whole)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    close(fd);
    return std::nullopt;
  }
  void* at = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    close(fd);
    return std::nullopt;
  }
#ifdef MADV_HUGEPAGE
  madvise(at, whole, MADV_HUGEPAGE);  // advice: it may be refused
#endif
  auto* head = new (at) SharedBlock::Head;
  head->id = random_id();
  head->bytes = bytes;
  return SharedBlock{head, fd};
}

void destroy(const SharedBlock& block) {
  const size_t whole = block.head->bytes + SharedBlock::kDataOffset;
  munmap(block.head, whole);
  close(block.fd);
}

bool is_lent(const SharedBlock& block) {
  for (const auto& slot : block.head->slots) {
    if (slot.load(std::memory_order_acquire) != SharedBlock::kFree) return true;
  }
  return false;
}

}  // namespace

void share_large_allocations() { sharing = true; }

void* allocate_shared(size_t bytes) {
  if (!sharing.load(std::memory_order_relaxed)) return nullptr;
  const size_t size = rounded(bytes);
  Blocks& all = blocks();
  {
    std::lock_guard lock(all.mutex);
    auto known = all.idle.find(size);
    if (known != all.idle.end()) {
      const SharedBlock block = known->second;
      all.idle.erase(known);
      all.idle_bytes -= size;
      all.in_use.emplace(block.data(), block);
      return block.data();
    }
  }
  const std::optional<SharedBlock> made = make_block(size);
  if (!made) return nullptr;
  std::lock_guard lock(all.mutex);
  all.in_use.emplace(made->data(), *made);
  return made->data();
}

bool free_shared(void* data) {
  Blocks& all = blocks();
  std::vector<SharedBlock> gone;
  {
    std::lock_guard lock(all.mutex);
    auto found = all.in_use.find(data);
    if (found == all.in_use.end()) return false;
    const SharedBlock block = found->second;
    all.in_use.erase(found);
    const size_t size = block.head->bytes;
    if (is_lent(block) || size > kMostIdleBytes) {
      gone.push_back(block);  // whoever reads it keeps the pages
    } else {
      all.idle.emplace(size, block);
      all.idle_bytes += size;
      while (all.idle_bytes > kMostIdleBytes) {
        auto first = all.idle.begin();
        all.idle_bytes -= first->first;
        gone.push_back(first->second);
        all.idle.erase(first);
      }
    }
  }
  for (const SharedBlock& block : gone) destroy(block);
  return true;
}

std::optional<SharedBlock> find_shared(const void* data) {
  if (!sharing.load(std::memory_order_relaxed)) return std::nullopt;
  Blocks& all = blocks();
  std::lock_guard lock(all.mutex);
  auto found = all.in_use.find(data);
  if (found == all.in_use.end()) return std::nullopt;
  return found->second;
}

}  // namespace weir
