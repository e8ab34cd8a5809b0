#include <algorithm>
#include <map>
#include <set>

#include "base/errors.h"
#include "graph/bodies.h"
#include "runtime/dataflow_parts.h"

namespace weir {
namespace {

using ops::DataflowKind;

constexpr int kFeeds = 0;  // the unit of what is fed

class Analysis {
 public:
  explicit Analysis(const PlanRequest& request) : request_(request), made_(std::make_unique<DataflowStructure>()) {}

  std::unique_ptr<DataflowStructure> run() {
    for (size_t i = 0; i < request_.feeds.size(); ++i) feeds_.emplace(request_.feeds[i], static_cast<int>(i));
    made_->frames.push_back({});
    DataflowUnit& feeds = add_unit();
    feeds.outputs = static_cast<int>(request_.feeds.size());
    collect();
    give_to_branches();
    assign_frames();
    for (const Node* node : nodes_) {
      if (kind(*node) != DataflowKind::None) add_control_node(*node);
    }
    for (const Node* node : nodes_) sign(*node);
    form_parts();
    for (const Node* node : nodes_) connect(*node);
    fetch();
    list_readers();
    return std::move(made_);
  }

 private:
  struct Facts {
    int frame = -1;    // that it runs in
    int to_frame = 0;  // that its outputs are in
    int unit = -1;
    int signature = -1;
  };

  static DataflowKind kind(const Node& node) { return ops::dataflow_kind(*node.op); }
  static bool is_exchange(const Node& node) {
    return kind(node) == DataflowKind::Send || kind(node) == DataflowKind::Receive;
  }
  // Others wait for what the run sends: it must not stand still in one node.
  bool runs_beside(const Node& node) const { return made_->step_feed >= 0 && node.op->def->waits; }
  static bool is_handle(const Node& node) { return gives_named_handle(*node.op) && node.op->role != Role::Placeholder; }
  bool is_outside(const Node& node) const { return request_.body && !request_.body->encloses(node.body); }

  DataflowUnit& add_unit() {
    made_->units.emplace_back();
    return made_->units.back();
  }
  DataflowUnit& unit(int index) { return made_->units[static_cast<size_t>(index)]; }
  DataflowFrame& frame(int index) { return made_->frames[static_cast<size_t>(index)]; }

  // Calls visit(node) for what a node waits for, handles and what is fed left out.
  template <class Visit>
  void for_each_before(const Node& node, const Visit& visit) const {
    for (const Output& input : node.inputs) {
      if (!feeds_.contains(input) && !is_handle(*input.node())) visit(*input.node());
    }
    for (const Output& output : given_to(node)) {
      if (!feeds_.contains(output)) visit(*output.node());
    }
    for (const Node* control : node.control_inputs) {
      if (!is_handle(*control) && !is_outside(*control)) visit(*control);
    }
  }

  const std::vector<Output>& given_to(const Node& node) const {
    static const std::vector<Output> nothing;
    auto found = given_.find(&node);
    return found == given_.end() ? nothing : found->second;
  }

  void collect() {
    std::vector<const Node*> todo;
    auto need = [&](const Node& node) {
      if (is_handle(node) || !facts_.emplace(&node, Facts{}).second) return;
      nodes_.push_back(&node);
      todo.push_back(&node);
    };
    for (const Output& fetch : request_.fetches) {
      if (!feeds_.contains(fetch)) need(*fetch.node());
    }
    for (const Operation& target : request_.targets) need(*target.node());
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      for_each_before(*node, need);
    }
    std::sort(nodes_.begin(), nodes_.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  }

