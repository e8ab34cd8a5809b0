#include <cstddef>

#include "devices/cpu/philox_blocks.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define WEIR_ISA portable

namespace weir::cpu::portable {
namespace {

using Lanes = uint64_t __attribute__((vector_size(16)));

Lanes multiply(Lanes a, uint32_t b) {
#if defined(__SSE2__)
  return (Lanes)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(b));
#else
  return (a & 0xFFFFFFFF) * b;
#endif
}
Lanes first_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 2); }
Lanes last_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 1, 3); }

}  // namespace
}  // namespace weir::cpu::portable

#include "devices/cpu/philox.inc"
