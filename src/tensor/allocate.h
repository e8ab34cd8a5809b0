#pragma once

#include <cstddef>

namespace weir {

// Uninitialised bytes that begin on a cache line, or on a large page where there are enough to fill one; freed by
// free_bytes. None still have an address of their own, so that kernels need no special case. Throws ResourceExhausted.
// Thread-safe.
void* allocate_bytes(size_t bytes);
void free_bytes(void* data, size_t bytes);

}  // namespace weir
