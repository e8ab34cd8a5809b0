#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>

#include "devices/cpu/philox_blocks.h"

#define WEIR_ISA avx2

namespace weir::cpu::avx2 {
namespace {

using Lanes = uint64_t __attribute__((vector_size(32)));

Lanes multiply(Lanes a, uint32_t b) { return (Lanes)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b)); }
Lanes first_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
Lanes last_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }

}  // namespace
}  // namespace weir::cpu::avx2

#include "devices/cpu/philox.inc"

#endif
