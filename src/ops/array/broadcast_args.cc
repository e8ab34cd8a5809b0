#include "base/errors.h"
#include "ops/array/array_util.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  const int64_t a = c.input(0).has_rank() ? c.input(0)[0] : kUnknown,
                b = c.input(1).has_rank() ? c.input(1)[0] : kUnknown;
  c.set_output(0, Shape{a == kUnknown || b == kUnknown ? kUnknown : std::max(a, b)});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n0 = c.elements(0), n1 = c.elements(1), rank = std::max(n0, n1);
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t i0 = i - (rank - n0), i1 = i - (rank - n1);
      const T a = i0 < 0 ? T(1) : c.input<T>(0)[i0], b = i1 < 0 ? T(1) : c.input<T>(1)[i1];
      if (a != b && a != 1 && b != 1) {
        throw invalid_argument("Incompatible shapes for broadcasting: sizes {} and {} of dimension {}", a, b, i);
      }
      c.output<T>()[i] = a == 1 ? b : a;
    }
  }
};

}  // namespace

OpDef broadcast_args_op() {
  return {.name = "BroadcastArgs",
          .inputs = "s0:T; s1:T",
          .outputs = "r0:T",
          .attrs = "T:type{int32,int64}=int32",
          .host = "s0, s1, r0",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>}};
}

}  // namespace weir::ops
