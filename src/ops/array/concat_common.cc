#include "ops/array/concat_common.h"

#include "base/errors.h"
#include "graph/node.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The axis as a non-negative number. TensorFlow makes `axis % rank` nodes; where both are known that is a constant.
Output non_negative_axis(const Output& axis, const Output& value) {
  Tensor known = constant_value(axis);
  if (known.valid() && value.shape().has_rank()) {
    int64_t a = known.dtype() == DType::Int32 ? known.scalar<int32_t>() : known.scalar<int64_t>();
    if (a >= 0) return axis.dtype() == DType::Int32 ? axis : cast(axis, int32);
    return axis.graph().constant(Tensor(static_cast<int32_t>(a + value.shape().rank())), "axis");
  }
  return cast(floormod(axis, cast(rank(value), axis.dtype())), int32);
}

// What is wrong when value i does not fit to those before it, whose sizes beside the axis are ``to``.
Error sizes_differ(const InferContext& c, const ConcatInputs& inputs, int i, const Shape& to) {
  const Shape& shape = c.input(inputs.first + i);
  int dim = 0;
  while (to[dim] == kUnknown || shape[dim] == kUnknown || to[dim] == shape[dim]) ++dim;
  int other = 0;
  while (!c.input(inputs.first + other).has_rank() || c.input(inputs.first + other)[dim] != to[dim]) ++other;
  return invalid_argument(
      "Dimension {} in both shapes must be equal, but are {} and {}. ConcatOp : Dimensions of inputs should match: "
      "shape[{}] = {} vs. shape[{}] = {}",
      dim, to[dim], shape[dim], other, c.input(inputs.first + other).str(), i, shape.str());
}

// Each input of a concatenation along rows gets the sparse rows that fall into its range.
void sparse_row_gradients(GradContext& c, const ConcatInputs& inputs, const IndexedSlices& grad) {
  Output start = c.graph().constant(0, grad.indices.dtype());
  for (int i = 0; i < inputs.count; ++i) {
    Output sizes = shape(c.input(inputs.first + i));
    Output end = start + cast(gather(sizes, 0), grad.indices.dtype());
    Output selected = squeeze(where(logical_and(grad.indices >= start, grad.indices < end)), {1});
    c.set_input_grad(inputs.first + i, IndexedSlices{.values = gather(grad.values, selected),
                                                     .indices = gather(grad.indices, selected) - start,
                                                     .dense_shape = sizes});
    start = end;
  }
}

// Along another axis each input gets its columns of all the rows.
void sparse_column_gradients(GradContext& c, const ConcatInputs& inputs, const Output& axis,
                             const IndexedSlices& grad) {
  std::vector<Output> sizes;
  for (int i = 0; i < inputs.count; ++i) sizes.push_back(shape(c.input(inputs.first + i)));
  std::vector<Output> begins = concat_offset(axis, sizes);
  for (int i = 0; i < inputs.count; ++i) {
    size_t at = static_cast<size_t>(i);
    Output rest = slice(sizes[at], {1}, {-1});
    Output values = slice(grad.values, begins[at], concat({In({-1}), rest}, 0));
    c.set_input_grad(inputs.first + i, IndexedSlices{values, grad.indices, sizes[at]});
  }
}

void dense_gradients(GradContext& c, const ConcatInputs& inputs, const Output& axis, const Output& grad) {
  std::vector<Output> values, sizes;
  bool known = true;
  for (int i = 0; i < inputs.count; ++i) {
    values.push_back(c.input(inputs.first + i));
    known = known && values.back().shape().is_known();
  }
  if (known) {
    for (const Output& value : values) sizes.push_back(shape(value));
  } else {
    sizes = shape_n(values);
  }
  // Many slices cost more than one split.
  constexpr int kSplitFrom = 17;
  if (inputs.count >= kSplitFrom) {
    Output along = squeeze(slice(stack(sizes, 1), stack({axis, 0}), {1, -1}));
    std::vector<Output> parts = split_v(grad, along, axis, inputs.count);
    for (int i = 0; i < inputs.count; ++i) c.set_input_grad(inputs.first + i, parts[static_cast<size_t>(i)]);
    return;
  }
  std::vector<Output> begins = concat_offset(axis, sizes);
  for (int i = 0; i < inputs.count; ++i) {
    c.set_input_grad(inputs.first + i, slice(grad, begins[static_cast<size_t>(i)], sizes[static_cast<size_t>(i)]));
  }
}

}  // namespace

void infer_concat(InferContext& c, const ConcatInputs& inputs) {
  std::optional<int64_t> value = scalar_argument(c, inputs.axis);
  int rank = -1;
  for (int i = 0; i < inputs.count; ++i) {
    const Shape& shape = c.input(inputs.first + i);
    if (!shape.has_rank()) continue;
    if (rank >= 0 && shape.rank() != rank) {
      throw invalid_argument("Ranks of all input tensors should match: value {} has shape {}, another has rank {}", i,
                             shape.str(), rank);
    }
    rank = shape.rank();
  }
  if (rank < 0) return;
  if (rank == 0) throw invalid_argument("Can't concatenate scalars (use tf.stack instead)");
  if (!value) return c.set_output(0, Shape::unknown_dims(rank));
  int axis = InferContext::normalise_axis(*value, rank);
  Shape to = Shape::unknown_dims(rank);
  int64_t along = 0;
  for (int i = 0; i < inputs.count; ++i) {
    Shape shape = c.input(inputs.first + i);
    if (!shape.has_rank()) {
      along = kUnknown;
      continue;
    }
    along = along == kUnknown || shape[axis] == kUnknown ? kUnknown : checked_add(along, shape[axis]);
    shape.set_dim(axis, kUnknown);
    try {
      to = to.merged(shape);
    } catch (const Error&) {
      throw sizes_differ(c, inputs, i, to);
    }
  }
  to.set_dim(axis, along);
  c.set_output(0, to);
}

void concat_gradient(GradContext& c, const ConcatInputs& inputs) {
  const Gradient& grad = c.raw_output_grad();
  if (inputs.count == 1) return c.set_input_grad(inputs.first, grad);
  Output axis = non_negative_axis(c.input(inputs.axis), c.input(inputs.first));
  if (!grad.sparse()) return dense_gradients(c, inputs, axis, c.output_grad());
  Tensor known = constant_value(axis);
  if (!known.valid()) {
    throw invalid_argument("a sparse gradient goes through a concatenation only when the axis is a constant");
  }
  if (known.scalar<int32_t>() == 0) {
    sparse_row_gradients(c, inputs, grad.slices());
  } else {
    sparse_column_gradients(c, inputs, axis, grad.slices());
  }
}

void compute_concat(KernelContext& c, const ConcatInputs& inputs) {
  const Shape& to = c.output_shape();
  int axis = wrap_axis(int_at(c, inputs.axis), to.rank());
  int64_t outer = product(to, 0, axis), row = product(to, axis, to.rank()), at = 0;
  DType dtype = c.dtype(inputs.first);
  for (int i = inputs.first; i < inputs.first + inputs.count; ++i) {
    int64_t piece = product(c.shape(i), axis, to.rank());
    StridedBox box;
    box.add(outer, row, piece);
    box.add(piece, 1, 1);
    copy_box(dtype, box, offset(dtype, c.raw_output(), at), c.raw_input(i), c.pool());
    at += piece;
  }
}

}  // namespace weir::ops
