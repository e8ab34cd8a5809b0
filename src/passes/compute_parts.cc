#include <algorithm>
#include <map>

#include "passes/parts.h"
#include "passes/place.h"

namespace weir {
namespace {

// Smaller parts are worth to be computed by themselves: what they are computed from has to be copied out.
constexpr int64_t kLeastShare = 4;

// A classifier reads the first of all words, or the last step of all: the layer below computes the others for nobody,
// and its gradient multiplies zeros. Gradients of slices are zero but for a part; what follows from them is computed
// for that part alone (push_down), which leaves of the values that they are multiplied with nothing but slices. And a
// value of which only one part is read is computed for that part alone (pull_up).
class Mover {
 public:
  Mover(Ir& ir, const PassContext& context) : ir_(ir), context_(context) {}

  void run() {
    if (!has_slices()) return;
    programs_ = ir_.size();
    for (int id : ir_.topological_order()) push_down(id);
    ir_.sweep();
    uses_ = ir_.use_counts();
    controlled_ = ir_.has_control_readers();
    slices_.clear();
    std::vector<int> order = ir_.topological_order();
    for (int id : order) note_slice(id);
    for (auto id = order.rbegin(); id != order.rend(); ++id) pull_up(*id);
    ir_.sweep();
  }

 private:
  // A value that is zero but for a part, and that part.
  struct Padded {
    Part part;
    IrEdge inner;
  };

  bool has_slices() const {
    return std::any_of(ir_.nodes.begin(), ir_.nodes.end(), [&](const IrNode& node) {
      return !node.dead && !node.is_feed() && !node.is_constant() && is_simple(node) &&
             (node.op->def->source == Source::Slice || node.op->def->source == Source::Unslice);
    });
  }

  // Nodes must compute in the host's memory, where begins and sizes are.
  bool is_simple(const IrNode& node) const {
    if (node.dead || node.is_feed() || node.is_constant() || node.flow || node.types.size() != 1) return false;
    if (!node.op->pure() || node.op->effect != Effect::None || !node.control.empty()) return false;
    if (!node.shapes[0].is_known() || node.shapes[0].elements() == 0) return false;
    if (context_.devices && (*context_.devices)[node.device].memory()) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& input) {
      return ir_.shape(input).is_known() && ir_.shape(input).elements() > 0;
    });
  }

  std::optional<Part> small_part(const IrNode& node) const {
    const std::optional<Part> part = part_of_slice(ir_, node);
    if (!part) return std::nullopt;
    const bool takes = node.op->def->source == Source::Slice;
    const Shape& whole = takes ? ir_.shape(node.inputs[0]) : node.shapes[0];
    return part->count * kLeastShare <= whole[part->axis] ? part : std::nullopt;
  }

  // The part of a slice of the program. Begins and sizes become constants: whatever else varies with the feeds, the
  // size of that dimension may not.
  std::optional<Part> fixed_part(const IrNode& node) const {
    const std::optional<Part> part = small_part(node);
    if (!part || !node.varies) return part;
    const bool takes = node.op->def->source == Source::Slice;
    if (!node.origin || node.origin->op != node.op) return std::nullopt;
    const Shape& declared = takes ? node.origin->inputs[0].shape() : node.origin->output_shapes[0];
    const Shape& whole = takes ? ir_.shape(node.inputs[0]) : node.shapes[0];
    if (declared.rank() != whole.rank() || declared[part->axis] != whole[part->axis]) return std::nullopt;
    return part->begin + part->count <= whole[part->axis] ? part : std::nullopt;
  }

  // What was at a node's place, kept for the shape that it has with other feeds; and a part of that.
  std::optional<IrEdge> left_behind(const IrNode& node) {
    if (!node.varies) return std::nullopt;
    IrNode copy = node;
    copy.dead = true;
    return IrEdge{ir_.add(std::move(copy)), 0};
  }
  std::optional<IrEdge> part_left_behind(const IrNode& node, const Part& part) {
    const std::optional<IrEdge> whole = left_behind(node);
    if (!whole) return std::nullopt;
    const IrEdge slice{ir_.add(slice_of(node, *whole, part)), 0};
    ir_[slice.node].dead = true;
    return slice;
  }
  void expect_shape(const std::optional<IrEdge>& of, const IrEdge& edge) {
    if (of) ir_.equal_shapes.push_back({*of, edge});
  }

