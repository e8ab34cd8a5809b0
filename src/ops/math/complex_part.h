#pragma once

#include <complex>
#include <string_view>

#include "ops/math/unary.h"

namespace weir::ops {

template <class F>
struct ComplexPartKernel {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    auto* y = c.output<typename T::value_type>();
    c.pool().parallel_for(c.output_elements(), grain_of<F>(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = F()(x[i]);
    });
  }
  // Tout is the type of the parts of T.
  static ComputeFn select(const NodeView& node) {
    bool match = (node.type() == complex64) == (node.type("Tout") == float32);
    return match ? kernel_for<ComplexTypes, ComplexPartKernel>(node) : nullptr;
  }
};

// The row of an operation that takes complex numbers to real ones.
template <class F>
OpDef complex_part_op(std::string_view name, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "input:T",
          .outputs = "output:Tout",
          .attrs = "T:type{complex64,complex128}=complex64; Tout:type{float,double}=float",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = ComplexPartKernel<F>::select}};
}

inline Output complex_part(std::string_view op, const In& x, std::string_view name) {
  bool wide = x.output() && x.output().dtype() == complex128;
  return NodeBuilder(op, name).input(x).attr("Tout", wide ? float64 : float32).output();
}

}  // namespace weir::ops
