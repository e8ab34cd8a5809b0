#pragma once

#include <cstdint>

#include "devices/cpu/reduce.h"

namespace weir {

struct Op;

// What beside elementwise functions (ElementwiseBody) a loop over float32 elements can compute along; see
// passes/fuse_loops.cc. All but Spread read the elements of input 0.
struct LoopPart {
  enum class Kind : uint8_t {
    None,
    Spread,      // input 0, repeated along dimensions of size 1
    Reduce,      // over the axes that input 1 lists
    ReduceAll,   // over all axes
    ReduceRows,  // over all axes but the last, in the layout NHWC
    Softmax,     // along the last axis
  };
  Kind kind = Kind::None;
  cpu::ReduceFn fn = {};  // of the kinds that reduce
  float scale = 1;        // what their result is multiplied with
};

// Thread-safe.
const LoopPart& loop_part(const Op& op);

}  // namespace weir
