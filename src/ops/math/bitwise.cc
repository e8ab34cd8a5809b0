#include <bit>

#include "ops/math/binary.h"
#include "ops/math/unary.h"

// Integers bit by bit.
namespace weir::ops {
namespace {

struct And {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
struct Or {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
struct Xor {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};

// Shifts by less than nothing are none, and by more than there are bits one less than that, as in TensorFlow.
template <class T>
int bounded(T y) {
  constexpr int kMost = static_cast<int>(sizeof(T) * 8) - 1;
  return y < T(0) ? 0 : y > T(kMost) ? kMost : static_cast<int>(y);
}
struct Left {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << bounded(y));
  }
};
struct Right {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x >> bounded(y));
  }
};
struct Invert {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct Count {
  template <class T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

constexpr std::string_view kIntT = "T:type{int8,int16,int32,int64,uint8,uint16,uint32,uint64}";

}  // namespace

OpDef bitwise_and_op() {
  return binary_op<And, IntTypes>(
      {.name = "BitwiseAnd", .attrs = kIntT, .flags = "commutative", .gradient = not_differentiable});
}
OpDef bitwise_or_op() {
  return binary_op<Or, IntTypes>(
      {.name = "BitwiseOr", .attrs = kIntT, .flags = "commutative", .gradient = not_differentiable});
}
OpDef bitwise_xor_op() {
  return binary_op<Xor, IntTypes>(
      {.name = "BitwiseXor", .attrs = kIntT, .flags = "commutative", .gradient = not_differentiable});
}
OpDef left_shift_op() {
  return binary_op<Left, IntTypes>({.name = "LeftShift", .attrs = kIntT, .gradient = not_differentiable});
}
OpDef right_shift_op() {
  return binary_op<Right, IntTypes>({.name = "RightShift", .attrs = kIntT, .gradient = not_differentiable});
}
OpDef invert_op() { return unary_op<Invert, IntTypes>("Invert", kIntT, not_differentiable); }
OpDef population_count_op() {
  OpDef row = unary_op<Count, IntTypes>("PopulationCount", kIntT, not_differentiable);
  row.outputs = "y:uint8";
  row.cpu.in_place = 0;
  return row;
}

}  // namespace weir::ops
