#include <algorithm>
#include <climits>
#include <optional>
#include <set>

#include "base/errors.h"
#include "graph/import_plan.h"
#include "graph/op.h"

namespace weir {
namespace {

constexpr size_t kMaxNesting = 256;  // of conditionals: a tf.case of as many cases

enum class Kind { Plain, Switch, Merge, Enter, Exit, NextIteration, LoopCond, RefLoop };

Kind kind_of(const std::string& op) {
  if (op == "Switch" || op == "RefSwitch") return Kind::Switch;
  if (op == "Merge" || op == "RefMerge") return Kind::Merge;
  if (op == "Enter" || op == "RefEnter") return Kind::Enter;
  if (op == "Exit") return Kind::Exit;
  if (op == "NextIteration") return Kind::NextIteration;
  if (op == "LoopCond") return Kind::LoopCond;
  return op == "RefExit" || op == "RefNextIteration" ? Kind::RefLoop : Kind::Plain;
}

// A node runs when a predicate has this value.
struct Literal {
  ImportSource predicate;
  bool value = false;
  bool operator==(const Literal&) const = default;
};
// What must hold for a node to run, outermost conditional first.
using Context = std::vector<Literal>;

// A Merge that ends a conditional.
struct Join {
  ImportSource predicate;
  ImportSource values[2] = {};  // when the predicate is false, and true
  int positions[2] = {};        // of those among the inputs
};

struct LoopVariable {
  int enter = -1, merge = -1, next = -1;
  int body_placeholder = -1;
};

struct Frame {
  int parent = -1, depth = 0;
  std::string name;
  const ImportFunction* function = nullptr;
  std::vector<int> section;  // the nodes that run in it
  std::vector<int> enters, exits;
};

std::string scope_of(const std::string& name) {
  size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash + 1);
}

// Works on the nodes of one body of the plan.
//
// Loops are found first, from the innermost: a frame becomes a While in the frame around it, with the nodes that its
// LoopCond needs as the condition and the others as the body. What is left in each of these parts is free of cycles;
// there every node has a context, the set of predicates that it depends on through Switches, which a Merge shortens
// by one. Nodes of one context become branches of an If.
class Structure {
 public:
  Structure(ImportPlan& plan, int region, std::vector<int> nodes)
      : plan_(plan), region_(region), nodes_(std::move(nodes)) {}

  void run() {
    find_frames();
    std::vector<int> frames;
    for (size_t f = 1; f < frames_.size(); ++f) frames.push_back(static_cast<int>(f));
    std::stable_sort(frames.begin(), frames.end(), [&](int a, int b) { return frame(a).depth > frame(b).depth; });
    for (int f : frames) build_loop(f);
    build_section(frame(0).section, region_);
  }

 private:
  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }
  Frame& frame(int index) { return frames_[static_cast<size_t>(index)]; }
  ImportBody& body(int index) { return plan_.bodies[static_cast<size_t>(index)]; }
  Kind kind(int index) { return kind_of(node(index).def->op()); }

  [[noreturn]] void fail(int index, Code code, const std::string& message) {
    throw import_error(node(index), code, message);
  }

  bool is_back_edge(int reader, const ImportSource& source) {
    return kind(reader) == Kind::Merge && source.node >= 0 && kind(source.node) == Kind::NextIteration;
  }

  // Calls `visit` with every node that this one waits for.
  template <class Visit>
  void for_each_input(int index, const Visit& visit) {
    const ImportNode& reader = node(index);
    for (const ImportSource& input : reader.inputs) {
      if (input.node >= 0 && !is_back_edge(index, input)) visit(input.node);
    }
    for (const ImportSource& control : reader.controls) {
      if (control.node >= 0) visit(control.node);
    }
    if (auto it = reads_.find(index); it != reads_.end()) {
      for (int other : it->second) visit(other);
    }
  }

  // Each after what it reads. Without loops' ways back, which are left out here, a cycle is a mistake.
  std::vector<int> sorted(const std::vector<int>& nodes) {
    std::unordered_map<int, int> waits;
    std::unordered_map<int, std::vector<int>> consumers;
    for (int index : nodes) waits.emplace(index, 0);
    for (int index : nodes) {
      for_each_input(index, [&](int other) {
        if (!waits.contains(other)) return;
        consumers[other].push_back(index);
        ++waits[index];
      });
    }
    std::vector<int> order;
    for (int index : nodes) {
      if (waits[index] == 0) order.push_back(index);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (int consumer : consumers[order[i]]) {
        if (--waits[consumer] == 0) order.push_back(consumer);
      }
    }
    if (order.size() < nodes.size()) {
      for (int index : nodes) {
        if (waits[index] > 0) fail(index, Code::InvalidArgument, "the node depends on itself");
      }
    }
    return order;
  }

