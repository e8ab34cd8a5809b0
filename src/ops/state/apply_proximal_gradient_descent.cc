#include <algorithm>
#include <cmath>

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// The value nearest to `moved` when |x| costs l1 and x^2 / 2 costs l2, over a step of size lr.
template <class W>
W proximal(W moved, W lr, W l1, W l2) {
  if (l1 > 0) moved = std::copysign(std::max(std::abs(moved) - lr * l1, W(0)), moved);
  return moved / (1 + l2 * lr);
}

template <class T>
struct Step {
  Wide<T> alpha, l1, l2;

  Step(const KernelContext& c, int first)
      : alpha(wide_scalar<T>(c, first)), l1(wide_scalar<T>(c, first + 1)), l2(wide_scalar<T>(c, first + 2)) {}

  void operator()(T* var, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> moved = var[i] - alpha * grad[i];
      var[i] = static_cast<T>(proximal<Wide<T>>(moved, alpha, l1, l2));
    }
  }
};

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 1);
    update_blocks<T, 1>(c, 4, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, c.input<T>(4) + begin, end - begin);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 1);
    update_typed_rows<T, 1>(c, 4, 5, [&](const auto& rows, const T* grad, int64_t n) { step(rows[0], grad, n); });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_proximal_gradient_descent_op() {
  return {.name = "ApplyProximalGradientDescent",
          .inputs = "var:Ref(T); alpha:T; l1:T; l2:T; delta:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_proximal_gradient_descent_op() {
  return {.name = "ResourceApplyProximalGradientDescent",
          .inputs = "var:resource; alpha:T; l1:T; l2:T; delta:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_proximal_gradient_descent_op() {
  return {.name = "SparseApplyProximalGradientDescent",
          .inputs = "var:Ref(T); alpha:T; l1:T; l2:T; grad:T; indices:Tindices",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse};
}

OpDef resource_sparse_apply_proximal_gradient_descent_op() {
  return {.name = "ResourceSparseApplyProximalGradientDescent",
          .inputs = "var:resource; alpha:T; l1:T; l2:T; grad:T; indices:Tindices",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse};
}

}  // namespace weir::ops