  // A new node at the place of another, whose inputs and attributes are yet to be set.
  IrNode beside(const IrNode& node, std::string_view op) const {
    IrNode made;
    made.op = find_op(op);
    made.origin = node.origin;
    made.name = node.name;
    made.device = node.device;
    return made;
  }

  IrEdge constant(const IrNode& node, const std::vector<int64_t>& numbers) {
    IrNode made = beside(node, "Const");
    Tensor value(numbers);
    made.attrs.set("value", value);
    made.attrs.set("dtype", DType::Int64);
    made.types = {DType::Int64};
    made.shapes = {value.shape()};
    made.values = {std::move(value)};
    return {ir_.add(std::move(made)), 0};
  }
  // A shape as an input: that of what is left behind, with other feeds.
  IrEdge shape_input(const IrNode& node, const Shape& shape, const std::optional<IrEdge>& like) {
    const IrEdge made = constant(node, dims(shape));
    if (!like) return made;
    IrNode& number = ir_[made.node];
    number.op = find_op("Shape");
    number.attrs = {};
    number.attrs.set("T", ir_.type(*like));
    number.attrs.set("out_type", DType::Int64);
    number.varies = true;
    number.recipe = {*like};
    return made;
  }
  static std::vector<int64_t> dims(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

  // Fills in the shape of a node whose inputs are known; false: its shape function has something against it.
  bool infer(IrNode& node) const {
    InputFacts facts;
    for (const IrEdge& input : node.inputs) {
      facts.shapes.push_back(&ir_.shape(input));
      facts.values.push_back(&ir_[input.node].values[static_cast<size_t>(input.output)]);
    }
    try {
      node.shapes = infer_outputs(ir_, node, facts).shapes;
    } catch (const Error&) {
      return false;
    }
    node.values.assign(node.types.size(), Tensor());
    note_varying(node);
    return true;
  }

  void note_varying(IrNode& node) const {
    node.varies = std::any_of(node.inputs.begin(), node.inputs.end(),
                              [&](const IrEdge& input) { return ir_[input.node].varies; });
  }

  IrNode view(const IrNode& node, const IrEdge& edge, const Shape& shape, const std::optional<IrEdge>& like) {
    IrNode made = beside(node, "Reshape");
    made.attrs.set("T", ir_.type(edge));
    made.attrs.set("Tshape", DType::Int64);
    made.inputs = {edge, shape_input(node, shape, like)};
    made.types = {ir_.type(edge)};
    made.shapes = {shape};
    made.values.resize(1);
    note_varying(made);
    return made;
  }

  // Begin, end and strides of a part as inputs, the masks for all of the other dimensions as attributes.
  void set_slice(IrNode& made, const IrNode& node, const Shape& whole, const Part& part) {
    const auto rank = static_cast<size_t>(whole.rank()), axis = static_cast<size_t>(part.axis);
    std::vector<int64_t> begin(rank, 0), end(rank, 0), strides(rank, 1);
    begin[axis] = part.begin;
    end[axis] = part.begin + (part.count - 1) * part.stride + 1;
    strides[axis] = part.stride;
    const int64_t here = int64_t{1} << axis, others = ((int64_t{1} << rank) - 1) & ~here;
    const bool open = part.stride > 1 && part.begin + part.count * part.stride >= whole[part.axis];
    made.inputs.push_back(constant(node, begin));
    made.inputs.push_back(constant(node, end));
    made.inputs.push_back(constant(node, strides));
    made.attrs.set("Index", DType::Int64);
    made.attrs.set("begin_mask", others);
    made.attrs.set("end_mask", open ? others | here : others);  // there may be more of them with other feeds
    for (const char* mask : {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) made.attrs.set(mask, int64_t{0});
  }

  // That part of a value, for `node`.
  IrEdge take(const IrNode& node, const IrEdge& edge, const Part& part) {
    if (auto padded = padded_.find(edge); padded != padded_.end() && padded->second.part == part) {
      return padded->second.inner;
    }
    if (auto known = taken_.find({edge, part}); known != taken_.end()) return known->second;
    const IrEdge slice{ir_.add(slice_of(node, edge, part)), 0};
    taken_[{edge, part}] = slice;
    return slice;
  }
  IrNode slice_of(const IrNode& node, const IrEdge& edge, const Part& part) {
    IrNode made = beside(node, "StridedSlice");
    made.attrs.set("T", ir_.type(edge));
    made.inputs = {edge};
    set_slice(made, node, ir_.shape(edge), part);
    made.types = {ir_.type(edge)};
    made.shapes = {part.shape(ir_.shape(edge))};
    made.varies = ir_[edge.node].varies;
    return made;
  }

  // A value of zeros but for a part.
  IrNode put_back(const IrNode& node, const Padded& padded) {
    IrNode made = beside(node, "StridedSliceGrad");
    made.attrs.set("T", node.types[0]);
    made.inputs = {shape_input(node, node.shapes[0], left_behind(node))};
    set_slice(made, node, node.shapes[0], padded.part);
    made.inputs.push_back(padded.inner);
    made.types = node.types;
    made.shapes = node.shapes;
    made.values.resize(1);
    note_varying(made);
    return made;
  }

  // The node, computing a part of its result from parts of its inputs, in the shape of `like`; nothing: it cannot.
  std::optional<IrNode> computing(const IrNode& node, const std::vector<std::optional<Part>>& needed,
                                  const Shape& shape, const std::optional<IrEdge>& like) {
    if (const int alias = node.op->def->alias; alias >= 0) {
      const auto at = static_cast<size_t>(alias);
      return view(node, take(node, node.inputs[at], *needed[at]), shape, like);
    }
    IrNode made = node;
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) made.inputs[i] = take(node, node.inputs[i], *needed[i]);
    }
    if (!infer(made) || made.shapes[0] != shape || !has_kernel(context_, ir_, made)) return std::nullopt;
    return made;
  }

