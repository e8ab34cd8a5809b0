#include "ops/math/binary.h"

namespace weir::ops {
namespace {

constexpr std::string_view kTypes =
    "T:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128}";

struct AddV2 {
  static constexpr auto kTile = cpu::BinaryFn::Add;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_add(x, y);
  }
};

void gradient(GradContext& c) { set_broadcast_grads(c, c.output_grad(), c.output_grad()); }

}  // namespace

OpDef add_v2_op() {
  return binary_op<AddV2, ArithmeticTypes>(
      {.name = "AddV2", .attrs = kTypes, .flags = "commutative,aggregate", .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output operator+(const In& x, const In& y) {
  // AddV2 does not join strings.
  auto is_text = [](const In& in) { return (in.output() ? in.output().dtype() : in.value().dtype()) == string; };
  return NodeBuilder(is_text(x) ? "Add" : "AddV2", "add").input(x).input(y).output();
}

}  // namespace weir
