#pragma once

#include "devices/cpu/gemm.h"
#include "weir/attr.h"
#include "weir/shape.h"

namespace weir {
class InferContext;
class KernelContext;
}  // namespace weir

namespace weir::ops {

// What a fused operation does to its result, channel by channel: the attribute fused_ops. First "BiasAdd", with a
// vector; "Mul", with a vector, and perhaps "BiasAdd" behind it; or "FusedBatchNorm", with scale, offset, mean and
// variance (and the attribute epsilon). Then "Add", with a tensor of the result's shape. Then "Relu" or "Relu6". All
// may be missing.
struct Epilogue {
  bool bias = false, scale = false, norm = false, side = false;
  cpu::Activation activation = cpu::Activation::None;

  int args() const { return side_arg() + (side ? 1 : 0); }
  // Numbers among the extra inputs: of the first vector, of the bias, and of the tensor that is added.
  int bias_arg() const { return scale ? 1 : 0; }
  int side_arg() const { return norm ? 4 : (scale ? 1 : 0) + (bias ? 1 : 0); }
  // Nothing but a bias and an activation, which every device has.
  bool is_simple() const { return !scale && !norm && !side; }
};

// Throws Unimplemented for what is not in that order, and InvalidArgument where num_args does not fit.
Epilogue parse_epilogue(const AttrMap& attrs);

// Checks the extra inputs, which begin with number `first`, of a result of this shape, the channels last. Throws
// InvalidArgument.
void check_epilogue(const InferContext& c, const Epilogue& epilogue, int first, const Shape& result);

// Floats (or doubles) that a normalisation needs as scratch memory.
inline int64_t epilogue_scratch(const Epilogue& epilogue, int64_t channels) { return epilogue.norm ? 2 * channels : 0; }
// What the loops apply; `scratch` is used by a normalisation alone.
template <class T>
cpu::Epilogue<T> bind_epilogue(const KernelContext& c, const Epilogue& epilogue, int first, int64_t channels,
                               float epsilon, T* scratch);

}  // namespace weir::ops
