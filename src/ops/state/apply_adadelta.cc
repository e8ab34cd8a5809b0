#include <cmath>

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, rho, epsilon;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)), rho(wide_scalar<T>(c, first + 1)), epsilon(wide_scalar<T>(c, first + 2)) {}

  void operator()(T* var, T* accum, T* accum_update, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i];
      const Wide<T> square = accum[i] * rho + g * g * (1 - rho);
      const Wide<T> move = std::sqrt(accum_update[i] + epsilon) / std::sqrt(square + epsilon) * g;
      accum[i] = static_cast<T>(square);
      accum_update[i] = static_cast<T>(accum_update[i] * rho + move * move * (1 - rho));
      var[i] = static_cast<T>(var[i] - move * lr);
    }
  }
};

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 3);
    update_blocks<T, 3>(c, 6, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, data[1] + begin, data[2] + begin, c.input<T>(6) + begin, end - begin);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 3);
    update_typed_rows<T, 3>(
        c, 6, 7, [&](const auto& rows, const T* grad, int64_t n) { step(rows[0], rows[1], rows[2], grad, n); });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_adadelta_op() {
  return {.name = "ApplyAdadelta",
          .inputs = "var:Ref(T); accum:Ref(T); accum_update:Ref(T); lr:T; rho:T; epsilon:T; grad:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_adadelta_op() {
  return {.name = "ResourceApplyAdadelta",
          .inputs = "var:resource; accum:resource; accum_update:resource; lr:T; rho:T; epsilon:T; grad:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_adadelta_op() {
  return {.name = "SparseApplyAdadelta",
          .inputs = "var:Ref(T); accum:Ref(T); accum_update:Ref(T); lr:T; rho:T; epsilon:T; grad:T; indices:Tindices",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse};
}

OpDef resource_sparse_apply_adadelta_op() {
  return {.name = "ResourceSparseApplyAdadelta",
          .inputs =
              "var:resource; accum:resource; accum_update:resource; lr:T; rho:T; epsilon:T; grad:T; "
              "indices:Tindices",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse};
}

}  // namespace weir::ops