  void find_frames() {
    frames_.emplace_back();
    std::map<std::tuple<int, std::string, const ImportFunction*>, int> known;
    std::unordered_map<int, int> frame_of;  // of a node's outputs
    const std::set<int> here(nodes_.begin(), nodes_.end());
    for (int index : sorted(nodes_)) {
      int f = -1, from = -1;
      for_each_input(index, [&](int other) {
        if (!here.contains(other)) return;
        const int theirs = frame_of.at(other);
        if (f >= 0 && theirs != f) {
          fail(index, Code::InvalidArgument,
               fmt::format("the inputs '{}' and '{}' are in different frames", node(from).name, node(other).name));
        }
        f = theirs;
        from = other;
      });
      if (f < 0) f = 0;
      const Kind what = kind(index);
      if (f == 0 && (what == Kind::Exit || what == Kind::NextIteration || what == Kind::LoopCond)) {
        fail(index, Code::InvalidArgument, "the node is not in a loop");
      }
      if (what == Kind::RefLoop) fail(index, Code::Unimplemented, "references cannot be loop variables");
      if (what == Kind::Enter) {
        const proto::AttrValue* name = import_attr(node(index), "frame_name");
        require_inputs(index, 1);
        auto [it, is_new] = known.emplace(std::tuple(f, name ? name->s() : "", node(index).function), frames_.size());
        if (is_new) {
          Frame& made = frames_.emplace_back();
          made.parent = f;
          made.depth = frame(f).depth + 1;
          made.name = name ? name->s() : "";
        }
        frame(f).section.push_back(index);
        f = it->second;
        frame(f).enters.push_back(index);
      } else if (what == Kind::Exit) {
        require_inputs(index, 1);
        frame(f).exits.push_back(index);
        f = frame(f).parent;
      } else {
        frame(f).section.push_back(index);
      }
      frame_of[index] = f;
    }
  }

  void require_inputs(int index, size_t count) {
    if (node(index).inputs.size() != count) {
      fail(index, Code::InvalidArgument,
           fmt::format("{} inputs are given, {} are wanted", node(index).inputs.size(), count));
    }
  }

  // ---- Loops.

  proto::DataType type_of(int index) {
    const proto::AttrValue* type = import_attr(node(index), "T");
    if (!type || type->value_case() != proto::AttrValue::kType) {
      fail(index, Code::InvalidArgument, "attribute 'T' is missing");
    }
    return type->type();
  }

  // Makes an existing node another one of one input or none, of the same name and type.
  void become(int index, const char* op, const char* type_attr, proto::DataType type) {
    proto::NodeDef& def = plan_.made.emplace_back();
    def.set_op(op);
    def.set_device(node(index).def->device());
    ImportPlan::set_type(def, type_attr, type);
    node(index).def = &def;
  }
  void become_identity(int index) { become(index, "Identity", "T", type_of(index)); }

  void become_placeholder(int index, proto::DataType type) {
    become(index, "Placeholder", "dtype", type);
    (*plan_.made.back().mutable_attr())["shape"].mutable_shape()->set_unknown_rank(true);
    node(index).inputs.clear();
    node(index).controls.clear();
  }

  void remove(int index) { node(index).removed = true; }

  int add_part(const std::string& name, int owner, bool is_loop) {
    plan_.bodies.push_back({.name = name, .outer = node(owner).body, .owner = owner, .is_loop = is_loop});
    return static_cast<int>(plan_.bodies.size()) - 1;
  }

  void assign(int index, int to) {
    node(index).body = to;
    for (int part : node(index).bodies) {
      if (part >= 0) body(part).outer = to;
    }
  }

  struct Loop {
    int condition = -1;  // the LoopCond
    std::vector<LoopVariable> variables;
    std::unordered_map<int, size_t> variable_of;        // by Merge and by Switch
    std::unordered_map<int, ImportSource> constant_of;  // Switches of what never changes
    std::set<int> in_condition;                         // the nodes that LoopCond needs, and itself
    std::set<int> after;                                // the nodes that read the variables' last values
    std::unordered_map<int, int> copies;                // of those in the condition, in the body
    std::vector<int> copied;
  };

