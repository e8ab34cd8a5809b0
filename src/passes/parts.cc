#include "passes/parts.h"

#include <algorithm>

#include "ops/array/strided_slice_spec.h"
#include "passes/loop_groups.h"

namespace weir {
namespace {

using Kind = ElementwiseBody::Kind;

const Tensor& value_of(const Ir& ir, const IrEdge& edge) {
  return ir[edge.node].values[static_cast<size_t>(edge.output)];
}

int64_t elements_before(const Shape& shape, int axis) {
  int64_t elements = 1;
  for (int d = 0; d < axis; ++d) elements *= shape[d];
  return elements;
}

int64_t elements_behind(const Shape& shape, int axis) {
  int64_t elements = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) elements *= shape[d];
  return elements;
}

bool is_elementwise(const IrNode& node) {
  if (node.op->role == Role::BiasAdd) {
    const AttrValue* format = node.attrs.find("data_format");
    return !format || std::get<std::string>(*format) == "NHWC";
  }
  return node.op->def->elementwise.kind != Kind::None;
}

// The order of a Permute.
std::vector<int> order_of(const Ir& ir, const IrNode& node) {
  std::vector<int> order;
  const Tensor& perm = value_of(ir, node.inputs[1]);
  for (size_t i = 0; perm.valid() && i < static_cast<size_t>(perm.elements()); ++i) {
    order.push_back(static_cast<int>(perm.dtype() == DType::Int64 ? perm.data<int64_t>()[i] : perm.data<int32_t>()[i]));
  }
  return order;
}

// Dimensions of a reduction's input and output that are the same one: of each of the output's, the input's.
std::vector<int> kept_axes(const std::vector<bool>& reduced, bool keep_dims) {
  std::vector<int> axes;
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (keep_dims || !reduced[d]) axes.push_back(static_cast<int>(d));
  }
  return axes;
}

Part moved(const Part& part, int axis) { return {axis, part.begin, part.stride, part.count}; }

}  // namespace

std::optional<Part> part_of_slice(const Ir& ir, const IrNode& node) {
  const bool takes = node.op->def->source == Source::Slice;
  const Shape& whole = takes ? ir.shape(node.inputs[0]) : node.shapes[0];
  if (!whole.is_known() || !node.shapes[0].is_known()) return std::nullopt;
  ops::SliceEntries entries[3];
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& value = value_of(ir, node.inputs[i + 1]);
    if (!value.valid() || ir[node.inputs[i + 1].node].varies) return std::nullopt;
    entries[i] = {value.raw(), value.dtype() == DType::Int32};
  }
  const auto count = static_cast<int>(value_of(ir, node.inputs[1]).elements());
  const ops::StridedSliceSpec spec(whole, count, entries[0], entries[1], entries[2], ops::SliceMasks(node.attrs));
  std::optional<Part> part;
  for (int d = 0; d < spec.rank; ++d) {
    if (spec.begin[d] == 0 && spec.stride[d] == 1 && spec.size[d] == whole[d]) continue;
    if (part || spec.stride[d] < 1 || spec.size[d] < 1) return std::nullopt;
    part = {d, spec.begin[d], spec.size[d] == 1 ? 1 : spec.stride[d], spec.size[d]};
  }
  return part;
}

std::optional<Part> reshaped_part(const Shape& from, const Part& part, const Shape& to) {
  const int64_t size = from[part.axis], before = elements_before(from, part.axis),
                behind = elements_behind(from, part.axis);
  for (int axis = 0; axis < to.rank(); ++axis) {
    const int64_t to_before = elements_before(to, axis), to_behind = elements_behind(to, axis);
    if (to_behind != behind) continue;
    if (to_before == before && to[axis] == size) return moved(part, axis);
    // One place of [a, b] is every b-th of [a * b], and the other way round.
    if (part.count == 1 && to_before < before && before % to_before == 0) {
      return Part{axis, part.begin, size, before / to_before};
    }
    if (part.begin < part.stride && part.stride * part.count == size && to[axis] == part.stride) {
      return Part{axis, part.begin, 1, 1};
    }
  }
  return std::nullopt;
}

