#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/math/segments.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    if (c.dtype(1) == int32) {
      sum<T, int32_t>(c);
    } else {
      sum<T, int64_t>(c);
    }
  }

 private:
  template <class T, class I>
  static void sum(KernelContext& c) {
    const T* x = c.input<T>(0);
    const I* ids = c.input<I>(1);
    T* y = c.output<T>();
    const int64_t count = c.elements(1), rows = c.output_shape()[0];
    const int64_t width = count == 0 ? 0 : c.elements(0) / count;
    std::fill_n(y, c.output_elements(), T());
    for (int64_t r = 0; r < count; ++r) {
      check_sorted_id(ids[r], r > 0 ? ids[r - 1] : 0, rows);
      T* to = y + ids[r] * width;
      for (int64_t i = 0; i < width; ++i) {
        to[i] = static_cast<T>(wrapping_add(static_cast<Wide<T>>(to[i]), static_cast<Wide<T>>(x[r * width + i])));
      }
    }
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, gather(c.output_grad(), c.input(1))); }

}  // namespace

OpDef segment_sum_op() {
  return {.name = "SegmentSum",
          .inputs = "data:T; segment_ids:Tindices",
          .outputs = "output:T",
          .attrs = "T:numbertype; Tindices:type{int32,int64}",
          .host = "segment_ids",
          .infer = infer_segments,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output segment_sum(const In& data, const In& segment_ids, std::string_view name) {
  return NodeBuilder("SegmentSum", name).input(data).input(segment_ids).output();
}

}  // namespace weir