  // What was made in a branch of an If and is read around it, too, may be in another part than the If: the If is given it
  // as if it read it, so that both have the same number drawn at random (Builder::give_to_branches of passes/build_ir.cc).
  void give_to_branches() {
    std::vector<Output> inner;
    const auto collect = [&](const Output& output) {
      const Body* body = output.node()->body;
      if (body && body != request_.body && !output.is_ref() && !is_handle(*output.node())) inner.push_back(output);
    };
    for (const Node* node : nodes_) {
      if (node->op->pure()) continue;
      for (int o = 0; o < static_cast<int>(node->output_types.size()); ++o) collect({const_cast<Node*>(node), o});
    }
    for (const Output& feed : request_.feeds) collect(feed);
    if (inner.empty()) return;
    for (const Node* node : nodes_) {
      if (!is_if(*node->op)) continue;
      const auto [first, second] = bodies_of(*node);
      for (const Output& output : inner) {
        const Body* body = output.node()->body;
        if (first->encloses(body) || second->encloses(body)) given_[node].push_back(output);
      }
    }
  }

  // Follows values from where nothing is waited for, as a run does.
  void assign_frames() {
    std::unordered_map<const Node*, std::vector<const Node*>> readers;
    std::vector<const Node*> todo;
    for (const Node* node : nodes_) {
      bool waits = false;
      for_each_before(*node, [&](const Node& before) {
        readers[&before].push_back(node);
        waits = true;
      });
      if (!waits) enter(*node, 0, todo);
    }
    std::map<const Node*, std::pair<const Node*, int>> first;  // who said so
    while (!todo.empty()) {
      const Node* node = todo.back();
      todo.pop_back();
      const int into = facts_.at(node).to_frame;
      for (const Node* reader : readers[node]) {
        Facts& facts = facts_.at(reader);
        if (facts.frame < 0) {
          first[reader] = {node, into};
          enter(*reader, into, todo);
        } else if (facts.frame != into) {
          const auto other = first.find(reader);
          reader->fail(
              Code::InvalidArgument,
              fmt::format("The node '{}' has inputs from different frames. The input '{}' is in frame '{}'. The "
                          "input '{}' is in frame '{}'.",
                          reader->name, node->name, frame(into).name,
                          other == first.end() ? reader->name : other->second.first->name, frame(facts.frame).name));
        }
      }
    }
    for (const Node* node : nodes_) {
      if (facts_.at(node).frame < 0) node->fail(Code::InvalidArgument, "the node depends on itself");
    }
  }

  void enter(const Node& node, int in, std::vector<const Node*>& todo) {
    Facts& facts = facts_.at(&node);
    facts.frame = facts.to_frame = in;
    if (kind(node) == DataflowKind::Enter) {
      const std::string name = node.attrs.get<std::string>("frame_name");
      auto [found, is_new] = frames_.try_emplace({in, name}, static_cast<int>(made_->frames.size()));
      if (is_new) made_->frames.push_back({name, in, 0, {}});
      facts.to_frame = found->second;
      ++frame(facts.to_frame).enters;
    } else if (kind(node) == DataflowKind::Exit) {
      if (in == 0) node.fail(Code::InvalidArgument, "an Exit stands outside of any loop");
      facts.to_frame = frame(in).parent;
    }
    todo.push_back(&node);
  }

  void add_control_node(const Node& node) {
    Facts& facts = facts_.at(&node);
    facts.unit = static_cast<int>(made_->units.size());
    DataflowUnit& made = add_unit();
    made.kind = kind(node);
    made.node = &node;
    made.frame = facts.frame;
    made.to_frame = facts.to_frame;
    made.outputs = static_cast<int>(node.output_types.size());
    made.is_constant = made.kind == DataflowKind::Enter && node.attrs.get<bool>("is_constant");
    if (made.kind == DataflowKind::Exit) frame(facts.frame).exits.push_back(facts.unit);
    if (is_exchange(node)) {
      made.key = node.attrs.get<std::string>("key");
      made.numbered_frames = node.attrs.get<bool>("numbered_frames");
      made.type = node.attrs.get<DType>("T");
      const auto step = feeds_.find(node.inputs[0]);
      if (step == feeds_.end() || !made.key.ends_with(";0:0")) {
        node.fail(Code::InvalidArgument, "only the parts of a server's step can exchange values");
      }
      made_->step_feed = step->second;
    }
  }

