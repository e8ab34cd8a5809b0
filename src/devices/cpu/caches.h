#pragma once

#include <cstdint>

namespace weir::cpu {

// Bytes of the caches of one core, as the system tells; those of a small processor where it does not.
struct Caches {
  int64_t first = 32 << 10;
  int64_t second = 512 << 10;
};

// Thread-safe; asked once.
const Caches& caches();

}  // namespace weir::cpu
