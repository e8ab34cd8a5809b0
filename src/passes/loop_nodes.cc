#include <algorithm>

#include "passes/loop_groups.h"

namespace weir {
namespace {

using Kind = ElementwiseBody::Kind;

// Longer rows do not stay in the cache from one phase of a loop to the next.
constexpr int64_t kMaxRow = 32768;

}  // namespace

std::optional<std::vector<bool>> reduced_dims(const Ir& ir, const IrNode& node) {
  const LoopPart& body = node.op->def->loop;
  const Shape& shape = ir.shape(node.inputs[0]);
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), body.kind != LoopPart::Kind::Reduce);
  if (body.kind == LoopPart::Kind::ReduceAll) return reduced;
  if (body.kind == LoopPart::Kind::ReduceRows) {
    const AttrValue* format = node.attrs.find("data_format");
    if (reduced.empty() || (format && std::get<std::string>(*format) != "NHWC")) return std::nullopt;
    reduced.back() = false;
    return reduced;
  }
  const IrEdge& edge = node.inputs[1];
  const Tensor& axes = ir[edge.node].values[static_cast<size_t>(edge.output)];
  if (!axes.valid()) return std::nullopt;
  for (size_t i = 0; i < static_cast<size_t>(axes.elements()); ++i) {
    int64_t axis = axes.dtype() == DType::Int64 ? axes.data<int64_t>()[i] : axes.data<int32_t>()[i];
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) return std::nullopt;
    reduced[static_cast<size_t>(axis)] = true;
  }
  return reduced;
}

namespace {

// How many of the last dimensions make a row when `shape` has one element for each, and ones for those; 0: it has not.
int rows_of(const Shape& full, const Shape& shape) {
  if (shape.rank() != full.rank()) return 0;
  int dims = 0;
  while (dims < full.rank() && shape[-dims - 1] == 1) ++dims;
  while (dims > 0 && full[-dims] == 1) --dims;
  const LoopSpace space{full, dims};
  return dims > 0 && space.is_kept_row(shape) && space.row() > 1 && space.row() <= kMaxRow ? dims : 0;
}

bool is_ready(const IrNode& node) {
  return !node.dead && !node.is_feed() && !node.is_constant() && !node.flow && node.types.size() == 1 &&
         node.shapes[0].is_known() && !node.inputs.empty();
}

}  // namespace

int64_t LoopSpace::row() const {
  int64_t elements = 1;
  for (int d = 1; d <= row_dims; ++d) elements *= full[-d];
  return elements;
}

bool LoopSpace::is_kept_row(const Shape& shape) const {
  if (row_dims == 0 || shape.rank() != full.rank()) return false;
  for (int d = 0; d < full.rank(); ++d) {
    if (shape[d] != (d < full.rank() - row_dims ? full[d] : 1)) return false;
  }
  return true;
}

bool LoopSpace::is_plain_row(const Shape& shape) const {
  if (row_dims == 0 || shape.rank() != full.rank() - row_dims) return false;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] != full[d]) return false;
  }
  return true;
}

LoopNodes::LoopNodes(const Ir& ir) : ir_(ir), truths_(ir.nodes.size(), false), elementwise_(ir.nodes.size(), false) {
  for (int id : ir.topological_order()) {
    const auto at = static_cast<size_t>(id);
    truths_[at] = find_truth(id);
    elementwise_[at] = is_elementwise(id);
  }
}

bool LoopNodes::find_truth(int id) const {
  const IrNode& node = ir_[id];
  if (!is_ready(node)) return false;
  const ElementwiseBody& body = node.op->def->elementwise;
  const bool cast =
      body.kind == Kind::Cast && node.types[0] == DType::Float32 && ir_.type(node.inputs[0]) == DType::Bool;
  if (!cast && (node.types[0] != DType::Bool || (body.kind != Kind::Unary && body.kind != Kind::Binary))) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& input) {
    if (!ir_.shape(input).is_known()) return false;
    return ir_.type(input) == DType::Float32 ? !cast : is_truth(input.node) && ir_[input.node].device == node.device;
  });
}

// Gives numbers from numbers and truth values.
bool LoopNodes::is_elementwise(int id) const {
  const IrNode& node = ir_[id];
  if (!is_ready(node) || is_truth(id) || node.types[0] != DType::Float32) return false;
  const Kind kind = node.op->def->elementwise.kind;
  if (node.op->role == Role::BiasAdd) {
    const AttrValue* format = node.attrs.find("data_format");
    if (format && std::get<std::string>(*format) != "NHWC") return false;
  } else if (kind == Kind::None || kind == Kind::Cast || (kind == Kind::Sum && node.inputs.size() < 2)) {
    return false;
  }
  // A vector condition picks whole rows: not elementwise.
  if (kind == Kind::Select && ir_.shape(node.inputs[0]) != node.shapes[0]) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& input) {
    if (!ir_.shape(input).is_known()) return false;
    if (ir_.type(input) == DType::Float32 && !is_truth(input.node)) return true;
    return is_truth(input.node) && ir_[input.node].device == node.device;
  });
}