  const Padded* padded_at(const IrEdge& edge) const {
    const auto at = padded_.find(edge);
    return at == padded_.end() ? nullptr : &at->second;
  }

  void push_down(int id) {
    if (!is_simple(ir_[id])) return;
    const IrNode node = ir_[id];
    if (node.op->def->source == Source::Unslice) {
      if (const auto part = fixed_part(node)) {
        IrEdge inner = node.inputs[4];
        if (const Shape shape = part->shape(node.shapes[0]); ir_.shape(inner) != shape) {
          inner = {ir_.add(view(node, inner, shape, part_left_behind(node, *part))), 0};
        }
        padded_[{id, 0}] = {*part, inner};
      }
      return;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Padded* padded = padded_at(node.inputs[i]);
      if (!padded) continue;
      const auto reached = PartsOfNode(ir_, node).reached_from(static_cast<int>(i), padded->part);
      if (!reached) return;
      if (reached->is_summed) return sum_part(id, static_cast<int>(i), padded->part);
      push_down_to(id, *reached->part);
      return;
    }
  }

  void push_down_to(int id, const Part& part) {
    const IrNode node = ir_[id];
    const PartsOfNode parts(ir_, node);
    const auto needed = parts.needed_for(part);
    if (!needed) return;
    std::vector<bool> zero(node.inputs.size(), false);
    for (size_t i = 0; i < zero.size(); ++i) {
      const Padded* padded = padded_at(node.inputs[i]);
      zero[i] = padded && (*needed)[i] && padded->part == *(*needed)[i];
    }
    if (!parts.stays_zero(zero)) return;
    const std::optional<IrEdge> like = part_left_behind(node, part);
    auto made = computing(node, *needed, part.shape(node.shapes[0]), like);
    if (!made) return;
    const Padded padded{part, {ir_.add(std::move(*made)), 0}};
    expect_shape(like, padded.inner);
    padded_[{id, 0}] = padded;
    ir_[id] = put_back(node, padded);  // for those that read all of it
  }