  void build_loop(int f) {
    Loop loop;
    find_condition(f, loop);
    find_variables(f, loop);
    find_switches(f, loop);
    find_after(f, loop);

    const std::string scope = scope_of(node(loop.condition).name);
    proto::NodeDef* def = nullptr;
    const int while_node = plan_.add("While", scope + "While", region_, &def);
    const int condition = add_part(scope + "cond", while_node, true),
              loop_body = add_part(scope + "body", while_node, true);
    node(while_node).bodies[0] = condition;
    node(while_node).bodies[1] = loop_body;
    if (const proto::AttrValue* value = import_attr(node(frame(f).enters[0]), "parallel_iterations")) {
      (*def->mutable_attr())["parallel_iterations"] = *value;
    }
    body(condition).results = {{.node = loop.condition}};
    for (LoopVariable& variable : loop.variables) {
      if (variable.body_placeholder < 0) {
        variable.body_placeholder = plan_.add("Placeholder", node(variable.merge).name + "/body", loop_body);
      }
      node(while_node).inputs.push_back({.node = variable.enter});
      body(condition).parameters.push_back({.node = variable.merge});
      body(loop_body).parameters.push_back({.node = variable.body_placeholder});
      body(loop_body).results.push_back({.node = variable.next});
    }

    std::vector<int> parts[2];  // condition and body
    for (int index : frame(f).section) {
      if (loop.variable_of.contains(index) || loop.constant_of.contains(index) || loop.after.contains(index)) continue;
      parts[loop.in_condition.contains(index) ? 0 : 1].push_back(index);
    }
    for (int index : loop.after) read_after(index, loop, while_node, f);
    for (int index : parts[0]) read_in_condition(index, loop);
    for (int index : parts[1]) read_in_body(index, loop);
    parts[1].insert(parts[1].end(), loop.copied.begin(), loop.copied.end());
    for (const LoopVariable& variable : loop.variables) {
      const proto::DataType type = type_of(variable.merge);
      become_placeholder(variable.merge, type);
      become_placeholder(variable.body_placeholder, type);
      assign(variable.merge, condition);
      assign(variable.body_placeholder, loop_body);
      become_identity(variable.next);
    }
    become(loop.condition, "Identity", "T", proto::DT_BOOL);
    for (int p = 0; p < 2; ++p) build_section(parts[p], p == 0 ? condition : loop_body);
    leave(f, loop, while_node);
  }

  // LoopCond, and what it needs.
  void find_condition(int f, Loop& loop) {
    for (int index : frame(f).section) {
      if (kind(index) != Kind::LoopCond) continue;
      if (loop.condition >= 0) fail(index, Code::InvalidArgument, "the loop has a LoopCond already");
      loop.condition = index;
    }
    if (loop.condition < 0) {
      fail(frame(f).enters[0], Code::InvalidArgument, fmt::format("the frame '{}' has no LoopCond", frame(f).name));
    }
    require_inputs(loop.condition, 1);
    const std::set<int> section(frame(f).section.begin(), frame(f).section.end());
    std::vector<int> pending = {loop.condition};
    loop.in_condition = {loop.condition};
    while (!pending.empty()) {
      const int at = pending.back();
      pending.pop_back();
      for_each_input(at, [&](int other) {
        if (is_loop_merge(other) || !section.contains(other)) return;
        if (kind(other) == Kind::NextIteration || is_loop_switch(other, loop)) {
          fail(at, Code::Unimplemented, "the condition of the loop reads its body");
        }
        if (loop.in_condition.insert(other).second) pending.push_back(other);
      });
    }
  }

  bool is_loop_merge(int index) {
    const auto& inputs = node(index).inputs;
    return kind(index) == Kind::Merge &&
           std::any_of(inputs.begin(), inputs.end(), [&](const ImportSource& s) { return is_back_edge(index, s); });
  }

  bool is_loop_switch(int index, const Loop& loop) {
    return kind(index) == Kind::Switch && node(index).inputs.size() == 2 &&
           node(index).inputs[1].node == loop.condition;
  }

  void find_variables(int f, Loop& loop) {
    std::set<int> enters(frame(f).enters.begin(), frame(f).enters.end()), used;
    for (int index : frame(f).section) {
      if (!is_loop_merge(index)) continue;
      require_inputs(index, 2);
      LoopVariable variable{.merge = index};
      for (const ImportSource& input : node(index).inputs) {
        if (input.node >= 0 && enters.contains(input.node)) {
          variable.enter = input.node;
        } else if (is_back_edge(index, input)) {
          variable.next = input.node;
        }
      }
      if (variable.enter < 0 || variable.next < 0) {
        fail(index, Code::Unimplemented, "a loop variable is a Merge of an Enter and a NextIteration");
      }
      if (node(variable.enter).def->op() == "RefEnter") {
        fail(variable.enter, Code::Unimplemented, "references cannot be loop variables");
      }
      if (!used.insert(variable.next).second || loop.in_condition.contains(variable.next)) {
        fail(variable.next, Code::Unimplemented, "the node goes back to two Merges");
      }
      require_inputs(variable.next, 1);
      loop.variable_of.emplace(index, loop.variables.size());
      loop.variables.push_back(variable);
    }
    if (loop.variables.empty()) fail(loop.condition, Code::Unimplemented, "the loop has no variables");
    const std::set<int> section(frame(f).section.begin(), frame(f).section.end());
    for (const LoopVariable& variable : loop.variables) {
      if (!section.contains(variable.next)) {
        fail(variable.next, Code::InvalidArgument, "the node goes back into another loop");
      }
    }
  }

