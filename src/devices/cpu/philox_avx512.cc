#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>

#include "devices/cpu/philox_blocks.h"

#define WEIR_ISA avx512

namespace weir::cpu::avx512 {
namespace {

using Lanes = uint64_t __attribute__((vector_size(64)));

// The masked form is the same instruction; the plain one draws a false warning from g++ 12.
Lanes multiply(Lanes a, uint32_t b) { return (Lanes)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, _mm512_set1_epi64(b)); }
Lanes first_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
Lanes last_pairs(Lanes a, Lanes b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }

}  // namespace
}  // namespace weir::cpu::avx512

#include "devices/cpu/philox.inc"

#endif
