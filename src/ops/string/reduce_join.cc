#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& x = c.input(0);
  std::optional<std::vector<int64_t>> axes = c.value_as_ints(1);
  if (!x.has_rank() || !axes) return;
  std::vector<bool> joined(static_cast<size_t>(x.rank()), false);
  for (int64_t axis : *axes) {
    if (axis < -x.rank() || axis >= x.rank()) {
      throw invalid_argument("Invalid reduction dimension {} for input with {} dimensions", axis, x.rank());
    }
    const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    if (joined[at]) throw invalid_argument("Duplicate reduction dimension {}", at);
    joined[at] = true;
  }
  Shape to;
  for (int i = 0; i < x.rank(); ++i) {
    if (!joined[static_cast<size_t>(i)]) {
      to.append(x[i]);
    } else if (c.attr<bool>("keep_dims")) {
      to.append(1);
    }
  }
  c.set_output(0, to);
}

std::string prepare(PrepareContext& c) { return c.attr<std::string>("separator"); }

// A walk over dimensions, the last of the list fastest.
struct Walk {
  std::vector<int64_t> sizes, strides, at;

  void add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
    at.push_back(0);
  }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
  int64_t offset() const {
    int64_t sum = 0;
    for (size_t i = 0; i < at.size(); ++i) sum += at[i] * strides[i];
    return sum;
  }
  void next() {
    for (size_t i = at.size(); i-- > 0 && ++at[i] == sizes[i];) at[i] = 0;
  }
};

void cpu(KernelContext& c) {
  const Shape& x = c.shape(0);
  const Strides strides(x);
  Walk kept, joined;
  std::vector<bool> is_joined(static_cast<size_t>(x.rank()), false);
  for (int64_t i = c.elements(1); i-- > 0;) {
    const int axis = wrap_axis(int_at(c, 1, i), x.rank());
    is_joined[static_cast<size_t>(axis)] = true;
    joined.add(x[axis], strides[axis]);
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (!is_joined[static_cast<size_t>(i)]) kept.add(x[i], strides[i]);
  }
  const auto& separator = c.state<std::string>();
  const int64_t parts = joined.count();
  for (int64_t i = 0; i < c.output_elements(); ++i, kept.next()) {
    std::string& text = c.output<std::string>()[i];
    text.clear();
    for (int64_t part = 0; part < parts; ++part, joined.next()) {
      if (part > 0) text += separator;
      text += c.input<std::string>(0)[kept.offset() + joined.offset()];
    }
  }
}

}  // namespace

OpDef reduce_join_op() {
  return {.name = "ReduceJoin",
          .inputs = "inputs:string; reduction_indices:int32",
          .outputs = "output:string",
          .attrs = "keep_dims:bool=False; separator:string=''",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output reduce_join(const In& inputs, const In& axes, const ReduceJoinOptions& options, std::string_view name) {
  return NodeBuilder("ReduceJoin", name)
      .input(inputs)
      .input(axes)
      .attr("keep_dims", options.keep_dims)
      .attr("separator", options.separator)
      .output();
}

}  // namespace weir