  void find_switches(int f, Loop& loop) {
    const std::set<int> enters(frame(f).enters.begin(), frame(f).enters.end());
    for (int index : frame(f).section) {
      if (!is_loop_switch(index, loop)) continue;
      const ImportSource data = node(index).inputs[0];
      auto it = data.node < 0 ? loop.variable_of.end() : loop.variable_of.find(data.node);
      if (it != loop.variable_of.end() && kind(data.node) == Kind::Merge && data.port == 0) {
        LoopVariable& variable = loop.variables[it->second];
        if (variable.body_placeholder < 0) {
          variable.body_placeholder = index;
        } else {
          remove(index);
        }
        loop.variable_of.emplace(index, it->second);
      } else if (data.node < 0 || enters.contains(data.node)) {
        loop.constant_of.emplace(index, data);
        remove(index);
      } else {
        fail(index, Code::Unimplemented, "what the loop passes on is neither a variable nor constant");
      }
    }
  }

  bool is_end(const ImportSource& source, const Loop& loop) {
    return source.node >= 0 && source.port == 0 && kind(source.node) == Kind::Switch &&
           (loop.variable_of.contains(source.node) || loop.constant_of.contains(source.node));
  }

  // Between a Switch and an Exit there may be nodes, which run once, when the loop has ended.
  void find_after(int f, Loop& loop) {
    for (int index : sorted(frame(f).section)) {
      if (loop.variable_of.contains(index) || loop.constant_of.contains(index)) continue;
      const auto& inputs = node(index).inputs;
      const bool is_after = std::any_of(inputs.begin(), inputs.end(), [&](const ImportSource& input) {
        return is_end(input, loop) || loop.after.contains(input.node);
      });
      if (!is_after) continue;
      if (kind(index) == Kind::NextIteration || loop.in_condition.contains(index)) {
        fail(index, Code::Unimplemented, "the loop reads its own end");
      }
      loop.after.insert(index);
    }
  }

  void read_after(int index, const Loop& loop, int while_node, int f) {
    const std::set<int> inside(frame(f).section.begin(), frame(f).section.end());
    drop_controls(index, [&](int other) { return inside.contains(other) && !loop.after.contains(other); });
    for (ImportSource& input : node(index).inputs) {
      if (is_end(input, loop)) {
        auto constant = loop.constant_of.find(input.node);
        input = constant != loop.constant_of.end()
                    ? constant->second
                    : ImportSource{.node = while_node, .port = static_cast<int>(loop.variable_of.at(input.node))};
      } else if (inside.contains(input.node) && !loop.after.contains(input.node)) {
        fail(index, Code::Unimplemented, "the node reads the end of the loop and what is inside it");
      }
    }
  }

  // Control inputs from what became parameters are satisfied when a part begins to run.
  template <class Dropped>
  void drop_controls(int index, const Dropped& dropped) {
    std::erase_if(node(index).controls, [&](const ImportSource& control) { return dropped(control.node); });
  }

  void read_in_condition(int index, const Loop& loop) {
    drop_controls(index, [&](int other) { return loop.variable_of.contains(other); });
    for (const ImportSource& input : node(index).inputs) {
      if (input.node >= 0 && loop.variable_of.contains(input.node) && input.port > 0) {
        fail(index, Code::Unimplemented, "the condition of the loop asks which iteration it is");
      }
    }
  }

  void read_in_body(int index, Loop& loop) {
    drop_controls(index, [&](int other) {
      return loop.variable_of.contains(other) || loop.constant_of.contains(other) || loop.in_condition.contains(other);
    });
    for (size_t i = 0; i < node(index).inputs.size(); ++i) {
      const ImportSource read = in_body(index, node(index).inputs[i], loop);
      node(index).inputs[i] = read;
    }
  }

  // What a tensor of the loop is called in its body.
  ImportSource in_body(int reader, const ImportSource& source, Loop& loop) {
    if (source.node < 0) return source;
    const bool is_switch = kind(source.node) == Kind::Switch;
    if (auto it = loop.variable_of.find(source.node); it != loop.variable_of.end()) {
      if (source.port != (is_switch ? 1 : 0)) fail(reader, Code::Unimplemented, "the body of a loop reads its end");
      return {.node = loop.variables[it->second].body_placeholder};
    }
    if (auto it = loop.constant_of.find(source.node); it != loop.constant_of.end()) return it->second;
    if (loop.in_condition.contains(source.node)) return {.node = copy_to_body(source.node, loop), .port = source.port};
    return source;
  }

