#include "base/errors.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Calls emit(side, axis) for every axis of the broadcast along which that side's gradient must be summed: in ascending
// order, and none at all when the shapes are equal. Where both sizes are 1 both sides are named, as TensorFlow does.
template <class A, class B, class Emit>
void reduction_axes(const A& s0, int64_t n0, const B& s1, int64_t n1, Emit&& emit) {
  bool equal = n0 == n1;
  for (int64_t i = 0; equal && i < n0; ++i) equal = s0(i) == s1(i);
  if (equal) return;
  int64_t rank = std::max(n0, n1);
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t i0 = axis - (rank - n0), i1 = axis - (rank - n1);
    int64_t a = i0 < 0 ? 1 : s0(i0), b = i1 < 0 ? 1 : s1(i1);
    if (a != b && a != 1 && b != 1) {
      throw invalid_argument("incompatible shapes for broadcasting: sizes {} and {} of dimension {}", a, b, axis);
    }
    if (a == 1) emit(0, axis);
    if (b == 1) emit(1, axis);
  }
}

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  std::optional<std::vector<int64_t>> s0 = c.value_as_ints(0), s1 = c.value_as_ints(1);
  int64_t counts[2] = {kUnknown, kUnknown};
  if (s0 && s1) {
    counts[0] = counts[1] = 0;
    reduction_axes([&](int64_t i) { return (*s0)[static_cast<size_t>(i)]; }, static_cast<int64_t>(s0->size()),
                   [&](int64_t i) { return (*s1)[static_cast<size_t>(i)]; }, static_cast<int64_t>(s1->size()),
                   [&](int side, int64_t) { ++counts[side]; });
  }
  c.set_output(0, Shape{counts[0]});
  c.set_output(1, Shape{counts[1]});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    T* out[2] = {c.output<T>(0), c.output<T>(1)};
    reduction_axes([&](int64_t i) -> int64_t { return c.input<T>(0)[i]; }, c.elements(0),
                   [&](int64_t i) -> int64_t { return c.input<T>(1)[i]; }, c.elements(1),
                   [&](int side, int64_t axis) { *out[side]++ = static_cast<T>(axis); });
  }
};

}  // namespace

OpDef broadcast_gradient_args_op() {
  return {.name = "BroadcastGradientArgs",
          .inputs = "s0:T; s1:T",
          .outputs = "r0:T; r1:T",
          .attrs = "T:type{int32,int64}=int32",
          .host = "s0, s1, r0, r1",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::pair<Output, Output> broadcast_gradient_args(const In& s0, const In& s1, std::string_view name) {
  Operation op = NodeBuilder("BroadcastGradientArgs", name).input(s0).input(s1).build();
  return {op.output(0), op.output(1)};
}

}  // namespace weir
