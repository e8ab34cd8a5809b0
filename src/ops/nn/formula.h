#pragma once

#include <cstdint>

namespace weir {

struct Op;

// Operations that are short formulas of elementwise functions and of their attribute `alpha`; see passes/spell_out.h.
enum class Formula : uint8_t {
  Other,
  LeakyRelu,      // input 0 where it is positive, alpha times it elsewhere
  LeakyReluGrad,  // input 0 where input 1 is positive, alpha times it elsewhere
};

// Thread-safe.
Formula formula_of(const Op& op);

}  // namespace weir
