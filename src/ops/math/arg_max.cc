#include "ops/math/arg_extremum.h"

namespace weir::ops {
namespace {

struct ArgMax {
  static constexpr auto kFn = cpu::ArgFn::Max;
  template <class T>
  static bool better(T a, T b) {
    return static_cast<Wide<T>>(a) > static_cast<Wide<T>>(b);
  }
};

}  // namespace

OpDef arg_max_op() { return arg_extremum_op<ArgMax>("ArgMax"); }

}  // namespace weir::ops

namespace weir {

Output argmax(const In& x, const In& axis, DType output_type, std::string_view name) {
  return NodeBuilder("ArgMax", name).input(x).input(axis).attr("output_type", output_type).output();
}

}  // namespace weir
