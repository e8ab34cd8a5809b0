#include "ops/math/arg_extremum.h"

namespace weir::ops {
namespace {

struct ArgMin {
  static constexpr auto kFn = cpu::ArgFn::Min;
  template <class T>
  static bool better(T a, T b) {
    return static_cast<Wide<T>>(a) < static_cast<Wide<T>>(b);
  }
};

}  // namespace

OpDef arg_min_op() { return arg_extremum_op<ArgMin>("ArgMin"); }

}  // namespace weir::ops

namespace weir {

Output argmin(const In& x, const In& axis, DType output_type, std::string_view name) {
  return NodeBuilder("ArgMin", name).input(x).input(axis).attr("output_type", output_type).output();
}

}  // namespace weir
