#include "tensor/allocate.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/errors.h"
#include "tensor/shared_blocks.h"

namespace weir {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargePage = 2 << 20;

// Rows of a large matrix lie on as many small pages as there are rows, more than the processor remembers.
void* allocate_large(size_t bytes) {
  void* data = nullptr;
  if (posix_memalign(&data, kLargePage, bytes) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  madvise(data, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // advice: it may be refused
#endif
  return data;
}

}  // namespace

void* allocate_bytes(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (bytes >= kSmallestSharedBlock) {
    if (void* shared = allocate_shared(bytes)) return shared;
  }
  void* data = rounded < bytes         ? nullptr
               : rounded >= kLargePage ? allocate_large(rounded)
                                       : std::aligned_alloc(kAlignment, rounded);
  if (!data) throw error(Code::ResourceExhausted, "out of memory: {} bytes asked for", bytes);
  return data;
}

void free_bytes(void* data, size_t bytes) {
  if (bytes >= kSmallestSharedBlock && free_shared(data)) return;
  std::free(data);
}

}  // namespace weir
