#include "devices/cpu/update.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  bool nesterov;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("use_nesterov")}; }

template <class T>
void step(T* var, T* accum, const T* grad, int64_t n, Wide<T> lr, Wide<T> momentum, bool nesterov) {
  for (int64_t i = 0; i < n; ++i) {
    const Wide<T> g = grad[i], a = accum[i] * momentum + g;
    accum[i] = static_cast<T>(a);
    var[i] = static_cast<T>(var[i] - (nesterov ? g * lr + a * momentum * lr : a * lr));
  }
}

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Wide<T> lr = wide_scalar<T>(c, 2), momentum = wide_scalar<T>(c, 4);
    if constexpr (std::is_same_v<T, float>) {
      update_dense(c, float32, 2, 3, [&](void* const* data, int64_t n) {
        cpu::apply_momentum(static_cast<float*>(data[0]), static_cast<float*>(data[1]), c.input<float>(3), n,
                            {.lr = lr, .momentum = momentum, .nesterov = c.state<State>().nesterov}, c.pool());
      });
      return;
    }
    update_blocks<T, 2>(c, 3, [&](const auto& data, int64_t begin, int64_t end) {
      step<T>(data[0] + begin, data[1] + begin, c.input<T>(3) + begin, end - begin, lr, momentum,
              c.state<State>().nesterov);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Wide<T> lr = wide_scalar<T>(c, 2), momentum = wide_scalar<T>(c, 5);
    update_typed_rows<T, 2>(c, 3, 4, [&](const auto& rows, const T* grad, int64_t n) {
      step<T>(rows[0], rows[1], grad, n, lr, momentum, c.state<State>().nesterov);
    });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>, .prepare = prepared<prepare>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>, .prepare = prepared<prepare>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False; use_nesterov:bool=False";
constexpr std::string_view kSparseAttrs =
    "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False; use_nesterov:bool=False";

}  // namespace

OpDef apply_momentum_op() {
  return {.name = "ApplyMomentum",
          .inputs = "var:Ref(T); accum:Ref(T); lr:T; grad:T; momentum:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_momentum_op() {
  return {.name = "ResourceApplyMomentum",
          .inputs = "var:resource; accum:resource; lr:T; grad:T; momentum:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_momentum_op() {
  return {.name = "SparseApplyMomentum",
          .inputs = "var:Ref(T); accum:Ref(T); lr:T; grad:T; indices:Tindices; momentum:T",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

OpDef resource_sparse_apply_momentum_op() {
  return {.name = "ResourceSparseApplyMomentum",
          .inputs = "var:resource; accum:resource; lr:T; grad:T; indices:Tindices; momentum:T",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

}  // namespace weir::ops
