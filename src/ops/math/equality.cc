#include "ops/math/equality.h"

namespace weir::ops {
namespace {

bool may_broadcast(const Shape& x, const Shape& y) {
  for (int d = 1; d <= std::min(x.rank(), y.rank()); ++d) {
    int64_t a = x[-d], b = y[-d];
    if (a != b && a > -1 && b > -1 && a != 1 && b != 1) return false;
  }
  return true;
}

}  // namespace

void infer_equality(InferContext& c) {
  if (c.attr<bool>("incompatible_shape_error")) return infer::broadcast_binary(c);
  const Shape &x = c.input(0), &y = c.input(1);
  if (!may_broadcast(x, y)) {
    c.set_output(0, Shape{});
  } else if (x.is_known() && y.is_known()) {
    infer::broadcast_binary(c);
  }
}

EqualityState prepare_equality(PrepareContext& c) {
  return {prepare_binary(c), !may_broadcast(c.input(0), c.input(1))};
}

}  // namespace weir::ops
