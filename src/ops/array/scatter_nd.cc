#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/nd_index.h"
#include "ops/math/functors.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Each index has its update.
void check_outer(const Shape& indices, const Shape& updates) {
  const int outer = indices.rank() - 1;
  bool fits = updates.rank() >= outer;
  for (int i = 0; fits && i < outer; ++i) fits = Shape{indices[i]}.compatible(Shape{updates[i]});
  if (fits) return;
  throw invalid_argument(
      "The outer {} dimensions of indices.shape={} must match the outer {} dimensions of updates.shape={}", outer,
      indices.str(), outer, updates.str());
}

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  const Shape &indices = c.input(0), &updates = c.input(1);
  Shape to = shape_argument(c, 2);
  if (to.has_rank() && indices.has_rank() && indices[-1] != kUnknown) {
    if (indices[-1] > to.rank()) {
      throw invalid_argument("the last dimension of indices, {}, is longer than the rank of shape {}", indices.str(),
                             to.str());
    }
    Shape expected;
    for (int i = 0; i < indices.rank() - 1; ++i) expected.append(indices[i]);
    for (int i = static_cast<int>(indices[-1]); i < to.rank(); ++i) expected.append(to[i]);
    if (!updates.compatible(expected)) {
      check_outer(indices, updates);
      throw invalid_argument(
          "The inner {} dimensions of output.shape={} must match the inner dimensions of updates.shape={}: updates "
          "must "
          "have shape {}",
          to.rank() - static_cast<int>(indices[-1]), to.str(), updates.str(), expected.str());
    }
  }
  auto some = [](const Shape& shape) { return shape.is_known() && shape.elements() > 0; };
  if (to.is_known() && to.elements() == 0 && some(indices) && some(updates)) {
    throw invalid_argument("Indices and updates specified for empty output shape");
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) { c.set_input_grad(1, gather_nd(c.output_grad(), c.input(0))); }

// One row after the other: rows may name the same slice, and sums must not depend on the threads. Strings are joined.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    zero_elements(dtype_of<T>, c.raw_output(), c.output_elements(), c.pool());
    NdIndex index(c, 0, c.output_shape());
    if (c.elements(1) == 0) return;
    const T* updates = c.input<T>(1);
    for (int64_t row = 0; row < index.rows; ++row) {
      T* out = c.output<T>() + index.slice_start(row);
      for (int64_t i = 0; i < index.slice; ++i) {
        const T& update = updates[row * index.slice + i];
        if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
          out[i] = T(out[i] + update);
        } else {
          out[i] = static_cast<T>(wrapping_add(Wide<T>(out[i]), Wide<T>(update)));
        }
      }
    }
  }
};

}  // namespace

OpDef scatter_nd_op() {
  return {.name = "ScatterNd",
          .inputs = "indices:Tindices; updates:T; shape:Tindices",
          .outputs = "output:T",
          .attrs = "T:type; Tindices:type{int32,int64}",
          .host = "shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<AllTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output scatter_nd(const In& indices, const In& updates, const In& shape, std::string_view name) {
  return NodeBuilder("ScatterNd", name).input(indices).input(updates).input(shape).output();
}

}  // namespace weir