  // The body reads what the condition computed: it computes that once more.
  int copy_to_body(int index, Loop& loop) {
    if (auto it = loop.copies.find(index); it != loop.copies.end()) return it->second;
    const Op* op = find_op(node(index).def->op());
    if ((!op || !op->pure()) && index != loop.condition) {
      fail(index, Code::Unimplemented, "the condition and the body of the loop share a node that has effects");
    }
    if (loop.copies.size() >= kMaxNesting) {
      fail(index, Code::Unimplemented, "the condition and the body of the loop share too much");
    }
    ImportNode copy = node(index);
    copy.name = plan_.unique_name(copy.name);
    copy.controls.clear();
    plan_.nodes.push_back(std::move(copy));
    const int made = static_cast<int>(plan_.nodes.size()) - 1;
    loop.copies.emplace(index, made);
    loop.copied.push_back(made);
    if (index == loop.condition) become(made, "Identity", "T", proto::DT_BOOL);
    read_in_body(made, loop);
    return made;
  }

  // The frame around sees values that enter, a While, and its final values.
  void leave(int f, const Loop& loop, int while_node) {
    std::vector<int>& outer = frame(frame(f).parent).section;
    outer.push_back(while_node);
    outer.insert(outer.end(), loop.after.begin(), loop.after.end());
    for (int enter : frame(f).enters) {
      reads_[while_node].push_back(enter);
      if (node(enter).def->op() == "RefEnter") {  // a variable is known by name everywhere
        plan_.aliases[{.node = enter}] = node(enter).inputs[0];
        waits_of_removed_[enter] = node(enter).controls;
        gone_.push_back(enter);
      } else {
        become_identity(enter);
      }
    }
    for (int exit : frame(f).exits) {
      const ImportSource source = node(exit).inputs[0];
      const auto variable = source.node < 0 ? loop.variable_of.end() : loop.variable_of.find(source.node);
      const auto constant = source.node < 0 ? loop.constant_of.end() : loop.constant_of.find(source.node);
      if (source.port == 0 && variable != loop.variable_of.end() && is_from_switch(source.node, loop)) {
        node(exit).inputs[0] = {.node = while_node, .port = static_cast<int>(variable->second)};
      } else if (source.port == 0 && constant != loop.constant_of.end()) {
        node(exit).inputs[0] = constant->second;
        node(exit).controls.push_back({.node = while_node, .port = kControlPort});
      } else if (!loop.after.contains(source.node)) {
        fail(exit, Code::Unimplemented, "what leaves a loop is the false side of a Switch by its LoopCond");
      }
      drop_controls(exit, [&](int other) { return other >= 0 && other != while_node && !loop.after.contains(other); });
      become_identity(exit);
      outer.push_back(exit);
    }
  }

  // A Merge of the loop is a placeholder of the condition by now; a Switch one of the body, or removed.
  bool is_from_switch(int index, const Loop& loop) {
    return std::none_of(loop.variables.begin(), loop.variables.end(),
                        [&](const LoopVariable& variable) { return variable.merge == index; });
  }

  // ---- Conditionals.

  const Context& context_of(int index) {
    static const Context kAlways;
    auto it = contexts_.find(index);
    return it == contexts_.end() ? kAlways : it->second;
  }

  Context context_of(const ImportSource& source) {
    if (source.node < 0) return {};
    Context context = context_of(source.node);
    if (source.port >= 0 && in_section_.contains(source.node) && kind(source.node) == Kind::Switch) {
      join(context, Context(1, Literal{predicate_of(source.node), source.port == 1}), source.node);
    }
    return context;
  }

  // One conditional's Switches read its predicate, or copies of it.
  ImportSource predicate_of(int switch_node) {
    ImportSource predicate = node(switch_node).inputs[1];
    while (is_copy(predicate)) predicate = node(predicate.node).inputs[0];
    return predicate;
  }

  bool is_copy(const ImportSource& source) {
    return source.node >= 0 && in_section_.contains(source.node) && node(source.node).def->op() == "Identity" &&
           node(source.node).inputs.size() == 1;
  }

  size_t depth_of(const ImportSource& predicate) { return predicate.node < 0 ? 0 : context_of(predicate).size(); }

  // Both must hold.
  void join(Context& context, const Context& other, int blamed) {
    for (const Literal& literal : other) {
      auto same = std::find_if(context.begin(), context.end(),
                               [&](const Literal& l) { return l.predicate == literal.predicate; });
      if (same == context.end()) {
        context.push_back(literal);
      } else if (same->value != literal.value) {
        fail(blamed, Code::Unimplemented, "the node needs both sides of one conditional, so that it never runs");
      }
    }
    if (context.size() > kMaxNesting) fail(blamed, Code::Unimplemented, "conditionals nest too deeply");
    std::sort(context.begin(), context.end(), [&](const Literal& a, const Literal& b) {
      return std::pair(depth_of(a.predicate), a.predicate) < std::pair(depth_of(b.predicate), b.predicate);
    });
  }