// Of an input that broadcasts to the output.
std::optional<Part> PartsOfNode::broadcast_part(const IrEdge& input, const Part& output, bool& fits) const {
  const Shape &from = ir_.shape(input), &to = node_.shapes[0];
  fits = fits && from.is_known() && from.rank() <= to.rank();
  const int axis = output.axis - (to.rank() - from.rank());
  if (!fits || axis < 0 || from[axis] == 1) return std::nullopt;
  fits = from[axis] == to[output.axis];
  return moved(output, axis);
}

bool PartsOfNode::transposes(int input) const {
  const char* names[2][2] = {{"transpose_a", "adj_x"}, {"transpose_b", "adj_y"}};
  const AttrValue* plain = node_.attrs.find(names[input][0]);
  const AttrValue* adjoint = node_.attrs.find(names[input][1]);
  return (plain && std::get<bool>(*plain)) || (adjoint && std::get<bool>(*adjoint));
}

std::optional<std::vector<std::optional<Part>>> PartsOfNode::needed_for_product(const Part& output) const {
  const Shape& to = node_.shapes[0];
  std::vector<std::optional<Part>> needed(2);
  const int from_end = to.rank() - output.axis;  // 1: columns, 2: rows
  for (size_t i = 0; i < 2; ++i) {
    const Shape& from = ir_.shape(node_.inputs[i]);
    if (!from.is_known() || from.rank() != to.rank()) return std::nullopt;
    if (from_end > 2) {
      if (from[output.axis] != to[output.axis]) return std::nullopt;
      needed[i] = output;
    } else if (from_end == (i == 0 ? 2 : 1)) {
      needed[i] = moved(output, from.rank() - (transposes(static_cast<int>(i)) ? 3 - from_end : from_end));
    }
  }
  return needed;
}

std::optional<std::vector<std::optional<Part>>> PartsOfNode::needed_for(const Part& output) const {
  std::vector<std::optional<Part>> needed(node_.inputs.size());
  const LoopPart& loop = node_.op->def->loop;
  const int alias = node_.op->def->alias;
  if (is_elementwise(node_)) {
    bool fits = true;
    for (size_t i = 0; i < needed.size(); ++i) {
      // A vector condition picks whole rows.
      const bool picks = node_.op->def->elementwise == Kind::Select && ir_.shape(node_.inputs[i]) != node_.shapes[0];
      needed[i] = broadcast_part(node_.inputs[i], output, fits);
      if (!fits || picks) return std::nullopt;
    }
    return needed;
  }
  if (loop.kind == LoopPart::Kind::Reduce) {
    const auto reduced = reduced_dims(ir_, node_);
    if (!reduced) return std::nullopt;
    const int axis = kept_axes(*reduced, node_.attrs.get<bool>("keep_dims"))[static_cast<size_t>(output.axis)];
    if ((*reduced)[static_cast<size_t>(axis)]) return std::nullopt;
    needed[0] = moved(output, axis);
    return needed;
  }
  if (loop.kind == LoopPart::Kind::Softmax) {
    if (output.axis == node_.shapes[0].rank() - 1) return std::nullopt;
    needed[0] = output;
    return needed;
  }
  if (alias >= 0) {
    const Shape& from = ir_.shape(node_.inputs[static_cast<size_t>(alias)]);
    if (!from.is_known() || !is_fixed_view(ir_, node_)) return std::nullopt;
    needed[static_cast<size_t>(alias)] = reshaped_part(node_.shapes[0], output, from);
    return needed[static_cast<size_t>(alias)] ? std::optional(needed) : std::nullopt;
  }
  if (node_.op->def->source == Source::Permute) {
    const std::vector<int> order = order_of(ir_, node_);
    if (order.empty()) return std::nullopt;
    needed[0] = moved(output, order[static_cast<size_t>(output.axis)]);
    return needed;
  }
  return node_.op->def->source == Source::Product ? needed_for_product(output) : std::nullopt;
}

