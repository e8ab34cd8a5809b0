#include <algorithm>
#include <map>
#include <set>

#include "ops/elementwise.h"
#include "passes/loop_groups.h"
#include "passes/place.h"

namespace weir {
namespace {

constexpr size_t kMaxInstructions = 128;
// Inputs with a single element for each row are worth to be read so when rows are this long.
constexpr int64_t kLongRow = 48;

using Kind = ElementwiseBody::Kind;
using Fold = ElementwiseProgram::Fold;

// Writes the program of one group.
class Writer {
 public:
  // `again`: nodes of other loops that this one computes for itself.
  Writer(const Ir& ir, const LoopNodes& nodes, const LoopGroup& group, const std::set<int>& again)
      : ir_(ir),
        nodes_(nodes),
        again_(again),
        space_(group.space),
        inside_(group.members.begin(), group.members.end()) {
    if (space_.row_dims == 0) find_rows(group);
    collect_inputs(group);
    program.inputs = static_cast<int>(inputs.size());
    program.row_dims = space_.row_dims;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].second) program.row_inputs.push_back(static_cast<int>(i));
    }
    for (int id : group.members) write(id);
  }

  // A member that is read outside.
  void add_output(int id) {
    LoopSpace space = space_;
    const LoopRole role = nodes_.role_in(id, space);
    LoopForm form;
    if (role == LoopRole::Row) form = {LoopForm::Of::Row, space_.is_kept_row(ir_[id].shapes[0])};
    if (role == LoopRole::Columns) form = {LoopForm::Of::Columns, ir_[id].shapes[0].rank() == space_.full.rank()};
    if (role == LoopRole::All) form = {LoopForm::Of::All, ir_[id].shapes[0].rank() > 0};
    outputs.push_back(id);
    forms.push_back(form.encode());
    program.outputs.push_back(values_.at(id));
    program.folds.push_back(folds_.count(id) ? folds_.at(id) : Fold::None);
  }
  bool is_full(int id) const {
    LoopSpace space = space_;
    return nodes_.role_in(id, space) == LoopRole::Full;
  }
  const LoopSpace& space() const { return space_; }

  ElementwiseProgram program;
  std::vector<std::pair<IrEdge, bool>> inputs;  // and whether they have one element a row
  std::vector<int> outputs;                     // members
  std::vector<int64_t> forms;
  std::vector<int> copied;  // nodes outside that are computed again

 private:
  // Rows that no reduction asks for, so that an input with one element for each need not be repeated.
  void find_rows(const LoopGroup& group) {
    for (int id : group.members) {
      for (const IrEdge& edge : nodes_.values_read(id)) {
        const Shape& shape = ir_.shape(edge);
        for (int dims = 1; dims < space_.full.rank() && shape.rank() == space_.full.rank(); ++dims) {
          LoopSpace rows{space_.full, dims};
          if (!rows.is_kept_row(shape) || rows.row() < kLongRow || shape.elements() == 1) continue;
          space_ = rows;
          return;
        }
      }
    }
  }

  std::pair<IrEdge, bool> input_of(int id, const IrEdge& edge) const {
    LoopSpace space = space_;
    const LoopRole role = nodes_.role_in(id, space);
    const bool as_row = role == LoopRole::Full ? space_.is_kept_row(ir_.shape(edge))
                                               : role != LoopRole::Columns && ir_.shape(edge) != space_.full &&
                                                     space_.is_row(ir_.shape(edge));
    return {edge, as_row};
  }

  void collect_inputs(const LoopGroup& group) {
    for (int id : group.members) collect_inputs(id, id);
  }
  // Those of a member, or of a node that is computed again for one.
  void collect_inputs(int reader, int id) {
    for (const IrEdge& edge : nodes_.values_read(id)) {
      if (inside_.count(edge.node)) continue;
      if (again_.count(edge.node)) {
        collect_inputs(reader, edge.node);
        continue;
      }
      auto input = input_of(reader, edge);
      if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
    }
  }

  // The value that `reader`, a member, sees behind an edge.
  int value(int reader, const IrEdge& edge) {
    const bool inside = inside_.count(edge.node) > 0;
    if (!inside && (nodes_.is_truth(edge.node) || again_.count(edge.node))) {
      const auto key = std::pair(edge.node, !is_full(reader));
      if (auto known = truths_.find(key); known != truths_.end()) return known->second;
      copied.push_back(edge.node);
      return truths_[key] = write_elementwise(reader, ir_[edge.node]);
    }
    if (inside) return values_.at(edge.node);
    const auto at = std::find(inputs.begin(), inputs.end(), input_of(reader, edge));
    return static_cast<int>(at - inputs.begin());
  }

  void write(int id) {
    const IrNode& node = ir_[id];
    const LoopPart& body = node.op->def->loop;
    if (body.kind == LoopPart::Kind::None) {
      values_[id] = write_elementwise(id, node);
      return;
    }
    int x = value(id, node.inputs[0]);
    if (body.kind == LoopPart::Kind::Softmax) {
      const int e = program.add(UnaryFn::Exp, program.add(BinaryFn::Sub, x, program.add_reduce(ReduceFn::Max, x)));
      const int scale = program.add(UnaryFn::Reciprocal, program.add_reduce(ReduceFn::Sum, e));
      values_[id] = program.add(BinaryFn::Mul, e, scale);
      return;
    }
    LoopSpace space = space_;
    const LoopRole role = nodes_.role_in(id, space);
    if (role == LoopRole::Row) {
      values_[id] = program.add_reduce(body.fn, x);
      return;
    }
    if (body.fn == ReduceFn::SumSquares) x = program.add(UnaryFn::Square, x);
    if (body.scale != 1) x = program.add(BinaryFn::Mul, x, program.add_constant(body.scale));
    const bool mean = body.fn == ReduceFn::Mean;
    values_[id] = x;
    folds_[id] = role == LoopRole::All ? (mean ? Fold::Mean : Fold::All) : (mean ? Fold::ColumnMeans : Fold::Columns);
  }

  int write_elementwise(int reader, const IrNode& node) {
    const ElementwiseBody& body = node.op->def->elementwise;
    auto operand = [&](size_t i) { return value(reader, node.inputs[i]); };
    const int first = operand(0);
    if (node.op->role == Role::BiasAdd) return program.add(BinaryFn::Add, first, operand(1));
    switch (body.kind) {
      case Kind::Unary:
        return program.add(body.unary, first);
      case Kind::Binary: {
        const int second = operand(1);
        return program.add(body.binary, first, second);
      }
      case Kind::Select: {
        const int second = operand(1), third = operand(2);
        return program.add_select(first, second, third);
      }
      case Kind::Sum: {
        int sum = first;
        for (size_t i = 1; i < node.inputs.size(); ++i) sum = program.add(BinaryFn::Add, sum, operand(i));
        return sum;
      }
      case Kind::Cast:
      case Kind::None:
        break;
    }
    return first;
  }

  const Ir& ir_;
  const LoopNodes& nodes_;
  const std::set<int>& again_;
  LoopSpace space_;
  std::set<int> inside_;
  std::map<int, int> values_;  // of members
  std::map<int, Fold> folds_;
  std::map<std::pair<int, bool>, int> truths_;
};

