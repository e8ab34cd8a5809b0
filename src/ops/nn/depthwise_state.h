#pragma once

#include "base/function_ref.h"
#include "ops/nn/depthwise_conv2d.h"
#include "ops/nn/epilogue.h"

namespace weir::ops {

// What a depthwise convolution works out when its plan is made. The loops of devices/cpu/depthwise.h want float32, the
// channels last and one filter a channel: images of another layout are turned into scratch memory and back, and where a
// channel has several filters it is repeated for each of them.
struct DepthwiseState {
  DepthwiseGeometry geometry;
  bool fast = false;                                 // uses those loops, and what follows
  size_t turned_at = 0, wide_at = 0, output_at = 0;  // of images in the scratch memory
  Epilogue epilogue;                                 // of a fused one
  float epsilon = 0;
  size_t epilogue_at = 0;
};

// Asks for scratch memory behind the `bytes` that the loops themselves need. REQUIRES: attribute "T" is floating.
DepthwiseState prepare_depthwise(PrepareContext& c, const DepthwiseGeometry& geometry, size_t bytes = 0);

// The images of one run as the loops want them. REQUIRES: the state is fast.
class DepthwiseImages {
 public:
  DepthwiseImages(KernelContext& c, const DepthwiseState& state) : c_(c), s_(state) {}

  const float* input(const float* x) const;
  const float* output_grad(const float* dy) const;
  // Calls compute(place for the result) and brings the result where it belongs.
  void to_output(float* y, FunctionRef<void(float*)> compute) const;
  void to_input_grad(float* dx, FunctionRef<void(float*)> compute) const;

 private:
  float* scratch(size_t at) const { return reinterpret_cast<float*>(static_cast<char*>(c_.scratch()) + at); }

  KernelContext& c_;
  const DepthwiseState& s_;
};

}  // namespace weir::ops
