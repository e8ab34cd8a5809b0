#include <algorithm>
#include <map>
#include <set>

#include "base/errors.h"
#include "graph/op.h"
#include "import/control_flow.h"

namespace weir {
namespace {

struct LoopVariable {
  int enter = -1, merge = -1, next = -1;
  int body_placeholder = -1;
};

struct Frame {
  int parent = -1, depth = 0;
  std::string name;
  std::vector<int> section;  // the nodes that run in it
  std::vector<int> enters, exits;
};

// Loops are found from the innermost: a frame becomes a While in the frame around it, with the nodes that its LoopCond
// needs as the condition and the others as the body.
class Loops : private ControlFlowPart {
 public:
  Loops(ImportPlan& plan, ControlFlowState& state, int region, const std::vector<int>& nodes)
      : ControlFlowPart(plan, state), region_(region), nodes_(nodes) {}

  void run() {
    find_frames();
    std::vector<int> frames;
    for (size_t f = 1; f < frames_.size(); ++f) frames.push_back(static_cast<int>(f));
    std::stable_sort(frames.begin(), frames.end(), [&](int a, int b) { return frame(a).depth > frame(b).depth; });
    for (int f : frames) build_loop(f);
    build_section(plan_, state_, frame(0).section, region_);
  }

 private:
  Frame& frame(int index) { return frames_[static_cast<size_t>(index)]; }

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
    for (int p = 0; p < 2; ++p) build_section(plan_, state_, parts[p], p == 0 ? condition : loop_body);
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
          node(index).removed = true;
        }
        loop.variable_of.emplace(index, it->second);
      } else if (data.node < 0 || enters.contains(data.node)) {
        loop.constant_of.emplace(index, data);
        node(index).removed = true;
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
    if ((!op || !op->pure() || node(index).bodies[0] >= 0) && index != loop.condition) {
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
      state_.reads[while_node].push_back(enter);
      if (node(enter).def->op() == "RefEnter") {  // a variable is known by name everywhere
        plan_.aliases[{.node = enter}] = node(enter).inputs[0];
        state_.waits_of_gone[enter] = node(enter).controls;
        state_.gone.push_back(enter);
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

  int region_;
  const std::vector<int>& nodes_;
  std::vector<Frame> frames_;
};

}  // namespace

void build_region(ImportPlan& plan, ControlFlowState& state, int region, const std::vector<int>& nodes) {
  Loops(plan, state, region, nodes).run();
}

}  // namespace weir
