#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/errors.h"
#include "graph/bodies.h"
#include "ops/control/dataflow.h"
#include "passes/ir.h"

namespace weir {
namespace {

// Whether a node of the body, or of one inside it, is such.
bool any_node(const Body& body, FunctionRef<bool(const Node&)> is_such) {
  return std::any_of(body.nodes.begin(), body.nodes.end(), [&](const Node* node) {
    if (!is_if(*node->op) && !is_while(*node->op)) return is_such(*node);
    auto [first, second] = bodies_of(*node);
    return any_node(*first, is_such) || any_node(*second, is_such);
  });
}

constexpr auto kWritesVariable = [](const Node& node) { return node.op->effect == Effect::Writes; };

constexpr auto kWaits = [](const Node& node) { return node.op->def->waits; };

class Builder {
 public:
  explicit Builder(const PlanRequest& request) : body_(request.body), part_(request.part) {
    const std::span<const Output> feeds = request.feeds;
    const std::span<const FeedSpec> values = request.feed_specs;
    for (size_t i = 0; i < feeds.size(); ++i) {
      const Node& node = *feeds[i].node();
      const FeedSpec& value = values[i];
      if (!feeds[i].shape().compatible(value.shape)) {
        node.fail(Code::InvalidArgument, fmt::format("a value of shape {} is fed; '{}' has shape {}", value.shape.str(),
                                                     feeds[i].name(), feeds[i].shape().str()));
      }
      IrNode ir_node;
      ir_node.op = node.op;
      ir_node.origin = &node;
      ir_node.name = node.name;
      ir_node.feed = static_cast<int>(i);
      ir_node.types = {value.dtype};
      ir_node.shapes = {value.shape};
      ir_node.values = {value.value};
      if (value.dtype == DType::Variant) ir_node.elements = {value.elements};
      ir_node.invariant = value.invariant;
      ir_node.varies = !feeds[i].shape().is_known();
      ir_.declared.push_back(feeds[i].shape());
      if (!feeds_.emplace(feeds[i], ir_.add(std::move(ir_node))).second) {
        node.fail(Code::InvalidArgument, fmt::format("'{}' is fed twice", feeds[i].name()));
      }
      note_given(feeds[i]);
    }
    if (!body_) return;
    for (const Output& parameter : body_->parameters) note_given(parameter);
    if (part_) return;
    for (const Output& feed : feeds) {
      if (body_->encloses(feed.node()->body)) given_.insert(feed.node());
    }
  }

  Ir build(std::span<const Output> fetches, std::span<const Operation> targets) {
    for (const Output& fetch : fetches) visit(fetch);
    for (const Operation& target : targets) visit(target.node());
    if (ir_.is_dataflow) return std::move(ir_);
    give_to_branches();
    for (const Output& fetch : fetches) {
      ir_.fetches.push_back(body_ || part_ ? value_edge(fetch, nullptr) : last_value(fetch));
    }
    for (const Operation& target : targets) ir_.targets.push_back(nodes_.at(target.node()));
    return std::move(ir_);
  }

 private:
  void visit(const Output& output) {
    if (!feeds_.count(output)) visit(output.node());
  }

  void note_given(const Output& output) {
    if (output.node()->op->role == Role::Placeholder) given_.insert(output.node());
  }

  // Producers first, with an explicit stack: graphs can be deeper than a thread's stack.
  void visit(const Node* root) {
    std::vector<std::pair<const Node*, bool>> stack = {{root, false}};
    while (!stack.empty() && !ir_.is_dataflow) {
      auto [node, ready] = stack.back();
      stack.pop_back();
      if (nodes_.count(node)) continue;
      if (ops::dataflow_kind(*node->op) != ops::DataflowKind::None) {
        ir_.is_dataflow = true;  // and loops are cycles: there is no end of following them
        return;
      }
      if (ready) {
        add(node);
        continue;
      }
      stack.emplace_back(node, true);
      for (auto it = node->control_inputs.rbegin(); it != node->control_inputs.rend(); ++it) {
        if (waits_for(**it)) stack.emplace_back(*it, false);
      }
      for (auto it = node->inputs.rbegin(); it != node->inputs.rend(); ++it) {
        const Output& input = read_instead(*it);
        if (!feeds_.count(input) && !is_passed_handle(*node, input)) stack.emplace_back(input.node(), false);
      }
    }
  }