  void build_section(const std::vector<int>& nodes, int to) {
    for (int index : nodes) assign(index, to);
    const bool has_conditionals = std::any_of(nodes.begin(), nodes.end(), [&](int index) {
      return kind(index) == Kind::Switch || kind(index) == Kind::Merge;
    });
    if (!has_conditionals) return;
    const std::vector<int> order = sorted(nodes);
    in_section_ = {order.begin(), order.end()};
    contexts_.clear();
    joins_.clear();
    for (int index : order) find_context(index);
    build_branches(order, 0, to);
    for (int index : order) {
      if (kind(index) != Kind::Switch) continue;
      const ImportSource data = node(index).inputs[0];
      for (int port = 0; port < 2; ++port) plan_.aliases[{.node = index, .port = port}] = data;
      for (ImportSource at = node(index).inputs[1]; is_copy(at); at = node(at.node).inputs[0]) {
        node(index).controls.insert(node(index).controls.end(), node(at.node).controls.begin(),
                                    node(at.node).controls.end());
      }
      std::vector<ImportSource> waits = node(index).controls;
      for (ImportSource input : node(index).inputs) {
        if (input.node >= 0) waits.push_back({.node = input.node, .port = kControlPort});
      }
      waits_of_removed_[index] = std::move(waits);
      gone_.push_back(index);
    }
  }

  void find_context(int index) {
    Context context;
    // A ControlTrigger runs whether or not what it waits for did.
    const bool is_trigger = node(index).def->op() == "ControlTrigger";
    for (const ImportSource& control : node(index).controls) {
      if (!is_trigger) join(context, context_of(control), index);
    }
    if (auto it = reads_.find(index); it != reads_.end()) {
      for (int other : it->second) join(context, context_of(other), index);
    }
    if (kind(index) == Kind::Merge) {
      join(context, find_join(index), index);
    } else {
      if (kind(index) == Kind::Switch) require_inputs(index, 2);
      for (const ImportSource& input : node(index).inputs) join(context, context_of(input), index);
    }
    if (!context.empty()) contexts_.emplace(index, std::move(context));
  }

  // The conditional that a Merge ends; gives the context around it.
  Context find_join(int index) {
    require_inputs(index, 2);
    Context sides[2] = {context_of(node(index).inputs[0]), context_of(node(index).inputs[1])};
    for (const Literal& literal : sides[0]) {
      Literal opposite{literal.predicate, !literal.value};
      if (std::find(sides[1].begin(), sides[1].end(), opposite) == sides[1].end()) continue;
      Join join{.predicate = literal.predicate};
      const int first = literal.value ? 1 : 0;  // the value of the predicate for input 0
      join.positions[first] = 0;
      join.positions[1 - first] = 1;
      for (int value = 0; value < 2; ++value) {
        join.values[value] = node(index).inputs[static_cast<size_t>(join.positions[value])];
      }
      std::erase(sides[1], opposite);
      std::erase(sides[0], Literal(literal));
      if (sides[0] != sides[1]) break;
      joins_.emplace(index, join);
      return sides[0];
    }
    fail(index, Code::Unimplemented, "the Merge does not join the two sides of one conditional");
  }

  struct Group {
    std::vector<int> branches[2];  // else, then
    std::vector<int> joins;
  };

  // `nodes` have the first `depth` literals of their contexts in common and stand in `to`. Those with more go into
  // branches.
  //
  // One conditional may be used in several places: its gradient is computed after what is computed from its results. So
  // that no If waits for itself, Merges count levels: a branch is an If's of the level below the first Merge that needs
  // it, and everything that an If reads is of its level or lower.
  void build_branches(const std::vector<int>& nodes, size_t depth, int to) {
    const std::unordered_map<int, int> levels = find_levels(nodes, depth);
    std::map<std::pair<ImportSource, int>, Group> groups;
    for (int index : nodes) {
      const Context& context = context_of(index);
      if (context.size() > depth) {
        const Literal& literal = context[depth];
        groups[{literal.predicate, levels.at(index)}].branches[literal.value ? 1 : 0].push_back(index);
      } else if (auto join = joins_.find(index); join != joins_.end()) {
        groups[{join->second.predicate, levels.at(index) - 1}].joins.push_back(index);
      }
    }
    for (auto& [key, group] : groups) build_if(key.first, group, depth, to);
  }