  // The node sums over the dimension in which an input is zero but for a part.
  void sum_part(int id, int input, const Part& part) {
    const IrNode node = ir_[id];
    std::vector<std::optional<Part>> needed(node.inputs.size());
    needed[static_cast<size_t>(input)] = part;
    if (node.op->def->source == Source::Product) {
      const Shape& from = ir_.shape(node.inputs[static_cast<size_t>(input)]);
      // The inner dimension stands last in one matrix and last but one in the other, unless one is transposed.
      const Shape& other = ir_.shape(node.inputs[static_cast<size_t>(1 - input)]);
      Part there = part;
      for (int axis : {other.rank() - 1, other.rank() - 2}) {
        Part candidate = part;
        candidate.axis = axis;
        const auto reached = PartsOfNode(ir_, node).reached_from(1 - input, candidate);
        if (reached && reached->is_summed) there = candidate;
      }
      if (other[there.axis] != from[part.axis]) return;
      needed[static_cast<size_t>(1 - input)] = there;
    }
    const std::optional<IrEdge> like = left_behind(node);
    if (auto made = computing(node, needed, node.shapes[0], like)) {
      ir_[id] = std::move(*made);
      expect_shape(like, {id, 0});
    }
  }

  void note_slice(int id) {
    const IrNode& node = ir_[id];
    if (!is_simple(node) || node.op->def->source != Source::Slice) return;
    if (const auto part = id < programs_ ? fixed_part(node) : small_part(node))
      slices_[node.inputs[0].node].push_back({id, *part});
  }

  // Whether all that is read of a node is one part of its output.
  bool is_read_in_part(int id) const {
    const auto slices = slices_.find(id);
    if (slices == slices_.end() || controlled_[static_cast<size_t>(id)]) return false;
    const auto& list = slices->second;
    return uses_[static_cast<size_t>(id)] == static_cast<int>(list.size()) &&
           std::all_of(list.begin(), list.end(), [&](const auto& slice) { return slice.second == list[0].second; });
  }

  void pull_up(int id) {
    if (!is_simple(ir_[id]) || !is_read_in_part(id)) return;
    const IrNode node = ir_[id];
    if (node.op->def->source == Source::Slice || node.op->def->source == Source::Unslice) return;
    const std::vector<std::pair<int, Part>> slices = slices_[id];
    const Part& part = slices[0].second;
    const auto needed = PartsOfNode(ir_, node).needed_for(part);
    if (!needed) return;
    const int before = ir_.size();
    const std::optional<IrEdge> like = part_left_behind(node, part);
    auto made = computing(node, *needed, part.shape(node.shapes[0]), like);
    if (!made) return;
    const IrEdge inner{ir_.add(std::move(*made)), 0};
    expect_shape(like, inner);
    for (const auto& [slice, same] : slices) {
      const IrNode gone = ir_[slice];
      ir_[slice] = view(gone, inner, gone.shapes[0], left_behind(gone));
    }
    slices_.erase(id);
    ir_[id].dead = true;
    count_again(before, id, slices);
  }

  // After a pull: who reads what.
  void count_again(int first_new, int gone, const std::vector<std::pair<int, Part>>& slices) {
    uses_.resize(ir_.nodes.size(), 0);
    controlled_.resize(ir_.nodes.size(), false);
    for (const IrEdge& input : ir_[gone].inputs) --uses_[static_cast<size_t>(input.node)];
    for (int id = first_new; id < ir_.size(); ++id) {
      if (ir_[id].dead) continue;
      for (const IrEdge& input : ir_[id].inputs) ++uses_[static_cast<size_t>(input.node)];
      note_slice(id);
    }
    for (const auto& [slice, part] : slices) ++uses_[static_cast<size_t>(ir_[slice].inputs[0].node)];
  }

  Ir& ir_;
  const PassContext& context_;
  int programs_ = 0;  // nodes of the program; what comes behind them is this pass's
  std::map<IrEdge, Padded> padded_;
  std::map<std::pair<IrEdge, Part>, IrEdge> taken_;
  std::map<int, std::vector<std::pair<int, Part>>> slices_;  // of a node's output, and what they take
  std::vector<int> uses_;
  std::vector<bool> controlled_;
};

}  // namespace

void compute_parts(Ir& ir, PassContext& context) { Mover(ir, context).run(); }

}  // namespace weir
