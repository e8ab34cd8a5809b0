#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The limits are scalars or have the shape of t.
void infer(InferContext& c) {
  Shape shape = c.input(0);
  for (int i : {1, 2}) {
    const Shape& limit = c.input(i);
    if (limit.has_rank() && limit.rank() > 0) shape = shape.merged(limit);
  }
  c.set_output(0, std::move(shape));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T *t = c.input<T>(0), *low = c.input<T>(1), *high = c.input<T>(2);
    T* y = c.output<T>();
    const int64_t low_step = !c.shape(1).is_scalar(), high_step = !c.shape(2).is_scalar();
    c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T at_most = high[i * high_step] < t[i] ? high[i * high_step] : t[i];
        y[i] = at_most < low[i * low_step] ? low[i * low_step] : at_most;
      }
    });
  }
};

}  // namespace

OpDef clip_by_value_op() {
  return {.name = "ClipByValue",
          .inputs = "t:T; clip_value_min:T; clip_value_max:T",
          .outputs = "output:T",
          .attrs = "T:numbertype",
          .infer = infer,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

// TensorFlow 1 composes it, which gives it a gradient.
Output clip_by_value(const In& t, const In& low, const In& high, std::string_view name) {
  if (!t.output()) throw invalid_argument("clip_by_value: the argument belongs to no graph");
  Graph& graph = t.output().graph();
  LineScope line(graph, source_line(t.where()));
  Scope scope = graph.name_scope(name.empty() ? "clip_by_value" : name);
  Output at_most = minimum(t, high);
  return maximum(at_most, low, scope.name());
}

}  // namespace weir
