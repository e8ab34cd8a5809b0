#pragma once

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

// The Apply* operations of optimizers whose rule is a loop over elements. Inputs are kVariables variables, kScalars
// numbers, the gradient and, for the sparse form, the rows' indices. The rule is a struct with
//   Step(const KernelContext&, int first)  which reads the numbers from input `first` on, and
//   void operator()(const std::array<T*, kVariables>& variables, const T* grad, int64_t n) const.
namespace weir::ops {

template <template <class> class Step, int kVariables, int kScalars>
struct ApplyDense {
  template <class T>
  static void run(KernelContext& c) {
    constexpr int kGrad = kVariables + kScalars;
    const Step<T> step(c, kVariables);
    update_blocks<T, kVariables>(c, kGrad, [&](std::array<T*, kVariables> data, int64_t begin, int64_t end) {
      for (T*& variable : data) variable += begin;
      step(data, c.input<T>(kGrad) + begin, end - begin);
    });
  }
};

template <template <class> class Step, int kVariables, int kScalars>
struct ApplySparse {
  template <class T>
  static void run(KernelContext& c) {
    constexpr int kGrad = kVariables + kScalars;
    const Step<T> step(c, kVariables);
    update_typed_rows<T, kVariables>(c, kGrad, kGrad + 1, step);
  }
};

inline constexpr std::string_view kApplyAttrs = "T:numbertype; use_locking:bool=False";
inline constexpr std::string_view kSparseApplyAttrs =
    "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

// Those with indices change the rows that they name.
constexpr Rows rows_of(std::string_view attrs) { return attrs == kSparseApplyAttrs ? Rows::Written : Rows::All; }

// The row of the spelling with references, and of that with handles.
inline OpDef apply_ref_row(std::string_view name, std::string_view inputs, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "out:Ref(T)",
          .attrs = attrs,
          .infer = infer_apply,
          .cpu = cpu,
          .rows = rows_of(attrs)};
}
inline OpDef apply_resource_row(std::string_view name, std::string_view inputs, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .attrs = attrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = cpu,
          .rows = rows_of(attrs)};
}

}  // namespace weir::ops