  // What a node's running depends on: the nodes of control flow before it, and the sides of Switches. Nodes of one
  // signature are ready and dead together.
  void sign(const Node& root) {
    std::vector<std::pair<const Node*, bool>> stack = {{&root, false}};
    while (!stack.empty()) {
      auto [node, ready] = stack.back();
      stack.pop_back();
      Facts& facts = facts_.at(node);
      if (facts.signature >= 0 || facts.unit >= 0) continue;
      if (!ready) {
        stack.emplace_back(node, true);
        for_each_before(*node, [&](const Node& before) {
          if (facts_.at(&before).unit < 0 && facts_.at(&before).signature < 0) {
            if (on_path_.contains(&before)) node->fail(Code::InvalidArgument, "the node depends on itself");
            stack.emplace_back(&before, false);
          }
        });
        on_path_.insert(node);
        continue;
      }
      on_path_.erase(node);
      std::set<DataflowSource> all;
      auto add = [&](const Node& before, int output) {
        const Facts& other = facts_.at(&before);
        if (other.unit >= 0) {
          all.insert({other.unit, output});
        } else {
          const auto& theirs = signature_list_[static_cast<size_t>(other.signature)];
          all.insert(theirs.begin(), theirs.end());
        }
      };
      for (const Output& input : node->inputs) {
        if (!feeds_.contains(input) && !is_handle(*input.node())) add(*input.node(), input.index());
      }
      for (const Output& output : given_to(*node)) {
        if (!feeds_.contains(output)) add(*output.node(), output.index());
      }
      for (const Node* control : node->control_inputs) {
        if (!is_handle(*control) && !is_outside(*control)) add(*control, -1);
      }
      if (runs_beside(*node)) all.insert({-2 - node->id, -1});
      facts.signature = number(facts.frame, all);
    }
  }

  int number(int in_frame, const std::set<DataflowSource>& all) {
    auto [found, is_new] = signatures_.try_emplace({in_frame, all}, static_cast<int>(signature_list_.size()));
    if (is_new) signature_list_.emplace_back(all.begin(), all.end());
    return found->second;
  }

  DataflowPart& new_part(int in_frame) {
    DataflowUnit& made = add_unit();
    made.frame = made.to_frame = in_frame;
    made.part = std::make_unique<DataflowPart>();
    made.part->body = request_.body;
    return *made.part;
  }

  void form_parts() {
    std::unordered_map<int, int> unit_of;
    for (const Node* node : nodes_) {
      Facts& facts = facts_.at(node);
      if (facts.unit >= 0) continue;
      auto [found, is_new] = unit_of.try_emplace(facts.signature, static_cast<int>(made_->units.size()));
      if (is_new) new_part(facts.frame);
      facts.unit = found->second;
      unit(facts.unit).waits |= runs_beside(*node);
      unit(facts.unit).part->nodes.insert(node);
      // Nobody may want its values; it is needed all the same.
      unit(facts.unit).part->targets.emplace_back(const_cast<Node*>(node));
    }
  }

  // The variable that a reference refers to, whichever way it came.
  Output variable_behind(Output output) {
    for (int steps = 0; steps < 100000; ++steps) {
      const Node& node = *output.node();
      if (is_handle(node)) return output;
      if (node.inputs.empty()) break;
      if (kind(node) == DataflowKind::Merge) {
        const Output first = variable_behind(node.inputs[0]);
        for (const Output& other : node.inputs) {
          if (other.node() != &node && kind(*other.node()) != DataflowKind::NextIteration &&
              variable_behind(other) != first) {
            node.fail(Code::Unimplemented, "references to different variables are merged");
          }
        }
        return first;
      }
      if (!node.inputs[0].is_ref()) break;
      output = node.inputs[0];
    }
    output.node()->fail(Code::Unimplemented, "which variable the reference is to is known to the run alone");
  }

