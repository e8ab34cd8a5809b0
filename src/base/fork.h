#pragma once

#include <cstdint>

namespace weir {

// Threads do not follow a process through fork(). This number is one larger in a child than in the process that it was
// made from: what was made under another number (a pool, a writer) has no threads here, its locks may be held for ever,
// and it must neither wait for them nor join them.
// Thread-safe; costs a load.
uint64_t fork_count();

}  // namespace weir