  std::unordered_map<int, int> find_levels(const std::vector<int>& nodes, size_t depth) {
    std::unordered_map<int, int> levels, latest;
    auto is_branch = [&](int index) { return context_of(index).size() > depth; };
    auto is_join = [&](int index) { return !is_branch(index) && joins_.contains(index); };
    for (int index : nodes) {
      int level = 0;
      for_each_input(index, [&](int other) {
        if (auto it = levels.find(other); it != levels.end()) level = std::max(level, it->second);
      });
      levels[index] = level + (is_join(index) ? 1 : 0);
    }
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const int needed =
          is_branch(*it) ? (latest.contains(*it) ? latest[*it] : INT_MAX) : levels[*it] - (is_join(*it) ? 1 : 0);
      if (is_branch(*it)) latest[*it] = needed;
      for_each_input(*it, [&](int other) {
        if (!levels.contains(other) || !is_branch(other)) return;
        auto [known, is_new] = latest.emplace(other, needed);
        if (!is_new) known->second = std::min(known->second, needed);
      });
    }
    for (int index : nodes) {
      if (!is_branch(index)) continue;
      int level = latest[index];
      if (level == INT_MAX) {  // nothing needs it: it stays with what it reads
        level = levels[index];
        for_each_input(index, [&](int other) {
          if (levels.contains(other) && is_branch(other)) level = std::max(level, levels[other]);
        });
      }
      levels[index] = level;
    }
    return levels;
  }

  void build_if(const ImportSource& predicate, const Group& group, size_t depth, int to) {
    const int named_after = !group.joins.empty()  ? group.joins[0]
                            : predicate.node >= 0 ? predicate.node
                                                  : group.branches[group.branches[0].empty() ? 1 : 0][0];
    const std::string scope = scope_of(node(named_after).name);
    const int if_node = plan_.add("If", scope + "If", to);
    node(if_node).inputs = {predicate};
    const char* names[2] = {"else", "then"};
    int parts[2] = {};
    for (int value : {1, 0}) {
      parts[value] = add_part(scope + names[value], if_node, false);
      node(if_node).bodies[1 - value] = parts[value];
      for (int index : group.branches[value]) assign(index, parts[value]);
    }
    for (int index : group.joins) {
      const Join& join = joins_.at(index);
      for (int value = 0; value < 2; ++value) body(parts[value]).results.push_back(join.values[value]);
      const int port = static_cast<int>(body(parts[0]).results.size()) - 1;
      merge_ends_.push_back({index, if_node, port, {join.positions[0], join.positions[1]}, {parts[0], parts[1]}});
    }
    for (int value = 0; value < 2; ++value) build_branches(group.branches[value], depth + 1, parts[value]);
  }

 public:
  // Merges become copies of results once all sections have been looked at.
  void finish_merges() {
    std::set<int> asked;  // Merges of which somebody wants to know which input came
    for (const ImportNode& reader : plan_.nodes) {
      for (const ImportSource& input : reader.inputs) {
        if (input.node >= 0 && input.port == 1) asked.insert(input.node);
      }
    }
    for (const ImportBody& part : plan_.bodies) {
      for (const ImportSource& result : part.results) {
        if (result.node >= 0 && result.port == 1) asked.insert(result.node);
      }
    }
    for (const MergeEnd& end : merge_ends_) {
      if (asked.contains(end.merge)) {
        for (int value = 0; value < 2; ++value) {
          proto::NodeDef* def = nullptr;
          const int constant = plan_.add("Const", node(end.merge).name + "/value_index", end.parts[value], &def);
          ImportPlan::set_type(*def, "dtype", proto::DT_INT32);
          proto::TensorProto& tensor = *(*def->mutable_attr())["value"].mutable_tensor();
          tensor.set_dtype(proto::DT_INT32);
          tensor.mutable_tensor_shape();
          tensor.add_int_val(end.positions[value]);
          body(end.parts[value]).results.push_back({.node = constant});
        }
        const int port = static_cast<int>(body(end.parts[0]).results.size()) - 1;
        plan_.aliases[{.node = end.merge, .port = 1}] = {.node = end.if_node, .port = port};
      }
      become_identity(end.merge);
      node(end.merge).inputs = {{.node = end.if_node, .port = end.port}};
    }
    for (int index : gone_) remove(index);
    for (int index : nodes_) {
      if (node(index).def->op() != "ControlTrigger") continue;
      proto::NodeDef& def = plan_.made.emplace_back();
      def.set_op("NoOp");
      def.set_device(node(index).def->device());
      node(index).def = &def;
    }
  }

  const std::unordered_map<int, std::vector<ImportSource>>& waits_of_removed() const { return waits_of_removed_; }

 private:
  struct MergeEnd {
    int merge, if_node, port;
    int positions[2], parts[2];
  };

  ImportPlan& plan_;
  int region_;
  std::vector<int> nodes_;
  std::vector<Frame> frames_;
  std::unordered_map<int, std::vector<int>> reads_;  // of Whiles: what their bodies read from around them
  std::vector<MergeEnd> merge_ends_;
  std::unordered_map<int, std::vector<ImportSource>> waits_of_removed_;
  std::vector<int> gone_;
  // Of the section at hand.
  std::set<int> in_section_;
  std::unordered_map<int, Context> contexts_;
  std::unordered_map<int, Join> joins_;
};

// Makes every node read what it can see: the data behind a Switch, and for a tensor in a branch that it is not in, one
// more result of that branch's If.
class Reader {
 public:
  explicit Reader(ImportPlan& plan) : plan_(plan) {}

  void add_waits(const std::unordered_map<int, std::vector<ImportSource>>& waits) {
    waits_.insert(waits.begin(), waits.end());
  }

