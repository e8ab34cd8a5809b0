#include "base/errors.h"
#include "graph/node.h"
#include "ops/array/array_util.h"
#include "ops/array/gather_common.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_gather(c, scalar_argument(c, 2), c.attr<int64_t>("batch_dims")); }

// Where the rows of each batch lie when the batch dimensions are joined with the gathered one.
Output flat_batch_indices(const Output& params_shape, Output indices, int64_t batch_dims) {
  if (!indices.shape().has_rank()) {
    throw invalid_argument("the gradient with batch_dims needs the rank of the indices");
  }
  Graph& graph = indices.graph();
  Output sizes = cast(params_shape, indices.dtype());
  Output step = ones(graph, Shape{}, indices.dtype());
  for (int dim = static_cast<int>(batch_dims); dim > 0; --dim) {
    Output size = subscript(sizes, {dim - 1});
    step = step * subscript(sizes, {dim});
    Output starts = range(zeros(graph, Shape{}, indices.dtype()), size, ones(graph, Shape{}, indices.dtype())) * step;
    std::vector<int32_t> dims(static_cast<size_t>(indices.shape().rank()), 1);
    dims[static_cast<size_t>(dim - 1)] = -1;
    indices = indices + reshape(starts, dims);
  }
  return indices;
}

// Sums slices into place, with the gathered dimension first behind the batch dimensions.
Output scatter_slices(const Output& params_shape, Output values, Output indices, int64_t batch_dims, Output rows) {
  Output count = expand_dims(size(indices), 0);
  if (batch_dims == 0) return unsorted_segment_sum(values, reshape(indices, count), rows);
  Output values_shape = shape(values);
  Output outer = subscript(values_shape, {until(batch_dims)});
  Output inner = subscript(values_shape, {from(batch_dims + 1)});
  Output flat_shape = concat({In({-1}), inner}, 0);
  rows = rows * reduce_prod(outer, {0});
  indices = reshape(flat_batch_indices(params_shape, indices, batch_dims), count);
  Output sums = unsorted_segment_sum(reshape(values, flat_shape), indices, rows);
  return reshape(sums, concat({outer, flat_shape}, 0));
}

void gradient(GradContext& c) {
  Output params = c.input(0), indices = c.input(1), axis = c.input(2);
  Tensor known_axis = constant_value(axis);
  bool rows = known_axis.valid() && (known_axis.dtype() == DType::Int32 ? known_axis.scalar<int32_t>() == 0
                                                                        : known_axis.scalar<int64_t>() == 0);
  if (rows) return c.set_input_grad(0, gather_row_gradient(params, indices, c.output_grad()));

  int64_t batch_dims = c.attr<int64_t>("batch_dims");
  if (batch_dims < 0) batch_dims += indices.shape().rank();
  Output params_shape = shape(params);
  axis = floormod(cast(axis, int32), rank(params));
  // The gathered dimension is moved up behind the batch dimensions, summed there, and moved back.
  Output outer = subscript(params_shape, {between(0, axis)});
  Output inner = subscript(params_shape, {from(axis + 1)});
  Output values_shape = concat({outer, In({-1}), inner}, 0);
  Output axis_dims = size(outer);
  Output batch_axes = range(c.graph(), 0, batch_dims);
  Output outer_axes = range(batch_dims, axis_dims);
  Output inner_axes = range(axis_dims + 1, size(values_shape));
  Output up = concat({batch_axes, reshape(axis_dims, {1}), outer_axes, inner_axes}, 0);
  Output values = transpose(reshape(c.output_grad(), values_shape), up);
  Output sums = scatter_slices(params_shape, values, indices, batch_dims, subscript(params_shape, {axis}));
  Output back = concat({batch_axes, outer_axes + 1, In({batch_dims}), inner_axes}, 0);
  c.set_input_grad(0, transpose(sums, back));
}

struct State {
  int64_t batch_dims;
};
State prepare(PrepareContext& c) { return {c.attr<int64_t>("batch_dims")}; }

void cpu(KernelContext& c) { compute_gather(c, int_at(c, 2), c.state<State>().batch_dims); }

}  // namespace

OpDef gather_v2_op() {
  return {.name = "GatherV2",
          .inputs = "params:Tparams; indices:Tindices; axis:Taxis",
          .outputs = "output:Tparams",
          .attrs = "batch_dims:int=0; Tparams:type; Tindices:type{int32,int64}; Taxis:type{int32,int64}",
          .host = "axis",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrTparams>, .prepare = prepared<prepare>},
          .rows = Rows::Read};
}

}  // namespace weir::ops

namespace weir {

Output gather(const In& params, const In& indices, const In& axis, std::string_view name) {
  return NodeBuilder("GatherV2", name).input(params).input(indices).input(axis).output();
}

}  // namespace weir
