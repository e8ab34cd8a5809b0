#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include "import/control_flow.h"

namespace weir {
namespace {

// A node runs when a predicate has this value.
struct Literal {
  ImportSource predicate;
  bool value = false;
  size_t depth = 0;  // how many others the predicate itself needs
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

// Every node has a context, the set of predicates that it depends on through Switches, which a Merge shortens by one.
// Nodes of one context become branches of an If.
class Conditionals : private ControlFlowPart {
 public:
  Conditionals(ImportPlan& plan, ControlFlowState& state) : ControlFlowPart(plan, state) {}

  void build(const std::vector<int>& nodes, int to) {
    for (int index : nodes) assign(index, to);
    const bool has_conditionals = std::any_of(nodes.begin(), nodes.end(), [&](int index) {
      return kind(index) == Kind::Switch || kind(index) == Kind::Merge;
    });
    if (!has_conditionals) return;
    const std::vector<int> order = sorted(nodes);
    in_section_ = {order.begin(), order.end()};
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
      state_.waits_of_gone[index] = std::move(waits);
      state_.gone.push_back(index);
    }
  }

 private:
  const Context& context_of(int index) {
    static const Context kAlways;
    auto it = contexts_.find(index);
    return it == contexts_.end() ? kAlways : it->second;
  }

  Context context_of(const ImportSource& source) {
    if (source.node < 0) return {};
    Context context = context_of(source.node);
    if (is_switched(source)) join(context, {literal_of(source)}, source.node);
    return context;
  }

  bool is_switched(const ImportSource& source) {
    return source.node >= 0 && source.port >= 0 && in_section_.contains(source.node) &&
           kind(source.node) == Kind::Switch;
  }

  // What an output of a Switch needs besides its inputs.
  Literal literal_of(const ImportSource& source) {
    const ImportSource predicate = predicate_of(source.node);
    const size_t depth = predicate.node < 0 ? 0 : context_of(predicate.node).size() + (is_switched(predicate) ? 1 : 0);
    return {predicate, source.port == 1, depth};
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
      return std::pair(a.depth, a.predicate) < std::pair(b.depth, b.predicate);
    });
  }

  void find_context(int index) {
    Context context;
    // A ControlTrigger runs whether or not what it waits for did.
    const bool is_trigger = node(index).def->op() == "ControlTrigger";
    for (const ImportSource& control : node(index).controls) {
      if (!is_trigger) join(context, context_of(control), index);
    }
    if (auto it = state_.reads.find(index); it != state_.reads.end()) {
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
      const Literal opposite{literal.predicate, !literal.value, literal.depth};
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
      state_.merge_ends.push_back({index, if_node, port, {join.positions[0], join.positions[1]}, {parts[0], parts[1]}});
    }
    for (int value = 0; value < 2; ++value) build_branches(group.branches[value], depth + 1, parts[value]);
  }

  std::set<int> in_section_;
  std::unordered_map<int, Context> contexts_;
  std::unordered_map<int, Join> joins_;
};

}  // namespace

void build_section(ImportPlan& plan, ControlFlowState& state, const std::vector<int>& nodes, int to) {
  Conditionals(plan, state).build(nodes, to);
}

}  // namespace weir