  void run() {
    // Results are appended on the way; what is appended can be seen.
    for (size_t b = 0; b < plan_.bodies.size(); ++b) {
      const size_t results = plan_.bodies[b].results.size();
      for (size_t i = 0; i < results; ++i) {
        const ImportSource result = plan_.bodies[b].results[i];
        if (!result) continue;
        const ImportSource seen = visible(result, static_cast<int>(b), plan_.bodies[b].owner);
        plan_.bodies[b].results[i] = seen;  // the list may have moved
      }
    }
    for (size_t n = 0; n < plan_.nodes.size(); ++n) {
      if (plan_.nodes[n].removed) continue;
      read_inputs(static_cast<int>(n));
      read_controls(static_cast<int>(n));
    }
    for (ImportBody& body : plan_.bodies) {
      for (ImportSource& parameter : body.parameters) parameter = visible(parameter, body.outer, body.owner, true);
    }
  }

 private:
  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }

  bool encloses(int outer, int inner) const {
    while (inner != outer && inner != kTopLevel) inner = plan_.bodies[static_cast<size_t>(inner)].outer;
    return inner == outer;
  }

  ImportSource visible(ImportSource source, int from, int reader, bool is_parameter = false) {
    source = plan_.resolve(source);
    while (source.node >= 0 && !encloses(node(source.node).body, from)) {
      const int inside = node(source.node).body;
      const ImportBody& body = plan_.bodies[static_cast<size_t>(inside)];
      if (is_parameter && body.owner == reader) return source;  // a placeholder of the body itself
      if (body.is_loop || node(body.owner).functional) {
        throw import_error(node(reader), Code::Unimplemented,
                           fmt::format("'{}' is read outside the loop that it is in", node(source.node).name));
      }
      source = {.node = body.owner, .port = result_port(inside, source)};
    }
    return source;
  }

  int result_port(int inside, const ImportSource& source) {
    auto [it, is_new] = ports_.emplace(std::pair(inside, source), 0);
    if (is_new) {
      const int owner = plan_.bodies[static_cast<size_t>(inside)].owner;
      for (int part : node(owner).bodies) {
        plan_.bodies[static_cast<size_t>(part)].results.push_back(part == inside ? source : ImportSource{});
      }
      it->second = static_cast<int>(plan_.bodies[static_cast<size_t>(inside)].results.size()) - 1;
    }
    return it->second;
  }

  void read_inputs(int index) {
    for (size_t i = 0; i < node(index).inputs.size(); ++i) {
      const ImportSource input = node(index).inputs[i];
      if (input.node >= 0) {
        if (auto it = waits_.find(input.node); it != waits_.end()) {
          // What a Switch waits for, its readers wait for; its inputs are read anyway or make no difference.
          for (const ImportSource& wait : it->second) {
            if (wait.port == kControlPort && is_control_of(input.node, wait)) node(index).controls.push_back(wait);
          }
        }
      }
      const ImportSource read = visible(input, node(index).body, index);
      node(index).inputs[i] = read;
    }
  }

  bool is_control_of(int removed, const ImportSource& wait) {
    const auto& controls = node(removed).controls;
    return std::find(controls.begin(), controls.end(), wait) != controls.end();
  }

  void read_controls(int index) {
    std::vector<ImportSource> pending = node(index).controls, read;
    std::set<ImportSource> seen;
    while (!pending.empty()) {
      ImportSource control = pending.back();
      pending.pop_back();
      if (!seen.insert(control).second) continue;
      if (control.node >= 0 && node(control.node).removed) {
        if (auto it = waits_.find(control.node); it != waits_.end()) {
          pending.insert(pending.end(), it->second.begin(), it->second.end());
        }
        continue;
      }
      while (control.node >= 0 && !encloses(node(control.node).body, node(index).body)) {
        control = {.node = plan_.bodies[static_cast<size_t>(node(control.node).body)].owner, .port = kControlPort};
      }
      if (control.node != index) read.push_back(control);
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    node(index).controls = std::move(read);
  }

  ImportPlan& plan_;
  std::unordered_map<int, std::vector<ImportSource>> waits_;
  std::map<std::pair<int, ImportSource>, int> ports_;
};

}  // namespace

void import_control_flow(ImportPlan& plan) {
  std::map<int, std::vector<int>> regions;
  std::set<int> wanted;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const ImportNode& node = plan.nodes[i];
    regions[node.body].push_back(static_cast<int>(i));
    if (kind_of(node.def->op()) != Kind::Plain) wanted.insert(node.body);
  }
  if (wanted.empty()) return;
  Reader reader(plan);
  std::deque<Structure> structures;
  for (int region : wanted) structures.emplace_back(plan, region, std::move(regions[region])).run();
  for (Structure& structure : structures) {
    structure.finish_merges();
    reader.add_waits(structure.waits_of_removed());
  }
  reader.run();
  import_stacks(plan);
}

}  // namespace weir
