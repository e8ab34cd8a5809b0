#include "devices/cpu/caches.h"

#include <unistd.h>

namespace weir::cpu {
namespace {

Caches detect() {
  Caches found;
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  // Virtual machines may tell nothing (0 or -1), or nonsense.
  const long first = sysconf(_SC_LEVEL1_DCACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (first >= 8 << 10 && first <= 1 << 20) found.first = first;
  if (second >= 64 << 10 && second <= 64 << 20) found.second = second;
#endif
  return found;
}

}  // namespace

const Caches& caches() {
  static const Caches found = detect();
  return found;
}

}  // namespace weir::cpu