std::optional<PartsOfNode::Reached> PartsOfNode::reached_by_product(int input, const Part& part) const {
  const Shape &from = ir_.shape(node_.inputs[static_cast<size_t>(input)]), &to = node_.shapes[0];
  const Shape& other = ir_.shape(node_.inputs[static_cast<size_t>(1 - input)]);
  if (from.rank() != to.rank() || other.rank() != to.rank()) return std::nullopt;
  int from_end = from.rank() - part.axis;
  if (from_end > 2) return Reached{part};
  if (transposes(input)) from_end = 3 - from_end;
  if (from_end == (input == 0 ? 1 : 2)) return Reached{.is_summed = true};
  return Reached{moved(part, to.rank() - from_end)};
}

std::optional<PartsOfNode::Reached> PartsOfNode::reached_from(int input, const Part& part) const {
  const Shape &from = ir_.shape(node_.inputs[static_cast<size_t>(input)]), &to = node_.shapes[0];
  const LoopPart& loop = node_.op->def->loop;
  if (is_elementwise(node_)) return Reached{moved(part, part.axis + to.rank() - from.rank())};
  if (loop.kind == LoopPart::Kind::ReduceAll || loop.kind == LoopPart::Kind::ReduceRows ||
      loop.kind == LoopPart::Kind::Reduce) {
    const auto reduced = reduced_dims(ir_, node_);
    if (!reduced || input != 0) return std::nullopt;
    if ((*reduced)[static_cast<size_t>(part.axis)]) {
      if (loop.fn != ReduceFn::Sum && loop.fn != ReduceFn::SumSquares) return std::nullopt;
      return Reached{.is_summed = true};
    }
    if (loop.kind != LoopPart::Kind::Reduce) return std::nullopt;
    const std::vector<int> axes = kept_axes(*reduced, node_.attrs.get<bool>("keep_dims"));
    const auto at = std::find(axes.begin(), axes.end(), part.axis);
    return Reached{moved(part, static_cast<int>(at - axes.begin()))};
  }
  if (node_.op->def->alias == input) {
    if (!is_fixed_view(ir_, node_)) return std::nullopt;
    const std::optional<Part> there = reshaped_part(from, part, to);
    return there ? std::optional(Reached{there}) : std::nullopt;
  }
  if (node_.op->def->source == Source::Permute && input == 0) {
    const std::vector<int> order = order_of(ir_, node_);
    const auto at = std::find(order.begin(), order.end(), part.axis);
    if (at == order.end()) return std::nullopt;
    return Reached{moved(part, static_cast<int>(at - order.begin()))};
  }
  return node_.op->def->source == Source::Product ? reached_by_product(input, part) : std::nullopt;
}

bool PartsOfNode::stays_zero(const std::vector<bool>& zero) const {
  const ElementwiseBody& body = node_.op->def->elementwise;
  if (node_.op->role == Role::BiasAdd) return false;
  switch (body.kind) {
    case Kind::None:  // what else there is moves elements, adds them up or multiplies them
      return node_.op->def->loop.kind != LoopPart::Kind::Softmax;
    case Kind::Cast:
      return true;
    case Kind::Sum:
      return std::all_of(zero.begin(), zero.end(), [](bool z) { return z; });
    case Kind::Select:
      return zero[1] && zero[2];
    case Kind::Unary:
      return body.unary == UnaryFn::Identity || body.unary == UnaryFn::Neg || body.unary == UnaryFn::Square ||
             body.unary == UnaryFn::Abs;
    case Kind::Binary:
      break;
  }
  switch (body.binary) {
    case BinaryFn::Add:
    case BinaryFn::Sub:
      return zero[0] && zero[1];
    case BinaryFn::Mul:
      return true;
    case BinaryFn::TanhGrad:  // the gradient that comes in is the second operand of some, the first of others
    case BinaryFn::SigmoidGrad:
    case BinaryFn::SqrtGrad:
    case BinaryFn::RsqrtGrad:
    case BinaryFn::ReciprocalGrad:
      return zero[1];
    case BinaryFn::Div:
    case BinaryFn::DivNoNan:
    case BinaryFn::ReluGrad:
    case BinaryFn::Relu6Grad:
    case BinaryFn::EluGrad:
    case BinaryFn::SeluGrad:
    case BinaryFn::SoftplusGrad:
    case BinaryFn::SoftsignGrad:
      return zero[0];
    default:
      return false;
  }
}

}  // namespace weir