  void add(const Node* node) {
    IrNode ir_node;
    ir_node.op = node->op;
    ir_node.origin = node;
    ir_node.name = node->name;
    ir_node.attrs = node->attrs;
    for (const Node* control : node->control_inputs) {
      if (waits_for(*control)) ir_node.control.push_back(nodes_.at(control));
    }
    if (is_flow(*node)) ir_node.flow = snapshot(*node);
    // An Identity of a reference is the read itself: it happens when the Identity's turn comes.
    const auto input_of = [&](size_t i) -> const Output& { return read_instead(node->inputs[i]); };
    bool reads = node->op->role == Role::Identity && input_of(0).is_ref() && !feeds_.count(input_of(0));
    if (reads) ir_node.op = find_op("_Read");
    std::vector<FlatArg> args = flatten_args(node->op->inputs, node->attrs);
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (is_passed_handle(*node, input_of(i))) continue;
      bool by_ref = args[i].spec->is_ref || reads;
      // Who waits for a write sees it, even through a read that others had before: TensorFlow's share the memory.
      const bool plain = !by_ref && is_plain_read(input_of(i));
      const Output& variable = plain ? input_of(i).node()->inputs[0] : input_of(i);
      std::vector<int> before = ir_node.control;
      if (!by_ref && variable.is_ref()) wait_for_writes(*node, i, variable, before);
      const Output& input = before.empty() ? input_of(i) : variable;
      ir_node.inputs.push_back(by_ref ? edge(input) : value_edge(input, &before));
      // What a body is given by reference was made in this run: variables it would look up by itself.
      if (args[i].spec->is_ref && !body_ && feeds_.count(input_of(i))) {
        node->fail(Code::InvalidArgument, fmt::format("'{}' is fed, but this writes it", input_of(i).name()));
      }
    }
    ir_node.types = node->output_types;
    ir_node.shapes = node->output_shapes;
    WrittenSet written = written_before(ir_node);
    const int id = ir_.add(std::move(ir_node));
    if (written) written_.emplace(id, std::move(written));
    nodes_.emplace(node, id);
  }