std::vector<IrEdge> LoopNodes::values_read(int id) const {
  std::vector<IrEdge> edges;
  const IrNode& node = ir_[id];
  const size_t count = node.op->def->loop.kind == LoopPart::Kind::None ? node.inputs.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const IrEdge& input = node.inputs[i];
    if (!is_truth(input.node)) {
      edges.push_back(input);
      continue;
    }
    for (const IrEdge& further : values_read(input.node)) edges.push_back(further);
  }
  return edges;
}

LoopRole LoopNodes::role_of_reduction(const IrNode& node, LoopSpace& space) const {
  const LoopPart& body = node.op->def->loop;
  const Shape& x = ir_.shape(node.inputs[0]);
  if (ir_.type(node.inputs[0]) != DType::Float32 || !x.is_known()) return LoopRole::None;
  const auto reduced = reduced_dims(ir_, node);
  if (!reduced || reduced->empty()) return LoopRole::None;
  const auto count = static_cast<int>(std::count(reduced->begin(), reduced->end(), true));
  const bool leading = std::is_sorted(reduced->rbegin(), reduced->rend());  // false ... true from the end
  const bool trailing = std::is_sorted(reduced->begin(), reduced->end());
  const bool is_sum = body.fn == ReduceFn::Sum || body.fn == ReduceFn::Mean || body.fn == ReduceFn::SumSquares;
  if (count == x.rank()) return is_sum && (x == space.full || space.is_row(x)) ? LoopRole::All : LoopRole::None;
  if (count == 0 || (!leading && !trailing) || body.scale != 1) return LoopRole::None;
  const LoopSpace wanted{x, trailing ? count : x.rank() - count};
  const int64_t row = wanted.row();
  if (row <= 1 || (trailing && row > kMaxRow)) return LoopRole::None;
  if (!trailing && body.fn != ReduceFn::Sum && body.fn != ReduceFn::Mean) return LoopRole::None;
  if (x == space.full) {
    if (space.row_dims != 0 && space.row_dims != wanted.row_dims) return LoopRole::None;
    space = wanted;
    return trailing ? LoopRole::Row : LoopRole::Columns;
  }
  // What the loop went over so far are the rows' single values.
  if (trailing && space.row_dims == 0 && wanted.is_row(space.full) && node.shapes[0] == space.full) {
    space = wanted;
    return LoopRole::Row;
  }
  return LoopRole::None;
}

LoopRole LoopNodes::role_in(int id, LoopSpace& space) const {
  const IrNode& node = ir_[id];
  if (!is_ready(node) || node.types[0] != DType::Float32) return LoopRole::None;
  switch (node.op->def->loop.kind) {
    case LoopPart::Kind::Reduce:
    case LoopPart::Kind::ReduceAll:
    case LoopPart::Kind::ReduceRows:
      return role_of_reduction(node, space);
    case LoopPart::Kind::Softmax:
      if (node.shapes[0] != space.full || node.shapes[0].rank() < 1 || space.row_dims > 1) return LoopRole::None;
      if (node.shapes[0][-1] <= 1 || node.shapes[0][-1] > kMaxRow) return LoopRole::None;
      space.row_dims = 1;
      return LoopRole::Full;
    case LoopPart::Kind::Spread:
      return LoopRole::None;
    case LoopPart::Kind::None:
      break;
  }
  if (!elementwise_[static_cast<size_t>(id)]) return LoopRole::None;
  const Shape& shape = node.shapes[0];
  if (shape == space.full) return LoopRole::Full;
  if (space.row_dims == 0) space.row_dims = rows_of(space.full, shape);
  if (!space.is_row(shape)) return LoopRole::None;
  for (const IrEdge& edge : values_read(id)) {
    if (ir_.shape(edge) != shape && ir_.shape(edge).elements() != 1) return LoopRole::None;
  }
  return LoopRole::Row;
}

std::optional<LoopSpace> LoopNodes::space_of(int id) const {
  const IrNode& node = ir_[id];
  if (!is_ready(node)) return std::nullopt;
  const LoopPart::Kind kind = node.op->def->loop.kind;
  const bool reduces = kind != LoopPart::Kind::None && kind != LoopPart::Kind::Spread;
  LoopSpace space{reduces ? ir_.shape(node.inputs[0]) : node.shapes[0], 0};
  if (!space.full.is_known() || space.full.elements() == 0) return std::nullopt;
  return role_in(id, space) == LoopRole::None ? std::nullopt : std::optional(space);
}

}  // namespace weir
