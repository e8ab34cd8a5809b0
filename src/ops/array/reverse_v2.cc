#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The axes as a set of bits. Throws InvalidArgument when one is out of range or stands twice.
template <class Axis>
uint64_t axis_set(const Axis& axis, int64_t count, int rank) {
  uint64_t set = 0;
  for (int64_t i = 0; i < count; ++i) {
    int d = InferContext::normalise_axis(axis(i), rank);
    if (set >> d & 1) throw invalid_argument("axis {} specified more than once.", d);
    set |= uint64_t{1} << d;
  }
  return set;
}

void infer(InferContext& c) {
  c.require_rank(1, 1);
  const Shape& from = c.input(0);
  if (from.rank() > kMaxRank) throw invalid_argument("the input has {} dimensions", from.rank());
  if (std::optional<std::vector<int64_t>> axes = c.value_as_ints(1); axes && from.has_rank()) {
    axis_set([&](int64_t i) { return (*axes)[static_cast<size_t>(i)]; }, static_cast<int64_t>(axes->size()),
             from.rank());
  }
  c.set_output(0, from);
}

void gradient(GradContext& c) { c.set_input_grad(0, reverse(c.output_grad(), c.input(1))); }

void reverse_axes(KernelContext& c, uint64_t reversed) {
  const Shape& shape = c.shape(0);
  Strides strides(shape);
  DType dtype = c.dtype(0);
  if (c.elements(0) == 0) return;
  int64_t start = 0;
  StridedBox box;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t size = shape.dims()[static_cast<size_t>(i)];
    bool backwards = reversed >> i & 1;
    if (backwards) start += (size - 1) * strides[i];
    box.add(size, strides[i], backwards ? -strides[i] : strides[i]);
  }
  copy_box(dtype, box, c.raw_output(), offset(dtype, c.raw_input(0), start), c.pool());
}

void cpu(KernelContext& c) {
  reverse_axes(c, axis_set([&](int64_t i) { return int_at(c, 1, i); }, c.elements(1), c.shape(0).rank()));
}

// The form of TensorFlow 0.x: a truth value for each dimension.
void infer_old(InferContext& c) {
  c.require_rank(1, 1);
  const Shape &x = c.input(0), &dims = c.input(1);
  if (x.has_rank() && dims.has_rank() && dims[0] != kUnknown && dims[0] != x.rank()) {
    throw invalid_argument("reverse dims.dim_size must equal the input's rank: {} and {}", dims[0], x.rank());
  }
  if (x.has_rank() && x.rank() > 8) {
    throw invalid_argument("reverse does not work on tensors with more than 8 dimensions");
  }
  if (x.has_rank() && x.rank() > 0 && x[0] == 0) throw invalid_argument("Invalid input first dimension. Found 0.");
  c.set_output(0, x);
}

void gradient_old(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("Reverse").input(c.output_grad()).input(c.input(1)).output());
}

void cpu_old(KernelContext& c) {
  uint64_t reversed = 0;
  for (int64_t i = 0; i < c.elements(1); ++i) reversed |= static_cast<uint64_t>(c.input<bool>(1)[i]) << i;
  reverse_axes(c, reversed);
}

}  // namespace

OpDef reverse_old_op() {
  return {.name = "Reverse",
          .inputs = "tensor:T; dims:bool",
          .outputs = "output:T",
          .attrs = "T:type{uint8,int8,uint16,int16,int32,int64,bool,half,float,double,complex64,complex128,string}",
          .host = "dims",
          .infer = infer_old,
          .gradient = gradient_old,
          .cpu = {.select = kernel_moving<cpu_old>}};
}

OpDef reverse_v2_op() {
  return {.name = "ReverseV2",
          .inputs = "tensor:T; axis:Tidx",
          .outputs = "output:T",
          .attrs =
              "Tidx:type{int32,int64}=int32; "
              "T:type{uint8,int8,uint16,int16,int32,int64,bool,bfloat16,half,float,double,complex64,complex128,string}",
          .host = "axis",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output reverse(const In& tensor, const In& axes, std::string_view name) {
  return NodeBuilder("ReverseV2", name).input(tensor).input(axes).output();
}

}  // namespace weir