  // What was made in a branch and is read around it is computed here. The branch itself takes what is fed or computed
  // here instead of its own where that could be something else: a number drawn at random is one number in a run.
  void give_to_branches() {
    std::vector<std::pair<Output, IrEdge>> inner;
    const auto collect = [&](const Output& output, const IrEdge& edge) {
      if (!output.is_ref() && !is_handle(output)) inner.emplace_back(output, edge);
    };
    for (int i = 0; i < ir_.size(); ++i) {
      Node* node = const_cast<Node*>(ir_[i].origin);
      if (!node->body || node->body == body_ || ir_[i].is_feed()) continue;
      auto found = nodes_.find(node);
      if (node->op->pure() || found == nodes_.end() || found->second != i) continue;
      for (int o = 0; o < static_cast<int>(node->output_types.size()); ++o) collect(Output(node, o), {i, o});
    }
    for (const auto& [output, id] : feeds_) {
      const Body* body = output.node()->body;
      if (body && body != body_) collect(output, {id, 0});
    }
    if (inner.empty()) return;
    std::sort(inner.begin(), inner.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.node()->id, a.first.index()) < std::pair(b.first.node()->id, b.first.index());
    });
    for (IrNode& node : ir_.nodes) {
      if (!node.flow || node.flow->is_loop) continue;
      auto& [first, second] = node.flow->bodies;
      for (const auto& [output, edge] : inner) {
        const Body* body = output.node()->body;
        if (!first.body->encloses(body) && !second.body->encloses(body)) continue;
        std::vector<Output>& known = first.parameters;
        if (std::find(known.begin(), known.end(), output) != known.end()) continue;
        first.parameters.push_back(output);
        second.parameters.push_back(output);
        node.inputs.push_back(edge);
      }
    }
  }

  // The variables that are written when a node has run, by itself or by what it waits for; none is null. Most nodes
  // have the set of one of their inputs, and share it.
  using WrittenSet = std::shared_ptr<const std::unordered_set<int>>;
  static constexpr int kAnyVariable = -1;  // control flow writes what its bodies write

  WrittenSet written_before(const IrNode& node) const {
    WrittenSet all;
    const auto join = [&](int before) {
      auto found = written_.find(before);
      if (found == written_.end() || found->second == all) return;
      if (!all) {
        all = found->second;
        return;
      }
      auto joined = std::make_shared<std::unordered_set<int>>(*all);
      joined->insert(found->second->begin(), found->second->end());
      if (joined->size() > all->size()) all = std::move(joined);
    };
    for (const IrEdge& input : node.inputs) join(input.node);
    for (int before : node.control) join(before);
    int own = 0;
    if (node.flow && node.flow->writes) {
      own = kAnyVariable;
    } else if (node.op->effect == Effect::Writes && !node.inputs.empty()) {
      own = variable_of(ir_, node.inputs[0]);
    } else {
      return all;
    }
    if (all && all->count(own)) return all;
    auto joined = all ? std::make_shared<std::unordered_set<int>>(*all) : std::make_shared<std::unordered_set<int>>();
    joined->insert(own);
    return joined;
  }

  // Adds those inputs of the node, beside its input `at`, that come after a write to the variable: control dependencies
  // are told once, of a constant for one, and hold for all that follows it.
  void wait_for_writes(const Node& node, size_t at, const Output& variable, std::vector<int>& before) const {
    if (written_.empty() || feeds_.count(variable)) return;
    const int written = variable_of(ir_, edge(variable));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Output& other = read_instead(node.inputs[i]);
      if (i == at || feeds_.count(other) || is_passed_handle(node, other)) continue;
      auto found = written_.find(nodes_.at(other.node()));
      if (found == written_.end()) continue;
      if (found->second->count(written) || found->second->count(kAnyVariable)) before.push_back(found->first);
    }
  }

  // A variable's value as programs name it: an Identity of its reference that waits for nothing.
  bool is_plain_read(const Output& output) const {
    const Node& node = *output.node();
    return node.op->role == Role::Identity && node.inputs[0].is_ref() && node.control_inputs.empty() &&
           !feeds_.count(output) && !feeds_.count(node.inputs[0]) && nodes_.count(node.inputs[0].node());
  }

  // What a body waits for outside of itself has happened before its If or While runs, and what is fed is there from the
  // beginning.
  bool waits_for(const Node& control) const {
    if (part_) return part_->nodes.contains(&control) && !given_.count(&control);
    return (!body_ || body_->encloses(control.body)) && !given_.count(&control);
  }

  const Output& read_instead(const Output& output) const {
    if (!part_ || !output.is_ref()) return output;
    auto found = part_->references.find(output);
    return found == part_->references.end() ? output : found->second;
  }

  static bool is_flow(const Node& node) { return is_if(*node.op) || is_while(*node.op); }

  // Variables are known to the whole session: bodies look them up for themselves, and no value needs to exist before.
  static bool is_handle(const Output& output) {
    return gives_named_handle(*output.node()->op) && output.node()->op->role != Role::Placeholder;
  }
  static bool is_passed_handle(const Node& reader, const Output& input) { return is_flow(reader) && is_handle(input); }

  static std::shared_ptr<Flow> snapshot(const Node& node) {
    auto flow = std::make_shared<Flow>();
    flow->is_loop = is_while(*node.op);
    flow->scalar = !flow->is_loop && node.inputs[0].shape().is_scalar();
    auto [first, second] = bodies_of(node);
    flow->writes = any_node(*first, kWritesVariable) || any_node(*second, kWritesVariable);
    flow->waits = any_node(*first, kWaits) || any_node(*second, kWaits);
    const Body* bodies[2] = {first, second};
    for (int b = 0; b < 2; ++b) {
      const Body& body = *bodies[b];
      flow->bodies[b] = {&body, {}, {}, body.targets};
      const size_t before = flow->is_loop ? 0 : 1;  // the predicate
      for (size_t i = 0; i < body.parameters.size(); ++i) {
        if (is_handle(node.inputs[i + before])) continue;
        flow->bodies[b].parameters.push_back(body.parameters[i]);
        if (!flow->is_loop || b == 0) continue;
        flow->bodies[b].results.push_back(body.results[i]);
        flow->outputs.push_back(static_cast<int>(i));
      }
      if (!flow->is_loop || b == 0) flow->bodies[b].results = body.results;
    }
    if (!flow->is_loop) {
      for (int i = 0; i < static_cast<int>(node.output_types.size()); ++i) flow->outputs.push_back(i);
    }
    return flow;
  }

  IrEdge edge(const Output& output) const {
    auto fed = feeds_.find(output);
    if (fed != feeds_.end()) return {fed->second, 0};
    return {nodes_.at(output.node()), output.index()};
  }

  // The edge that carries a value: through a read of its own when `output` is a reference. The read happens after
  // whatever its reader waits for.
  IrEdge value_edge(const Output& output, const std::vector<int>* control) {
    IrEdge direct = edge(output);
    if (!output.is_ref() || feeds_.count(output)) return direct;
    IrNode read;
    read.op = find_op("_Read");
    read.origin = output.node();
    read.name = output.node()->name + "/_read";
    read.attrs.set("T", output.dtype());
    read.inputs = {direct};
    if (control) read.control = *control;
    read.types = {output.dtype()};
    read.shapes = {output.shape()};
    return {ir_.add(std::move(read)), 0};
  }

  // The edge of what a run fetches. References, and plain reads of them, give the variable's value after all of the
  // run's writes, as in TensorFlow, where the value that is fetched shares the memory that they change.
  IrEdge last_value(const Output& fetch) {
    auto plain_read = [&](const Output& output) {
      const Node& node = *output.node();
      return node.op->role == Role::Identity && node.control_inputs.empty() && !feeds_.count(output);
    };
    Output source = fetch;
    while (!source.is_ref() && plain_read(source)) source = source.node()->inputs[0];
    if (!source.is_ref() || feeds_.count(source)) return value_edge(fetch, nullptr);
    const int variable = variable_of(ir_, edge(source));
    std::vector<int> writes;
    for (int i = 0; i < ir_.size(); ++i) {
      const IrNode& other = ir_[i];
      if (other.is_feed()) continue;
      const bool writes_it =
          other.op->effect == Effect::Writes && !other.inputs.empty() && variable_of(ir_, other.inputs[0]) == variable;
      if (writes_it || (other.flow && other.flow->writes)) writes.push_back(i);
    }
    return value_edge(source, &writes);
  }

  const Body* body_;
  const PlanPart* part_;
  Ir ir_;
  std::unordered_map<const Node*, int> nodes_;
  std::unordered_map<Output, int, OutputHash> feeds_;
  std::unordered_set<const Node*> given_;  // placeholders that are fed
  std::unordered_map<int, WrittenSet> written_;
};

}  // namespace

Ir build_ir(const PlanRequest& request) {
  Graph* graph = !request.fetches.empty()   ? &request.fetches[0].graph()
                 : !request.targets.empty() ? &request.targets[0].graph()
                                            : nullptr;
  if (!graph) return {};
  std::lock_guard lock(graph->impl().storage.mutex);  // shapes of nodes may gain knowledge meanwhile
  return Builder(request).build(request.fetches, request.targets);
}

}  // namespace weir
