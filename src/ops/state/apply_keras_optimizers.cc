#include <cmath>

#include "ops/state/apply.h"

// The forms of Keras' optimizers: Adagrad with epsilon, momentum that has the rate inside, Adam with AMSGrad.
namespace weir::ops {
namespace {

bool prepare_slots(PrepareContext& c) { return c.attr<bool>("update_slots"); }
bool prepare_nesterov(PrepareContext& c) { return c.attr<bool>("use_nesterov"); }

template <class T>
struct AdagradV2 {
  using W = Wide<T>;
  W lr, epsilon;
  bool update_slots;
  AdagradV2(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)), epsilon(wide_scalar<T>(c, first + 1)), update_slots(c.state<bool>()) {}
  void operator()(const std::array<T*, 2>& v, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const W g = static_cast<W>(grad[i]), old = static_cast<W>(v[1][i]), sum = update_slots ? old + g * g : old;
      v[1][i] = static_cast<T>(sum);
      v[0][i] = static_cast<T>(static_cast<W>(v[0][i]) - g * lr / (std::sqrt(sum) + epsilon));
    }
  }
};

// The momentum stands behind the gradient, and behind the indices if there are any.
template <class T>
struct KerasMomentum {
  using W = Wide<T>;
  W lr, momentum;
  bool nesterov;
  KerasMomentum(const KernelContext& c, int last)
      : lr(wide_scalar<T>(c, 2)), momentum(wide_scalar<T>(c, last)), nesterov(c.state<bool>()) {}
  void operator()(const std::array<T*, 2>& v, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const W step = static_cast<W>(grad[i]) * lr, a = static_cast<W>(v[1][i]) * momentum - step;
      v[1][i] = static_cast<T>(a);
      v[0][i] = static_cast<T>(static_cast<W>(v[0][i]) + (nesterov ? a * momentum - step : a));
    }
  }
};

struct DenseMomentum {
  template <class T>
  static void run(KernelContext& c) {
    const KerasMomentum<T> step(c, 4);
    update_blocks<T, 2>(c, 3, [&](std::array<T*, 2> data, int64_t begin, int64_t end) {
      for (T*& variable : data) variable += begin;
      step(data, c.input<T>(3) + begin, end - begin);
    });
  }
};
struct SparseMomentum {
  template <class T>
  static void run(KernelContext& c) {
    update_typed_rows<T, 2>(c, 3, 4, KerasMomentum<T>(c, 5));
  }
};

template <class T>
struct Amsgrad {
  using W = Wide<T>;
  W beta1_power, beta2_power, lr, beta1, beta2, epsilon;
  Amsgrad(const KernelContext& c, int first)
      : beta1_power(wide_scalar<T>(c, first)),
        beta2_power(wide_scalar<T>(c, first + 1)),
        lr(wide_scalar<T>(c, first + 2)),
        beta1(wide_scalar<T>(c, first + 3)),
        beta2(wide_scalar<T>(c, first + 4)),
        epsilon(wide_scalar<T>(c, first + 5)) {}
  void operator()(const std::array<T*, 4>& data, const T* grad, int64_t n) const {
    const W rate = lr * std::sqrt(1 - beta2_power) / (1 - beta1_power);
    for (int64_t i = 0; i < n; ++i) {
      const W g = static_cast<W>(grad[i]), old_m = static_cast<W>(data[1][i]), old_v = static_cast<W>(data[2][i]);
      const W m = old_m + (g - old_m) * (1 - beta1), v = old_v + (g * g - old_v) * (1 - beta2);
      const W most = std::max(static_cast<W>(data[3][i]), v);
      data[1][i] = static_cast<T>(m);
      data[2][i] = static_cast<T>(v);
      data[3][i] = static_cast<T>(most);
      data[0][i] = static_cast<T>(static_cast<W>(data[0][i]) - m * rate / (std::sqrt(most) + epsilon));
    }
  }
};

constexpr Kernel kAdagrad = {.select = kernel_for<FloatTypes, ApplyDense<AdagradV2, 2, 2>>,
                             .prepare = prepared<prepare_slots>};
constexpr Kernel kSparseAdagrad = {.select = kernel_for<FloatTypes, ApplySparse<AdagradV2, 2, 2>>,
                                   .prepare = prepared<prepare_slots>};
constexpr std::string_view kAdagradAttrs = "T:numbertype; use_locking:bool=False; update_slots:bool=True";
constexpr std::string_view kSparseAdagradAttrs =
    "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False; update_slots:bool=True";

OpDef written_rows(OpDef row) {
  row.rows = Rows::Written;
  return row;
}

}  // namespace

OpDef apply_adagrad_v2_op() {
  return apply_ref_row("ApplyAdagradV2", "var:Ref(T); accum:Ref(T); lr:T; epsilon:T; grad:T", kAdagradAttrs, kAdagrad);
}
OpDef resource_apply_adagrad_v2_op() {
  return apply_resource_row("ResourceApplyAdagradV2", "var:resource; accum:resource; lr:T; epsilon:T; grad:T",
                            kAdagradAttrs, kAdagrad);
}
OpDef sparse_apply_adagrad_v2_op() {
  return written_rows(apply_ref_row("SparseApplyAdagradV2",
                                    "var:Ref(T); accum:Ref(T); lr:T; epsilon:T; grad:T; indices:Tindices",
                                    kSparseAdagradAttrs, kSparseAdagrad));
}
OpDef resource_sparse_apply_adagrad_v2_op() {
  return written_rows(apply_resource_row("ResourceSparseApplyAdagradV2",
                                         "var:resource; accum:resource; lr:T; epsilon:T; grad:T; indices:Tindices",
                                         kSparseAdagradAttrs, kSparseAdagrad));
}
OpDef resource_apply_keras_momentum_op() {
  return apply_resource_row("ResourceApplyKerasMomentum", "var:resource; accum:resource; lr:T; grad:T; momentum:T",
                            "T:numbertype; use_locking:bool=False; use_nesterov:bool=False",
                            {.select = kernel_for<FloatTypes, DenseMomentum>, .prepare = prepared<prepare_nesterov>});
}
OpDef resource_sparse_apply_keras_momentum_op() {
  return written_rows(apply_resource_row(
      "ResourceSparseApplyKerasMomentum", "var:resource; accum:resource; lr:T; grad:T; indices:Tindices; momentum:T",
      "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False; use_nesterov:bool=False",
      {.select = kernel_for<FloatTypes, SparseMomentum>, .prepare = prepared<prepare_nesterov>}));
}
OpDef resource_apply_adam_with_amsgrad_op() {
  return apply_resource_row(
      "ResourceApplyAdamWithAmsgrad",
      "var:resource; m:resource; v:resource; vhat:resource; beta1_power:T; beta2_power:T; lr:T; beta1:T; beta2:T; "
      "epsilon:T; grad:T",
      kApplyAttrs, {.select = kernel_for<FloatTypes, ApplyDense<Amsgrad, 4, 6>>});
}

}  // namespace weir::ops
