#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/array/nd_index.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape &params = c.input(0), &indices = c.input(1);
  c.require_min_rank(1, 1);
  if (!params.has_rank() || !indices.has_rank() || indices[-1] == kUnknown) return;
  if (indices[-1] > params.rank()) {
    throw invalid_argument("the last dimension of indices, {}, is longer than the rank of params, {}", indices.str(),
                           params.str());
  }
  Shape to;
  for (int i = 0; i < indices.rank() - 1; ++i) to.append(indices[i]);
  for (int i = static_cast<int>(indices[-1]); i < params.rank(); ++i) to.append(params[i]);
  c.set_output(0, to);
}

void gradient(GradContext& c) {
  Output params = c.input(0), indices = c.input(1);
  Output params_shape = shape(params, indices.dtype());
  if (indices.shape().rank() == 2 && indices.shape()[1] == 1) {
    c.set_input_grad(0, IndexedSlices{c.output_grad(), squeeze(indices, {-1}), params_shape});
  } else {
    c.set_input_grad(0, scatter_nd(indices, c.output_grad(), params_shape));
  }
}

void cpu(KernelContext& c) {
  NdIndex index(c, 1, c.shape(0));
  if (c.output_elements() == 0) return;
  with_element_type(c.dtype(0), [&]<class T>(T) {
    const T* params = c.input<T>(0);
    T* out = c.output<T>();
    int64_t grain = std::max<int64_t>(16384 / index.slice, 1);
    c.pool().parallel_for(index.rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::copy_n(params + index.slice_start(row), index.slice, out + row * index.slice);
      }
    });
  });
}

}  // namespace

OpDef gather_nd_op() {
  return {.name = "GatherNd",
          .inputs = "params:Tparams; indices:Tindices",
          .outputs = "output:Tparams",
          .attrs = "Tparams:type; Tindices:type{int32,int64}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrTparams>},
          .rows = Rows::Read};
}

}  // namespace weir::ops

namespace weir {

Output gather_nd(const In& params, const In& indices, std::string_view name) {
  return NodeBuilder("GatherNd", name).input(params).input(indices).output();
}

}  // namespace weir
