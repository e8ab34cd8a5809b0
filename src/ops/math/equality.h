#pragma once

#include <string_view>

#include "ops/math/binary.h"

namespace weir::ops {

// Shapes that do not broadcast are an error, or, when incompatible_shape_error is off, the scalar answer that the
// tensors differ.
void infer_equality(InferContext& c);
struct EqualityState {
  BinaryState binary;
  bool mismatched;
};
EqualityState prepare_equality(PrepareContext& c);

template <class F>
struct EqualityKernel {
  template <class T>
  static void run(KernelContext& c) {
    const EqualityState& s = c.state<EqualityState>();
    if (s.mismatched) {
      *c.output<bool>() = F::kMismatched;
    } else {
      BinaryKernel<F>::template run<T>(c, s.binary);
    }
  }
};

template <class F>
OpDef equality_op(std::string_view name) {
  using List =
      decltype(FloatTypes{} + Types<uint8_t, int8_t, int16_t, int32_t, int64_t, bool, std::string>{} + ComplexTypes{});
  return {.name = name,
          .inputs = "x:T; y:T",
          .outputs = "z:bool",
          .attrs =
              "T:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,quint8,qint8,qint32,string,"
              "bool,complex128}; incompatible_shape_error:bool=True",
          .flags = "commutative",
          .infer = infer_equality,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<List, EqualityKernel<F>>, .prepare = prepared<prepare_equality>},
          .elementwise = body_of<F>()};
}

}  // namespace weir::ops
