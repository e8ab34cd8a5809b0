#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Sign {
  static constexpr auto kTile = cpu::UnaryFn::Sign;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return x == T(0) ? x : x / std::abs(x);
    } else {
      return static_cast<T>((x > T(0)) - (x < T(0)));
    }
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, zeros_like(c.input(0))); }

}  // namespace

OpDef sign_op() { return unary_op<Sign, SignedTypes>("Sign", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output sign(const In& x, std::string_view name) { return NodeBuilder("Sign", name).input(x).output(); }

}  // namespace weir
