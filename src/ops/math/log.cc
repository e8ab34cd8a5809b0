#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Log {
  static constexpr auto kTile = cpu::UnaryFn::Log;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  c.set_input_grad(0, dy * reciprocal(x));
}

}  // namespace

OpDef log_op() { return unary_op<Log, FloatComplexTypes>("Log", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output log(const In& x, std::string_view name) { return NodeBuilder("Log", name).input(x).output(); }

}  // namespace weir
