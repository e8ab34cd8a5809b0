#include <cmath>

#include "devices/cpu/update.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  bool update_slots;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("update_slots")}; }

template <class T>
void step(T* var, T* accum, const T* grad, int64_t n, Wide<T> lr, bool update_slots) {
  for (int64_t i = 0; i < n; ++i) {
    const Wide<T> g = grad[i], a = update_slots ? accum[i] + g * g : Wide<T>(accum[i]);
    accum[i] = static_cast<T>(a);
    var[i] = static_cast<T>(var[i] - g * lr / std::sqrt(a));
  }
}

struct Dense {
  template <class T>
  static void run(KernelContext& c) {
    const Wide<T> lr = wide_scalar<T>(c, 2);
    if constexpr (std::is_same_v<T, float>) {
      update_dense(c, float32, 2, 3, [&](void* const* data, int64_t n) {
        cpu::apply_adagrad(static_cast<float*>(data[0]), static_cast<float*>(data[1]), c.input<float>(3), n,
                           {.lr = lr, .update_slots = c.state<State>().update_slots}, c.pool());
      });
      return;
    }
    update_blocks<T, 2>(c, 3, [&](const auto& data, int64_t begin, int64_t end) {
      step<T>(data[0] + begin, data[1] + begin, c.input<T>(3) + begin, end - begin, lr, c.state<State>().update_slots);
    });
  }
};

struct Sparse {
  template <class T>
  static void run(KernelContext& c) {
    const Wide<T> lr = wide_scalar<T>(c, 2);
    update_typed_rows<T, 2>(c, 3, 4, [&](const auto& rows, const T* grad, int64_t n) {
      if constexpr (std::is_same_v<T, float>) {
        return cpu::apply_adagrad(rows[0], rows[1], grad, n, {.lr = lr, .update_slots = c.state<State>().update_slots},
                                  c.pool());
      }
      step<T>(rows[0], rows[1], grad, n, lr, c.state<State>().update_slots);
    });
  }
};

constexpr Kernel kDense = {.select = kernel_for<FloatTypes, Dense>, .prepare = prepared<prepare>};
constexpr Kernel kSparse = {.select = kernel_for<FloatTypes, Sparse>, .prepare = prepared<prepare>};

constexpr std::string_view kDenseAttrs = "T:numbertype; use_locking:bool=False; update_slots:bool=True";
constexpr std::string_view kSparseAttrs =
    "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False; update_slots:bool=True";

}  // namespace

OpDef apply_adagrad_op() {
  return {.name = "ApplyAdagrad",
          .inputs = "var:Ref(T); accum:Ref(T); lr:T; grad:T",
          .outputs = "out:Ref(T)",
          .attrs = kDenseAttrs,
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef resource_apply_adagrad_op() {
  return {.name = "ResourceApplyAdagrad",
          .inputs = "var:resource; accum:resource; lr:T; grad:T",
          .attrs = kDenseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kDense};
}

OpDef sparse_apply_adagrad_op() {
  return {.name = "SparseApplyAdagrad",
          .inputs = "var:Ref(T); accum:Ref(T); lr:T; grad:T; indices:Tindices",
          .outputs = "out:Ref(T)",
          .attrs = kSparseAttrs,
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

OpDef resource_sparse_apply_adagrad_op() {
  return {.name = "ResourceSparseApplyAdagrad",
          .inputs = "var:resource; accum:resource; lr:T; grad:T; indices:Tindices",
          .attrs = kSparseAttrs,
          .flags = "stateful",
          .infer = infer_apply,
          .cpu = kSparse,
          .rows = Rows::Written};
}

}  // namespace weir::ops
