#include <cmath>

#include "ops/state/apply.h"

// AddSign and PowerSign (Bello et al., "Neural optimizer search with reinforcement learning", 2017), and AdaMax (Kingma
// and Ba, "Adam", 2014, section 7).
namespace weir::ops {
namespace {

template <class W>
W sign_of(W x) {
  return x > 0 ? W(1) : x < 0 ? W(-1) : W(0);
}

template <class T, bool kPower>
struct Sign {
  using W = Wide<T>;
  W lr, factor, sign_decay, beta;
  Sign(const KernelContext& c, int first)
      : lr(wide_scalar<T>(c, first)),
        factor(wide_scalar<T>(c, first + 1)),
        sign_decay(wide_scalar<T>(c, first + 2)),
        beta(wide_scalar<T>(c, first + 3)) {}
  void operator()(const std::array<T*, 2>& v, const T* grad, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const W g = static_cast<W>(grad[i]), m = static_cast<W>(v[1][i]) * beta + g * (1 - beta);
      v[1][i] = static_cast<T>(m);
      const W agreement = sign_decay * (sign_of(g) * sign_of(m));
      const W scale = kPower ? std::exp(factor * agreement) : factor + agreement;
      v[0][i] = static_cast<T>(static_cast<W>(v[0][i]) - lr * scale * g);
    }
  }
};
template <class T>
using AddSign = Sign<T, false>;
template <class T>
using PowerSign = Sign<T, true>;

template <class T>
struct AdaMax {
  using W = Wide<T>;
  W beta1_power, lr, beta1, beta2, epsilon;
  AdaMax(const KernelContext& c, int first)
      : beta1_power(wide_scalar<T>(c, first)),
        lr(wide_scalar<T>(c, first + 1)),
        beta1(wide_scalar<T>(c, first + 2)),
        beta2(wide_scalar<T>(c, first + 3)),
        epsilon(wide_scalar<T>(c, first + 4)) {}
  void operator()(const std::array<T*, 3>& data, const T* grad, int64_t n) const {
    const W rate = lr / (1 - beta1_power);
    for (int64_t i = 0; i < n; ++i) {
      const W g = static_cast<W>(grad[i]), old = static_cast<W>(data[1][i]);
      const W m = old + (g - old) * (1 - beta1), v = std::max(beta2 * static_cast<W>(data[2][i]), std::abs(g));
      data[1][i] = static_cast<T>(m);
      data[2][i] = static_cast<T>(v);
      data[0][i] = static_cast<T>(static_cast<W>(data[0][i]) - rate * (m / (v + epsilon)));
    }
  }
};

constexpr Kernel kAddSign = {.select = kernel_for<FloatTypes, ApplyDense<AddSign, 2, 4>>};
constexpr Kernel kPowerSign = {.select = kernel_for<FloatTypes, ApplyDense<PowerSign, 2, 4>>};
constexpr Kernel kAdaMax = {.select = kernel_for<FloatTypes, ApplyDense<AdaMax, 3, 5>>};

}  // namespace

OpDef apply_add_sign_op() {
  return apply_ref_row("ApplyAddSign", "var:Ref(T); m:Ref(T); lr:T; alpha:T; sign_decay:T; beta:T; grad:T", kApplyAttrs,
                       kAddSign);
}
OpDef resource_apply_add_sign_op() {
  return apply_resource_row("ResourceApplyAddSign",
                            "var:resource; m:resource; lr:T; alpha:T; sign_decay:T; beta:T; grad:T", kApplyAttrs,
                            kAddSign);
}
OpDef apply_power_sign_op() {
  return apply_ref_row("ApplyPowerSign", "var:Ref(T); m:Ref(T); lr:T; logbase:T; sign_decay:T; beta:T; grad:T",
                       kApplyAttrs, kPowerSign);
}
OpDef resource_apply_power_sign_op() {
  return apply_resource_row("ResourceApplyPowerSign",
                            "var:resource; m:resource; lr:T; logbase:T; sign_decay:T; beta:T; grad:T", kApplyAttrs,
                            kPowerSign);
}
OpDef apply_ada_max_op() {
  return apply_ref_row("ApplyAdaMax",
                       "var:Ref(T); m:Ref(T); v:Ref(T); beta1_power:T; lr:T; beta1:T; beta2:T; epsilon:T; grad:T",
                       kApplyAttrs, kAdaMax);
}
OpDef resource_apply_ada_max_op() {
  return apply_resource_row(
      "ResourceApplyAdaMax",
      "var:resource; m:resource; v:resource; beta1_power:T; lr:T; beta1:T; beta2:T; epsilon:T; grad:T", kApplyAttrs,
      kAdaMax);
}

}  // namespace weir::ops