  // `output`: of a node of control flow, whose outputs may be dead one by one.
  void wait_for(DataflowUnit& reader, int self, int other, int output = -1) {
    if (other == self) return;
    const DataflowSource source{other, unit(other).part ? -1 : output};
    if (std::find(reader.controls.begin(), reader.controls.end(), source) == reader.controls.end()) {
      reader.controls.push_back(source);
    }
  }

  // The output of a unit that carries a tensor.
  DataflowSource source_of(const Output& output) {
    if (auto fed = feeds_.find(output); fed != feeds_.end()) return {kFeeds, fed->second};
    const Facts& facts = facts_.at(output.node());
    if (!unit(facts.unit).part) return {facts.unit, output.index()};
    DataflowPart& part = *unit(facts.unit).part;
    auto found = std::find(part.fetches.begin(), part.fetches.end(), output);
    const auto index = static_cast<int>(found - part.fetches.begin());
    if (found == part.fetches.end()) {
      part.fetches.push_back(output);
      unit(facts.unit).outputs = index + 1;
    }
    return {facts.unit, index};
  }

  // The same for a reference or handle that is read as a value, in a part of its own: after whoever gave the reference.
  DataflowSource read_of(const Output& output, int in_frame) {
    auto [found, is_new] = reads_.try_emplace({output, in_frame}, static_cast<int>(made_->units.size()));
    if (is_new) {
      if (in_frame != 0 && is_handle(*output.node())) {
        output.node()->fail(
            Code::InvalidArgument,
            fmt::format("a loop reads '{}' that has not entered it: the reader has inputs from different "
                        "frames",
                        output.name()));
      }
      const Output variable = variable_behind(output);
      DataflowPart& part = new_part(in_frame);
      part.fetches.push_back(variable);
      DataflowUnit& made = unit(found->second);
      made.outputs = 1;
      if (!is_handle(*output.node())) {
        wait_for(made, found->second, facts_.at(output.node()).unit, output.index());
      }
    }
    return {found->second, 0};
  }

  void connect(const Node& node) {
    const Facts& facts = facts_.at(&node);
    const std::vector<FlatArg> args = flatten_args(node.op->inputs, node.attrs);
    const int self = facts.unit;
    for (size_t i = is_exchange(node) ? 1 : 0; i < node.inputs.size(); ++i) {  // the step's number is the run's
      const Output& input = node.inputs[i];
      const bool fed = feeds_.contains(input);
      const bool inside = unit(self).part && !fed && !is_handle(*input.node()) && facts_.at(input.node()).unit == self;
      if (!unit(self).part) {
        connect_control_node(node, self, input, args[i].spec->is_ref, fed);
      } else if (inside || (!fed && is_handle(*input.node()))) {
        continue;
      } else if (input.is_ref() && !fed) {
        unit(self).part->references.emplace(input, variable_behind(input));
        wait_for(unit(self), self, facts_.at(input.node()).unit, input.index());
      } else {
        feed_part(self, input);
      }
    }
    for (const Output& output : given_to(node)) {
      if (feeds_.contains(output) || facts_.at(output.node()).unit != self) feed_part(self, output);
    }
    for (const Node* control : node.control_inputs) {
      if (!is_handle(*control) && !is_outside(*control)) wait_for(unit(self), self, facts_.at(control).unit);
    }
  }

  void feed_part(int self, const Output& input) {
    const DataflowSource source = source_of(input);
    std::vector<Output>& feeds = unit(self).part->feeds;
    if (std::find(feeds.begin(), feeds.end(), input) != feeds.end()) return;
    feeds.push_back(input);
    unit(self).inputs.push_back(source);
  }

