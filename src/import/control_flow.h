#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "import/plan.h"

namespace weir {

// What import_control_flow() is made of: loops (loops.cc), conditionals (conditionals.cc), and the
// tensors that nodes can see afterwards (control_flow.cc).

inline constexpr size_t kMaxNesting = 256;  // of conditionals: a tf.case of as many cases

enum class Kind { Plain, Switch, Merge, Enter, Exit, NextIteration, LoopCond, RefLoop };

Kind kind_of(const std::string& op);

// A Merge that became a result of an If.
struct MergeEnd {
  int merge, if_node, port;
  int positions[2], parts[2];  // of its inputs and of the branches, for a false and a true predicate
};

struct ControlFlowState {
  std::unordered_map<int, std::vector<int>> reads;  // of Whiles: what their bodies read from around them
  std::vector<MergeEnd> merge_ends;
  std::vector<int> gone;                                             // nodes to be removed when all is read
  std::unordered_map<int, std::vector<ImportSource>> waits_of_gone;  // what those who wait for such a node wait for
};

// The words in which loops and conditionals are found and changed.
class ControlFlowPart {
 protected:
  ControlFlowPart(ImportPlan& plan, ControlFlowState& state) : plan_(plan), state_(state) {}

  ImportNode& node(int index) { return plan_.nodes[static_cast<size_t>(index)]; }
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
    if (auto it = state_.reads.find(index); it != state_.reads.end()) {
      for (int other : it->second) visit(other);
    }
  }

  // Each after what it reads. Without loops' ways back, which are left out here, a cycle is a mistake.
  std::vector<int> sorted(const std::vector<int>& nodes);
  void require_inputs(int index, size_t count);

  proto::DataType type_of(int index);  // the attribute T
  // Makes an existing node another one, of the same name.
  void become(int index, const char* op, const char* type_attr, proto::DataType type);
  void become_identity(int index) { become(index, "Identity", "T", type_of(index)); }
  void become_placeholder(int index, proto::DataType type);
  int add_part(const std::string& name, int owner, bool is_loop);
  void assign(int index, int to);  // to a body, with the bodies that it has

  ImportPlan& plan_;
  ControlFlowState& state_;
};

// "a/b/" of "a/b/c".
std::string scope_of(const std::string& name);

// Finds the loops and conditionals among the nodes of a body of the plan.
void build_region(ImportPlan& plan, ControlFlowState& state, int region, const std::vector<int>& nodes);

// Puts nodes, among which no loop is left, into a body, and those that run conditionally into branches of Ifs in it.
void build_section(ImportPlan& plan, ControlFlowState& state, const std::vector<int>& nodes, int to);

}  // namespace weir
