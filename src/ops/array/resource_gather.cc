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

void infer(InferContext& c) {
  c.require_scalar(0);
  if (c.attr<int64_t>("batch_dims") != 0) throw error(Code::Unimplemented, "batch_dims other than 0");
  const Shape variable = c.handle_shape(0), &indices = c.input(1);
  if (!variable.has_rank() || !indices.has_rank()) return;
  if (variable.rank() < 1) c.fail("a scalar variable has no rows");
  Shape to = indices;
  for (int i = 1; i < variable.rank(); ++i) to.append(variable[i]);
  c.set_output(0, to);
}

// Rows are read where they lie, while other runs may write some.
void cpu(KernelContext& c) {
  const Tensor params = c.variable(0).read_live();
  const Shape& indices = c.shape(1);
  if (params.dtype() != c.node().type("dtype")) {
    throw invalid_argument("variable '{}' is {}", c.variable(0).name(), dtype_name(params.dtype()));
  }
  if (params.shape().rank() < 1) throw invalid_argument("a scalar variable has no rows");
  const int64_t limit = params.shape()[0], width = limit > 0 ? params.elements() / limit : 0;
  Shape to = indices;
  for (int i = 1; i < params.shape().rank(); ++i) to.append(params.shape()[i]);
  Tensor result(params.dtype(), to);
  with_element_type(params.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(params.raw());
    T* out = static_cast<T*>(result.mutable_raw());
    for (int64_t i = 0; i < c.elements(1); ++i) {
      const int64_t index = int_at(c, 1, i);
      if (index < 0 || index >= limit) index_out_of_range(indices, i, index, limit);
      std::copy_n(from + index * width, width, out + i * width);
    }
  });
  c.set_output(0, std::move(result));
}

// Rows of the variable, so the gradient is sparse.
void gradient(GradContext& c) {
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
