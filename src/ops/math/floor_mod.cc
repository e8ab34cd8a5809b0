#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct FloorMod {
  static constexpr auto kTile = cpu::BinaryFn::FloorMod;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      T rest = wrapping_mod(x, y);
      return (x < 0) != (y < 0) && rest != 0 ? static_cast<T>(rest + y) : rest;
    } else {
      T rest = std::fmod(x, y);
      return (x < 0) == (y < 0) ? rest : std::fmod(rest + y, y);
    }
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = c.input(0), y = c.input(1);
  Output quotient = NodeBuilder("FloorDiv").input(x).input(y).output();
  set_broadcast_grads(c, dz, dz * negative(quotient));
}

}  // namespace

OpDef floor_mod_op() {
  return binary_op<FloorMod, ModTypes>({.name = "FloorMod", .attrs = kModT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output floormod(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("FloorMod", name).input(x).input(y).output();
}

Output mod(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("FloorMod", name).input(x).input(y).output();
}

}  // namespace weir
