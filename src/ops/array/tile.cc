#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  const Shape& length = c.input(1);
  if (length.has_rank() && length.rank() != 1) {
    throw invalid_argument("Shape must be rank 1 but is rank {}: Expected multiples to be 1-D, but got shape {}",
                           length.rank(), length.str());
  }
  Shape multiples = shape_argument(c, 1);
  int64_t rank = multiples.has_rank() ? multiples.rank() : length.has_rank() ? length[0] : kUnknown;
  if (from.has_rank() && rank != kUnknown && rank != from.rank()) {
    throw invalid_argument("Expected multiples argument to be a vector of length {} but got length {}: {}", from.rank(),
                           rank, from.str());
  }
  if (!from.has_rank() || !multiples.has_rank()) {
    if (from.has_rank()) rank = from.rank();
    if (rank >= 0 && rank <= kMaxRank) c.set_output(0, Shape::unknown_dims(static_cast<int>(rank)));
    return;
  }
  Shape to;
  for (int i = 0; i < from.rank(); ++i) {
    bool known = from[i] != kUnknown && multiples[i] != kUnknown;
    to.append(known ? checked_multiply(from[i], multiples[i]) : kUnknown);
  }
  c.set_output(0, to);
}

// The gradient is cut back into copies, [m0, d0, m1, d1, ...], and summed over them.
void gradient(GradContext& c) {
  Output input = c.input(0), multiples = c.input(1);
  Output input_shape = shape(input, multiples.dtype());
  Output split_shape = reshape(transpose(stack({multiples, input_shape})), {-1});
  Output axes = range(0, size(split_shape), 2);
  Output input_grad = reduce_sum(reshape(c.output_grad(), split_shape), axes);
  input_grad.set_shape(input.shape());
  c.set_input_grad(0, input_grad);
}

void cpu(KernelContext& c) {
  const Shape &from = c.shape(0), &to = c.output_shape();
  Strides from_strides(from), to_strides(to);
  StridedBox box;
  for (int i = 0; i < from.rank(); ++i) {
    int64_t size = from.dims()[static_cast<size_t>(i)];
    box.add(int_at(c, 1, i), size * to_strides[i], 0);
    box.add(size, to_strides[i], from_strides[i]);
  }
  copy_box(c.dtype(0), box, c.raw_output(), c.raw_input(0), c.pool());
}

}  // namespace

OpDef tile_op() {
  return {.name = "Tile",
          .inputs = "input:T; multiples:Tmultiples",
          .outputs = "output:T",
          .attrs = "T:type; Tmultiples:type{int32,int64}=int32",
          .host = "multiples",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>},
          .loop = {LoopPart::Kind::Spread}};
}

}  // namespace weir::ops

namespace weir {

Output tile(const In& input, const In& multiples, std::string_view name) {
  return NodeBuilder("Tile", name).input(input).input(multiples).output();
}

}  // namespace weir
