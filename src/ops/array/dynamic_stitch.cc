#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// data[m] has the shape of indices[m] and then that of a row, which all share.
void infer(InferContext& c) {
  int n = c.inputs() / 2;
  Shape row = Shape::unknown();
  int64_t length = 0;
  for (int m = 0; m < n; ++m) {
    const Shape &indices = c.input(m), &data = c.input(n + m);
    std::optional<std::vector<int64_t>> values = c.value_as_ints(m);
    for (int64_t index : values.value_or(std::vector<int64_t>())) {
      if (index < 0) throw invalid_argument("indices[{}] holds {}", m, index);
      if (length != kUnknown) length = std::max(length, index + 1);
    }
    if (!values) length = kUnknown;
    if (!indices.has_rank() || !data.has_rank()) continue;
    bool fits = indices.rank() <= data.rank();
    Shape prefix, rest;
    for (int i = 0; fits && i < data.rank(); ++i) (i < indices.rank() ? prefix : rest).append(data[i]);
    if (!fits || !prefix.compatible(indices)) {
      throw invalid_argument("the shape of data[{}], {}, must begin with that of indices[{}], {}", m, data.str(), m,
                             indices.str());
    }
    if (!row.compatible(rest)) {
      throw invalid_argument("rows of data[{}] have shape {}, rows before it {}", m, rest.str(), row.str());
    }
    row = row.merged(rest);
  }
  if (!row.has_rank()) return;
  Shape to{length};
  for (int64_t size : row.dims()) to.append(size);
  c.set_output(0, to);
}

void gradient(GradContext& c) {
  int n = c.inputs() / 2;
  Output grad = c.output_grad();
  for (int m = 0; m < n; ++m) c.set_input_grad(n + m, gather(grad, c.input(m)));
}

void cpu(KernelContext& c) {
  int n = c.inputs() / 2;
  DType dtype = c.dtype(n);
  const Shape& to = c.output_shape();
  int64_t length = to.dims()[0], width = product(to, 1, to.rank());
  // Rows that no index names are zero.
  zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
  for (int m = 0; m < n; ++m) {
    for (int64_t i = 0; i < c.elements(m); ++i) {
      int64_t index = c.input<int32_t>(m)[i];
      if (index < 0 || index >= length) throw invalid_argument("indices[{}] holds {}", m, index);
      copy_elements(dtype, offset(dtype, c.raw_output(), index * width), offset(dtype, c.raw_input(n + m), i * width),
                    width, c.pool());
    }
  }
}

}  // namespace

OpDef dynamic_stitch_op() {
  return {.name = "DynamicStitch",
          .inputs = "indices:N*int32; data:N*T",
          .outputs = "merged:T",
          .attrs = "N:int>=1; T:type",
          .host = "indices",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

// Where an index repeats TensorFlow leaves open who wins; here too the last one does.
OpDef parallel_dynamic_stitch_op() {
  OpDef op = dynamic_stitch_op();
  op.name = "ParallelDynamicStitch";
  return op;
}

}  // namespace weir::ops

namespace weir {

Output dynamic_stitch(const InList& indices, const InList& data, std::string_view name) {
  return NodeBuilder("DynamicStitch", name).input(indices).input(data).output();
}

}  // namespace weir
