#include <algorithm>

#include "base/errors.h"
#include "ops/array/split_common.h"
#include "tensor/variant.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  if (!from.has_rank()) return;
  c.require_min_rank(0, 1);
  int axis = packed_axis(c.attr<int64_t>("axis"), from.rank());
  if (from[axis] != kUnknown && from[axis] != c.outputs()) {
    throw invalid_argument("dimension {} of shape {} cannot be unpacked into {} values", axis, from.str(), c.outputs());
  }
  Shape to;
  for (int i = 0; i < from.rank(); ++i) {
    if (i != axis) to.append(from[i]);
  }
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, to);
}

void gradient(GradContext& c) { c.set_input_grad(0, stack(all_output_grads(c), c.attr<int64_t>("axis"))); }

struct State {
  int64_t outer, inner;  // sizes of the parts before and after the dimension that disappears
};

State prepare(PrepareContext& c) {
  const Shape& value = c.input(0);
  int axis = wrap_axis(c.attr<int64_t>("axis"), value.rank());
  return {product(value, 0, axis), product(value, axis + 1, value.rank())};
}

void cpu(KernelContext& c) {
  const auto& [outer, inner] = c.state<State>();
  DType dtype = c.dtype(0);
  for (int i = 0; i < c.outputs(); ++i) {
    StridedBox box;
    box.add(outer, inner, inner * c.outputs());
    box.add(inner, 1, 1);
    copy_box(dtype, box, c.raw_output(i), offset(dtype, c.raw_input(0), i * inner), c.pool());
  }
}

void unpack_variants(KernelContext& c) {
  const auto& [outer, inner] = c.state<State>();
  const auto* from = c.input<Variant>(0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int i = 0; i < c.outputs(); ++i, from += inner) {
      std::copy_n(from, inner, static_cast<Variant*>(c.raw_output(i)) + o * inner);
    }
  }
}

ComputeFn select(const NodeView& node) {
  return node.type(AttrT::name) == DType::Variant ? unpack_variants : kernel_moving<cpu>(node);
}

}  // namespace

OpDef unpack_op() {
  return {.name = "Unpack",
          .inputs = "value:T",
          .outputs = "output:num*T",
          .attrs = "num:int>=0; T:type; axis:int=0",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {
namespace {

// As Python shows a shape, because programs look for it: "(?, 3)".
std::string python_text(const Shape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < shape.rank(); ++i) {
    text += (i ? ", " : "") + (shape[i] == kUnknown ? std::string("?") : std::to_string(shape[i]));
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

}  // namespace

std::vector<Output> unstack(const In& value, int64_t num, int64_t axis, std::string_view name) {
  if (num < 0 && value.output()) {
    const Shape& shape = value.output().shape();
    if (shape.has_rank()) num = shape[ops::packed_axis(axis, shape.rank())];
    if (num < 0) throw invalid_argument("Cannot infer num from shape {}", python_text(shape));
  }
  return ops::all_outputs(
      NodeBuilder("Unpack", ops::name_or(name, "unstack")).input(value).attr("num", num).attr("axis", axis).build());
}

}  // namespace weir
