#include <cmath>

#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

template <class T>
struct Step {
  Wide<T> lr, rho, momentum, epsilon;

  Step(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)),
        rho(wide_scalar<T>(c, first + 1)),
        momentum(wide_scalar<T>(c, first + 2)),
        epsilon(wide_scalar<T>(c, first + 3)) {}

  void operator()(T* var, T* mg, T* ms, T* mom, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const Wide<T> g = grad[i];
      const Wide<T> square = ms[i] + (g * g - ms[i]) * (1 - rho);
      const Wide<T> mean = mg[i] + (g - mg[i]) * (1 - rho);
      const Wide<T> move = mom[i] * momentum + g * lr / std::sqrt(square - mean * mean + epsilon);
      ms[i] = static_cast<T>(square);
      mg[i] = static_cast<T>(mean);
      mom[i] = static_cast<T>(move);
      var[i] = static_cast<T>(var[i] - move);
    }
  }
};

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 4);
    update_blocks<T, 4>(c, 8, [&](const auto& data, int64_t begin, int64_t end) {
      step(data[0] + begin, data[1] + begin, data[2] + begin, data[3] + begin, c.input<T>(8) + begin, end - begin);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Step<T> step(c, 4);
    update_typed_rows<T, 4>(c, 8, 9, [&](const auto& rows, const T* grad, int64_t n) {
      step(rows[0], rows[1], rows[2], rows[3], grad, n);
    });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False";
constexpr std::string_view kSparseAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef apply_centered_rms_prop_op() {
  return {.name = "ApplyCenteredRMSProp",
          .inputs = "var:Ref(T); mg:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_centered_rms_prop_op() {
  return {.name = "ResourceApplyCenteredRMSProp",
          .inputs =
              "var:resource; mg:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; "
              "grad:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_centered_rms_prop_op() {
  return {.name = "SparseApplyCenteredRMSProp",
          .inputs =
              "var:Ref(T); mg:Ref(T); ms:Ref(T); mom:Ref(T); lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
              "indices:Tindices",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse};
}

OpDef resource_sparse_apply_centered_rms_prop_op() {
  return {.name = "ResourceSparseApplyCenteredRMSProp",
          .inputs =
              "var:resource; mg:resource; ms:resource; mom:resource; lr:T; rho:T; momentum:T; epsilon:T; grad:T; "
              "indices:Tindices",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse};
}

}  // namespace weir::ops
