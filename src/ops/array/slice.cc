#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  int64_t rank = from.rank();
  for (int i : {1, 2}) {
    if (c.input(i).has_rank() && c.input(i).rank() != 1) {
      throw invalid_argument(
          "Shape must be rank 1 but is rank {}: Expected begin and size arguments to be 1-D tensors, not of shape {}",
          c.input(i).rank(), c.input(i).str());
    }
    if (!c.input(i).has_rank() || c.input(i)[0] == kUnknown) continue;
    if (rank >= 0 && c.input(i)[0] != rank) {
      throw invalid_argument("'{}' has {} entries; the input has shape {}", i == 1 ? "begin" : "size", c.input(i)[0],
                             from.str());
    }
    rank = c.input(i)[0];
  }
  if (rank < 0 || rank > kMaxRank) return;
  std::optional<std::vector<int64_t>> begin = c.value_as_ints(1), size = c.value_as_ints(2);
  Shape to = Shape::unknown_dims(static_cast<int>(rank));
  if (!size) {
    // Sizes that are known so far are sizes of the result: -1 cannot be told from unknown, and is unknown here too.
    Shape known = c.value_as_shape(2);
    return c.set_output(0, known.has_rank() ? to.merged(known) : to);
  }
  // Where some of the beginnings are known, others are the run's: they say -1, as a wrong beginning would.
  const Shape partly = begin ? Shape::unknown() : c.value_as_shape(1);
  for (int i = 0; i < rank; ++i) {
    size_t at = static_cast<size_t>(i);
    int64_t dim = from.has_rank() ? from[i] : kUnknown, s = (*size)[at];
    if (s < -1) throw invalid_argument("size[{}] is {}", i, s);
    if (!begin && (!partly.has_rank() || partly[i] == kUnknown)) {
      to.set_dim(i, s);
      continue;
    }
    int64_t b = begin ? (*begin)[at] : partly[i];
    if (b < 0 || (dim != kUnknown && b > dim)) {
      throw invalid_argument("begin[{}] is {}; dimension {} of shape {}", i, b, i, from.str());
    }
    if (s >= 0 && dim != kUnknown && s > dim - b) {
      throw invalid_argument("begin[{}] + size[{}] is {} + {}; dimension {} of shape {} ends before", i, i, b, s, i,
                             from.str());
    }
    to.set_dim(i, s >= 0 ? s : dim == kUnknown ? kUnknown : dim - b);
  }
  c.set_output(0, to);
}

// The gradient stands where the slice was; zeros are padded around it.
void gradient(GradContext& c) {
  Output input = c.input(0), begin = c.input(1);
  Output before = reshape(begin, stack({rank(input), 1}));
  Output rest = shape(input, begin.dtype()) - shape(c.output(0), begin.dtype()) - begin;
  Output after = reshape(rest, stack({rank(input), 1}));
  c.set_input_grad(0, pad(c.output_grad(), concat({before, after}, 1)));
}

void cpu(KernelContext& c) {
  const Shape &from = c.shape(0), &to = c.output_shape();
  Strides from_strides(from), to_strides(to);
  DType dtype = c.dtype(0);
  int64_t start = 0;
  StridedBox box;
  for (int i = 0; i < to.rank(); ++i) {
    size_t d = static_cast<size_t>(i);
    int64_t begin = int_at(c, 1, i), size = to.dims()[d];
    // The shape function has not seen a `begin` that only the run knows.
    if (begin < 0 || begin > from.dims()[d] - size) {
      throw invalid_argument("begin[{}] is {} for size {}; dimension {} of shape {}", i, begin, size, i, from.str());
    }
    start += begin * from_strides[i];
    box.add(size, to_strides[i], from_strides[i]);
  }
  copy_box(dtype, box, c.raw_output(), offset(dtype, c.raw_input(0), start), c.pool());
}

}  // namespace

OpDef slice_op() {
  return {.name = "Slice",
          .inputs = "input:T; begin:Index; size:Index",
          .outputs = "output:T",
          .attrs = "T:type; Index:type{int32,int64}",
          .host = "begin, size",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output slice(const In& input, const In& begin, const In& size, std::string_view name) {
  return NodeBuilder("Slice", name).input(input).input(begin).input(size).output();
}

}  // namespace weir
