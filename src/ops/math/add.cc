#include "ops/math/binary.h"

namespace weir::ops {
namespace {

constexpr std::string_view kTypes =
    "T:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128,string}";

struct Add {
  static constexpr auto kTile = cpu::BinaryFn::Add;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_add(x, y);
  }
};

void gradient(GradContext& c) { set_broadcast_grads(c, c.output_grad(), c.output_grad()); }

}  // namespace

OpDef add_op() {
  return binary_op<Add, decltype(ArithmeticTypes{} + Types<std::string>{})>(
      {.name = "Add", .attrs = kTypes, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output add(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Add", name).input(x).input(y).output();
}

}  // namespace weir
