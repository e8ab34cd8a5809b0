#pragma once

#include <string_view>

#include "ops/math/binary.h"
#include "ops/math/unary.h"

// The rows of activations and of their gradients; see ops/math for the functors F.
namespace weir::ops {

inline constexpr std::string_view kActivationT = "T:type{half,bfloat16,float,double}";

template <class F, class List = FloatTypes>
OpDef activation_op(std::string_view name, std::string_view attrs, void (*gradient)(GradContext&)) {
  OpDef def = unary_op<F, List>(name, attrs, gradient);
  def.inputs = "features:T";
  def.outputs = "activations:T";
  return def;
}

// F takes a gradient and what the activation read ("gradients:T; features:T") or gave ("gradients:T; outputs:T").
template <class F, class List = FloatTypes>
OpDef backprop_op(std::string_view name, std::string_view inputs, std::string_view attrs,
                  void (*gradient)(GradContext&)) {
  OpDef def = binary_op<F, List>({.name = name, .attrs = attrs, .gradient = gradient, .inputs = inputs});
  def.outputs = "backprops:T";
  def.infer = infer::merged;
  return def;
}

}  // namespace weir::ops
