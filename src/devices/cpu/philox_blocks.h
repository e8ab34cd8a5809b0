#pragma once

#include <cstdint>

namespace weir::cpu {

// The generator's rounds, once for each instruction set: writes the blocks of counter_low, counter_low + 1, ..., four
// words each. REQUIRES: counter_low + blocks does not overflow.
using PhiloxBlocks = void(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t* words, int64_t blocks);

namespace portable {
PhiloxBlocks philox_blocks;
}
#if defined(__x86_64__)
namespace avx2 {
PhiloxBlocks philox_blocks;
}
namespace avx512 {
PhiloxBlocks philox_blocks;
}
#endif

}  // namespace weir::cpu
