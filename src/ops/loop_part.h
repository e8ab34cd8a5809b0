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

// Where the elements of the result come from, for operations that are neither elementwise nor a LoopPart, so that a
// part of it can be computed from parts of the inputs; see passes/compute_parts.cc.
enum class Source : uint8_t {
  Other,
  Slice,    // a box of input 0, of which inputs 1 to 3 tell begin, end and strides
  Unslice,  // its gradient: input 4, put back to where it was taken from, and zeros elsewhere
  Permute,  // input 0, its dimensions in the order of input 1
  Product,  // matrices in the last two dimensions of inputs 0 and 1, for each of the dimensions before these
};

// Thread-safe.
const LoopPart& loop_part(const Op& op);
Source source_of(const Op& op);

}  // namespace weir