  void connect_control_node(const Node& node, int self, const Output& input, bool by_ref, bool fed) {
    DataflowSource source;
    if (by_ref && !fed) {  // no value: that the reference is there
      source = is_handle(*input.node()) ? DataflowSource{kFeeds, -1} : DataflowSource{facts_.at(input.node()).unit, -1};
      if (source.unit >= 0 && unit(source.unit).kind != DataflowKind::None) source.output = input.index();
    } else if (!fed && (input.is_ref() || is_handle(*input.node()))) {
      source = read_of(input, facts_.at(&node).frame);
    } else {
      source = source_of(input);
    }
    DataflowUnit& made = unit(self);
    made.inputs.push_back(source);
    const bool later = made.kind == DataflowKind::Merge && !fed && kind(*input.node()) == DataflowKind::NextIteration;
    if (later) ++made.later_inputs;
  }

  void fetch() {
    for (const Output& output : request_.fetches) {
      made_->fetch_names.push_back(output.name());
      const bool fed = feeds_.contains(output);
      const bool in_loop = !fed && !is_handle(*output.node()) && facts_.at(output.node()).to_frame != 0;
      if (in_loop) {
        output.node()->fail(Code::InvalidArgument,
                            fmt::format("'{}' is a part of a loop and cannot be fetched", output.name()));
      }
      if (fed || !output.is_ref()) {
        const bool plain = fed || !is_handle(*output.node());
        made_->fetches.push_back(plain ? source_of(output) : read_of(output, 0));
        continue;
      }
      if (!made_->last) {
        made_->last = std::make_unique<DataflowPart>();
        made_->last->body = request_.body;
      }
      made_->last->fetches.push_back(variable_behind(output));
      made_->fetches.push_back({});
    }
  }

  void list_readers() {
    for (DataflowUnit& each : made_->units) each.readers.resize(static_cast<size_t>(each.outputs));
    for (size_t u = 0; u < made_->units.size(); ++u) {
      DataflowUnit& reader = made_->units[u];
      for (size_t i = 0; i < reader.inputs.size(); ++i) {
        const DataflowSource& source = reader.inputs[i];
        DataflowUnit& from = unit(source.unit);
        const DataflowUnit::Reader entry{static_cast<int>(u), static_cast<int>(i)};
        if (source.output >= 0) {
          from.readers[static_cast<size_t>(source.output)].push_back(entry);
        } else {
          from.given.push_back(entry);
        }
      }
      for (const DataflowSource& control : reader.controls) {
        DataflowUnit& from = unit(control.unit);
        if (control.output >= 0) {
          from.readers[static_cast<size_t>(control.output)].push_back({static_cast<int>(u), -1});
        } else {
          from.waiting.push_back(static_cast<int>(u));
        }
      }
    }
  }

  const PlanRequest& request_;
  std::unique_ptr<DataflowStructure> made_;
  std::unordered_map<Output, int, OutputHash> feeds_;
  std::vector<const Node*> nodes_;  // that are needed, but for handles; in order of creation
  std::unordered_map<const Node*, Facts> facts_;
  std::unordered_map<const Node*, std::vector<Output>> given_;  // by If: what its branches take from around it besides
  std::map<std::pair<int, std::string>, int> frames_;  // by the one around and the name
  std::map<std::pair<int, std::set<DataflowSource>>, int> signatures_;
  std::vector<std::vector<DataflowSource>> signature_list_;
  std::unordered_set<const Node*> on_path_;
  struct ReadKey {
    Output output;
    int frame;
    bool operator<(const ReadKey& other) const {
      return std::tuple(output.node(), output.index(), frame) <
             std::tuple(other.output.node(), other.output.index(), other.frame);
    }
  };
  std::map<ReadKey, int> reads_;
};

}  // namespace

std::unique_ptr<DataflowStructure> analyse_dataflow(const PlanRequest& request) { return Analysis(request).run(); }

}  // namespace weir