class Fuser {
 public:
  Fuser(Ir& ir, const PassContext& context)
      : ir_(ir), context_(context), nodes_(ir), groups_(find_loop_groups(ir, nodes_)) {
    group_of_.assign(ir.nodes.size(), -1);
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (int id : groups_[g].members) group_of_[static_cast<size_t>(id)] = static_cast<int>(g);
    }
  }

  void run() {
    // A group that cannot be made leaves its nodes as they are, and these read more than the loop would have.
    std::vector<Made> made;
    while (!make_all(made)) made.clear();
    for (Made& one : made) put(std::move(one));
    for (IrNode& node : ir_.nodes) {
      if (node.dead) continue;
      for (IrEdge& input : node.inputs) input = after(input);
    }
    for (IrEdge& fetch : ir_.fetches) fetch = after(fetch);
    ir_.sweep();  // truth values that loops compute for themselves may read members that are gone
  }

 private:
  struct Made {
    size_t group;
    IrNode node;
    std::vector<int> outputs;  // members
  };

  IrEdge after(const IrEdge& edge) const {
    auto at = replaced_.find(edge);
    return at == replaced_.end() ? edge : at->second;
  }

  // What each group gives to others: nodes that no fetch and no target needs in the end do not count.
  void find_reads() {
    needed_.assign(groups_.size(), false);
    read_outside_.clear();
    read_alone_.clear();
    std::vector<bool> seen(ir_.nodes.size(), false);
    std::vector<int> open = ir_.targets;
    auto read = [&](const IrEdge& edge) {
      read_outside_.insert(edge);
      open.push_back(edge.node);
    };
    auto read_by_one = [&](const IrEdge& edge) {
      read_alone_.insert(edge.node);
      read(edge);
    };
    for (const IrEdge& fetch : ir_.fetches) read_by_one(fetch);
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      if (seen[static_cast<size_t>(id)]) continue;
      seen[static_cast<size_t>(id)] = true;
      const int group = group_of_[static_cast<size_t>(id)];
      if (group < 0) {
        for (const IrEdge& input : ir_[id].inputs) read_by_one(input);
        open.insert(open.end(), ir_[id].control.begin(), ir_[id].control.end());
        continue;
      }
      if (needed_[static_cast<size_t>(group)]) continue;
      needed_[static_cast<size_t>(group)] = true;
      const LoopGroup& whole = groups_[static_cast<size_t>(group)];
      open.insert(open.end(), whole.sources.begin(), whole.sources.end());
      for (int member : whole.members) read_of(member, group, read);
    }
  }

  // What a member, or a node that is computed again for one, reads outside of its group.
  template <class Read>
  void read_of(int id, int group, const Read& read) const {
    for (const IrEdge& edge : nodes_.values_read(id)) {
      if (group_of_[static_cast<size_t>(edge.node)] == group) continue;
      if (again_.count(edge.node)) {
        read_of(edge.node, group, read);
      } else {
        read(edge);
      }
    }
  }

  // Values that only loops read are not kept for them when a cheap function of one other value gives them, which is in
  // memory anyway: reading that one instead costs the same, and nobody has to write this one.
  bool find_again() {
    for (const LoopGroup& group : groups_) {
      for (int id : group.members) {
        const IrNode& node = ir_[id];
        if (!read_outside_.count({id, 0}) || read_alone_.count(id) || !is_cheap(node)) continue;
        std::set<IrEdge> large;
        for (const IrEdge& edge : nodes_.values_read(id)) {
          if (ir_.shape(edge).elements() * 16 > node.shapes[0].elements()) large.insert(edge);
        }
        if (large.size() != 1) continue;
        const IrEdge from = *large.begin();
        const bool kept =
            group_of_[static_cast<size_t>(from.node)] < 0 || read_alone_.count(from.node) || again_.count(from.node);
        if (kept && ir_.shape(from) == node.shapes[0]) again_.insert(id);
      }
    }
    return !again_.empty();
  }

  static bool is_cheap(const IrNode& node) {
    if (node.op->def->loop.kind != LoopPart::Kind::None) return false;
    const ElementwiseBody& body = node.op->def->elementwise;
    if (body.kind == Kind::Unary) return body.unary <= UnaryFn::Square || body.unary == UnaryFn::Relu;
    if (body.kind != Kind::Binary) return false;
    return body.binary <= BinaryFn::Div || body.binary == BinaryFn::Maximum || body.binary == BinaryFn::Minimum;
  }

  // The nodes of all groups; false when some cannot be, which are groups no more.
  bool make_all(std::vector<Made>& made) {
    again_.clear();
    find_reads();
    if (find_again()) find_reads();
    bool all = true;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (!needed_[g]) continue;
      if (auto one = make(g)) {
        made.push_back(std::move(*one));
        continue;
      }
      for (int id : groups_[g].members) group_of_[static_cast<size_t>(id)] = -1;
      groups_[g].members.clear();
      all = false;
    }
    return all;
  }

  std::optional<Made> make(size_t number) const {
    const LoopGroup& group = groups_[number];
    Writer writer(ir_, nodes_, group, again_);
    // Output 0 may be written over an input: a full value, computed last.
    for (int pass = 0; pass < 2; ++pass) {
      for (auto id = group.members.rbegin(); id != group.members.rend(); ++id) {
        if (read_outside_.count({*id, 0}) && writer.is_full(*id) == (pass == 0)) writer.add_output(*id);
      }
    }
    if (writer.outputs.empty() || writer.program.instructions.size() > kMaxInstructions) return std::nullopt;
    IrNode node = make_node(group, writer);
    if (!has_kernel(context_, ir_, node) || !infer(node, writer)) return std::nullopt;
    return Made{number, std::move(node), std::move(writer.outputs)};
  }

  void put(Made made) {
    const LoopGroup& group = groups_[made.group];
    for (int id : group.members) {
      note_assumptions(ir_[id]);
      ir_[id].dead = true;
    }
    const bool varies = made.node.varies;
    if (varies) note_shapes(group);
    const int fused = ir_.add(std::move(made.node));
    for (int o = 0; o < static_cast<int>(made.outputs.size()); ++o) {
      const IrEdge before{made.outputs[static_cast<size_t>(o)], 0};
      replaced_[before] = {fused, o};
      if (varies) ir_.equal_shapes.push_back({before, {fused, o}});
    }
  }

  IrNode make_node(const LoopGroup& group, Writer& writer) const {
    const IrNode& named = ir_[writer.outputs[0]];
    IrNode node;
    node.origin = named.origin;
    node.name = named.name;
    node.device = named.device;
    node.attrs.set("T", DType::Float32);
    node.attrs.set("N", static_cast<int64_t>(writer.inputs.size()));
    ElementwiseProgram program = writer.program;
    if (std::all_of(program.folds.begin(), program.folds.end(), [](Fold f) { return f == Fold::None; })) {
      program.folds.clear();
    }
    node.attrs.set("program", program.encode());
    if (program.is_flat()) {
      node.op = find_op("_FusedElementwise");
    } else {
      node.op = find_op(writer.is_full(writer.outputs[0]) ? "_FusedLoop" : "_FusedReduction");
      node.attrs.set("M", static_cast<int64_t>(writer.outputs.size()));
      node.attrs.set("forms", writer.forms);
    }
    for (const auto& [edge, row] : writer.inputs) node.inputs.push_back(edge);
    node.types.assign(writer.outputs.size(), DType::Float32);
    const std::set<int> inside(group.members.begin(), group.members.end());
    auto wait = [&](int id) {
      node.varies = node.varies || ir_[id].varies;
      for (int before : ir_[id].control) {
        if (!inside.count(before)) node.control.push_back(before);
      }
    };
    for (int id : group.members) wait(id);
    for (int id : writer.copied) wait(id);
    std::sort(node.control.begin(), node.control.end());
    node.control.erase(std::unique(node.control.begin(), node.control.end()), node.control.end());
    return node;
  }

  // Fills in the shapes; false when they are not what they should be: the inputs alone do not tell the loop's shape.
  bool infer(IrNode& node, const Writer& writer) const {
    InputFacts facts;
    const Tensor unknown;
    for (const IrEdge& edge : node.inputs) {
      facts.shapes.push_back(&ir_.shape(edge));
      facts.values.push_back(&unknown);
    }
    try {
      node.shapes = infer_outputs(ir_, node, facts).shapes;
    } catch (const Error&) {
      return false;
    }
    Shape whole;
    for (size_t i = 0; i < writer.inputs.size(); ++i) {
      if (!writer.inputs[i].second) whole = Shape::broadcast(whole, *facts.shapes[i]);
    }
    for (size_t o = 0; o < node.shapes.size(); ++o) {
      if (node.shapes[o] != ir_[writer.outputs[o]].shapes[0]) return false;
    }
    // With rows, inputs with one element for each may say the rest.
    return whole == writer.space().full || writer.is_full(writer.outputs[0]);
  }

  // These have no broadcasting of their own, which the loop would do without a word.
  void note_assumptions(const IrNode& node) {
    const Kind kind = node.op->def->elementwise.kind;
    if (!node.varies || (kind != Kind::Select && kind != Kind::Sum)) return;
    for (size_t i = 1; i < node.inputs.size(); ++i) ir_.equal_shapes.push_back({node.inputs[0], node.inputs[i]});
  }

  // What the loop goes over is of one shape with other feeds, too.
  void note_shapes(const LoopGroup& group) {
    std::optional<IrEdge> full, row;
    for (int id : group.members) {
      LoopSpace space = group.space;
      const LoopRole role = nodes_.role_in(id, space);
      const bool reduces = role != LoopRole::Full && ir_[id].op->def->loop.kind != LoopPart::Kind::None;
      const IrEdge edge = reduces ? ir_[id].inputs[0] : IrEdge{id, 0};
      std::optional<IrEdge>& first = ir_.shape(edge) == group.space.full ? full : row;
      if (!first) {
        first = edge;
      } else if (ir_.shape(*first) == ir_.shape(edge)) {
        ir_.equal_shapes.push_back({*first, edge});
      }
    }
  }

  Ir& ir_;
  const PassContext& context_;
  LoopNodes nodes_;
  std::vector<LoopGroup> groups_;
  std::vector<int> group_of_;
  std::vector<bool> needed_;
  std::set<IrEdge> read_outside_;
  std::set<int> read_alone_;  // by nodes in no group, or fetched
  std::set<int> again_;
  std::map<IrEdge, IrEdge> replaced_;
};

}  // namespace

void fuse_loops(Ir& ir, PassContext& context) { Fuser(ir, context).run(); }

}  // namespace weir
