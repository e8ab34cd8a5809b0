#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir {

// Memory that other processes of the machine can map: large buffers of a process that serves others lie in it, so that
// values go to them without a copy. Each block is a file without a name (memfd) that begins with a page about its
// readers. Blocks that are freed are kept for a while: new pages cost more than a copy.
//
// Everything is thread-safe. It belongs to the process, as its memory does.
struct SharedBlock {
  static constexpr uint64_t kMagic = 0x5765697262756600;
  static constexpr size_t kDataOffset = 4096;
  static constexpr int kSlots = 64;
  enum State : uint32_t { kFree = 0, kLent = 1, kTaken = 2 };

  // The page at the beginning.
  struct Head {
    uint64_t magic = kMagic;
    uint64_t id = 0;                           // tells this block from others that had its number before
    uint64_t bytes = 0;                        // behind the page
    std::atomic<uint32_t> slots[kSlots] = {};  // one for each time that it is lent and not yet given back
  };

  Head* head = nullptr;
  int fd = -1;
  void* data() const { return reinterpret_cast<char*>(head) + kDataOffset; }
};

inline constexpr size_t kSmallestSharedBlock = 1 << 20;

// From now on large allocations of this process are shared blocks, where the system has them.
void share_large_allocations();
// Null when that was not asked for, or the system refuses.
void* allocate_shared(size_t bytes);
// False: the memory is no shared block's.
bool free_shared(void* data);
// The block whose memory begins at this address.
std::optional<SharedBlock> find_shared(const void* data);

}  // namespace weir
