#pragma once

#include "devices/cpu/tile.h"
#include "weir/dtype.h"

namespace weir::ops {

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2, "arrays of them are handled as their bits");

inline void widen(const Half* x, float* y, int64_t n) { cpu::half_to_float(&x->bits, y, n); }
inline void widen(const BFloat16* x, float* y, int64_t n) { cpu::bfloat16_to_float(&x->bits, y, n); }
inline void narrow(const float* x, Half* y, int64_t n) { cpu::float_to_half(x, &y->bits, n); }
inline void narrow(const float* x, BFloat16* y, int64_t n) { cpu::float_to_bfloat16(x, &y->bits, n); }

}  // namespace weir::ops
