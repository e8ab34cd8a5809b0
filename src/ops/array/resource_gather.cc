#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/gather_common.h"
#include "ops/state/update.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The first batch_dims dimensions of the variable and the indices are the same, and rows are gathered in each on its own.
Shape gathered(const Shape& variable, const Shape& indices, const AttrMap& attrs) {
  const auto batch_dims = attrs.get<int64_t>("batch_dims");
  if (variable.rank() < 1) throw invalid_argument("a scalar variable has no rows");
  if (batch_dims < 0 || batch_dims > indices.rank() || batch_dims >= variable.rank()) {
    throw invalid_argument("batch_dims is {}; the variable has shape {}, the indices {}", batch_dims, variable.str(),
                           indices.str());
  }
  const int first = static_cast<int>(batch_dims);
  for (int i = 0; i < first; ++i) {
    if (variable[i] != kUnknown && indices[i] != kUnknown && variable[i] != indices[i]) {
      throw invalid_argument("dimension {} of the variable and the indices differ: {} and {}", i, variable.str(),
                             indices.str());
    }
  }
  Shape to = indices;
  for (int i = first + 1; i < variable.rank(); ++i) to.append(variable[i]);
  return to;
}

void infer(InferContext& c) {
  c.require_scalar(0);
  const Shape variable = c.handle_shape(0), &indices = c.input(1);
  if (variable.has_rank() && indices.has_rank()) c.set_output(0, gathered(variable, indices, c.attrs()));
}

// Rows are read where they lie, while other runs may write some.
void cpu(KernelContext& c) {
  const Tensor params = c.variable(0).read_live();
  const Shape& indices = c.shape(1);
  if (params.dtype() != c.node().type("dtype")) {
    throw invalid_argument("variable '{}' is {}", c.variable(0).name(), dtype_name(params.dtype()));
  }
  Tensor result(params.dtype(), gathered(params.shape(), indices, c.node().attrs()));
  const int batch_dims = static_cast<int>(c.node().attrs().get<int64_t>("batch_dims"));
  const int64_t limit = params.shape()[batch_dims];
  int64_t batches = 1, width = 1;
  for (int i = 0; i < batch_dims; ++i) batches *= params.shape()[i];
  for (int i = batch_dims + 1; i < params.shape().rank(); ++i) width *= params.shape()[i];
  const int64_t in_each = batches > 0 ? c.elements(1) / batches : 0;  // indices
  with_element_type(params.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(params.raw());
    T* out = static_cast<T*>(result.mutable_raw());
    for (int64_t i = 0; i < c.elements(1); ++i) {
      const int64_t index = int_at(c, 1, i);
      if (index < 0 || index >= limit) index_out_of_range(indices, i, index, limit);
      std::copy_n(from + (i / in_each * limit + index) * width, width, out + i * width);
    }
  });
  c.set_output(0, std::move(result));
}

// Rows of the variable, so the gradient is sparse.
void gradient(GradContext& c) {
  if (c.op().attrs().get<int64_t>("batch_dims") != 0) {
    throw error(Code::Unimplemented, "no gradient of rows that are gathered in batches; gather from the variable's value");
  }
  Output handle = c.input(0), indices = c.input(1), grad = c.output_grad();
  Output sizes = NodeBuilder("VariableShape").input(handle).output();
  Output count = expand_dims(size(indices), 0);
  Output values_shape = concat({count, subscript(sizes, {from(1)})}, 0);
  Output values = reshape(grad, values_shape);
  c.set_input_grad(0, IndexedSlices{values, reshape(indices, count), sizes});
}

}  // namespace

OpDef resource_gather_op() {
  return {.name = "ResourceGather",
          .inputs = "resource:resource; indices:Tindices",
          .outputs = "output:dtype",
          .attrs = "batch_dims:int=0; validate_indices:bool=True; dtype:type; Tindices:type{int32,int64}",
          .flags = "stateful",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrDtype>, .gives_outputs = true},
          .effect = Effect::Reads,
          .rows = Rows::Read};
}

}  // namespace weir::ops

namespace weir {

Output resource_gather(const Variable& variable, const In& indices, std::string_view name) {
  Output rows = NodeBuilder("ResourceGather", name, indices.where())
                    .input(variable.handle())
                    .input(indices)
                    .attr("dtype", variable.dtype())
                    .output();
  return rows;
}

}  // namespace weir
