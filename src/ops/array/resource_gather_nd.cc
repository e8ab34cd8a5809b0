#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/array/nd_index.h"
#include "ops/state/update.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

Shape gathered(const Shape& params, const Shape& indices) {
  if (indices[-1] > params.rank()) {
    throw invalid_argument("index innermost dimension length must be <= params rank; saw: {} vs. {}", indices[-1],
                           params.rank());
  }
  Shape to;
  for (int i = 0; i < indices.rank() - 1; ++i) to.append(indices[i]);
  for (int i = static_cast<int>(indices[-1]); i < params.rank(); ++i) to.append(params[i]);
  return to;
}

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_min_rank(1, 1);
  const Shape params = c.handle_shape(0), &indices = c.input(1);
  if (params.has_rank() && indices.has_rank() && indices[-1] != kUnknown) c.set_output(0, gathered(params, indices));
}

void gradient(GradContext& c) {
  Output handle = c.input(0), indices = c.input(1), grad = c.output_grad();
  Output sizes = NodeBuilder("VariableShape").input(handle).attr("out_type", indices.dtype()).output();
  if (indices.shape().has_rank() && indices.shape().rank() == 2 && indices.shape()[-1] == 1) {
    c.set_input_grad(0, IndexedSlices{grad, squeeze(indices, {-1}), sizes});
  } else {
    c.set_input_grad(0, scatter_nd(indices, grad, sizes));
  }
}

void cpu(KernelContext& c) {
  const Tensor params = c.variable(0).read_live();
  if (params.dtype() != c.node().type("dtype")) {
    throw invalid_argument("variable '{}' is {}", c.variable(0).name(), dtype_name(params.dtype()));
  }
  if (c.shape(1).rank() < 1) throw invalid_argument("indices must be at least a vector");
  const Shape to = gathered(params.shape(), c.shape(1));
  const NdIndex index(c, 1, params.shape());
  Tensor result(params.dtype(), to);
  if (result.elements() > 0) {
    with_element_type(params.dtype(), [&]<class T>(T) {
      const T* from = static_cast<const T*>(params.raw());
      for (int64_t row = 0; row < index.rows; ++row) {
        std::copy_n(from + index.slice_start(row), index.slice,
                    static_cast<T*>(result.mutable_raw()) + row * index.slice);
      }
    });
  }
  c.set_output(0, std::move(result));
}

}  // namespace

OpDef resource_gather_nd_op() {
  return {.name = "ResourceGatherNd",
          .inputs = "resource:resource; indices:Tindices",
          .outputs = "output:dtype",
          .attrs = "dtype:type; Tindices:type{int32,int64}",
          .flags = "stateful",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrDtype>, .gives_outputs = true},
          .effect = Effect::Reads,
          .rows = Rows::Read};
}

}  // namespace weir::ops
