#include "passes/stretches.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weir {
namespace {

// Sets of waiting nodes, each with a number; unions are remembered, because most nodes join the same few.
class Sets {
 public:
  Sets() { number({}); }
  int number(std::vector<int> set) {
    auto [it, is_new] = numbers_.emplace(std::move(set), static_cast<int>(sets_.size()));
    if (is_new) sets_.push_back(&it->first);
    return it->second;
  }
  int join(int a, int b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    auto [it, is_new] = joined_.emplace(std::minmax(a, b), -1);
    if (is_new) {
      std::vector<int> both;
      std::set_union(get(a).begin(), get(a).end(), get(b).begin(), get(b).end(), std::back_inserter(both));
      it->second = number(std::move(both));
    }
    return it->second;
  }
  int with(int set, int node) { return join(set, number({node})); }
  const std::vector<int>& get(int set) const { return *sets_[static_cast<size_t>(set)]; }
  int size() const { return static_cast<int>(sets_.size()); }

 private:
  std::map<std::vector<int>, int> numbers_;
  std::vector<const std::vector<int>*> sets_;
  std::map<std::pair<int, int>, int> joined_;
};

// A variable is read when its readers come to it, not before a wait: others may write to it meanwhile.
void read_late(const Ir& ir, std::vector<int>& of_node) {
  std::vector<int> wanted(ir.nodes.size(), -1);  // the one stretch that reads a node's outputs; -2: several
  for (int i = 0; i < ir.size(); ++i) {
    if (ir[i].dead) continue;
    for (const IrEdge& input : ir[i].inputs) {
      int& reader = wanted[static_cast<size_t>(input.node)];
      const int stretch = of_node[static_cast<size_t>(i)];
      reader = reader == -1 || reader == stretch ? stretch : -2;
    }
  }
  for (const IrEdge& fetch : ir.fetches) wanted[static_cast<size_t>(fetch.node)] = -2;
  const std::vector<bool> awaited = ir.has_control_readers();
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    const IrNode& node = ir.nodes[i];
    if (node.dead || node.is_feed() || node.op->role != Role::Read || !node.control.empty() || awaited[i]) continue;
    if (wanted[i] >= 0) of_node[i] = wanted[i];
  }
}

}  // namespace

bool Stretches::follows(int sooner, int later) const {
  const auto& first = needs[static_cast<size_t>(sooner)];
  const auto& second = needs[static_cast<size_t>(later)];
  return std::includes(second.begin(), second.end(), first.begin(), first.end());
}

void wait_in_place(Ir& ir) {
  std::vector<int> waiting;
  for (int i = 0; i < ir.size(); ++i) {
    if (ir[i].dead || !ir[i].waits()) continue;
    if (ir[i].flow || ir[i].op->def->cpu.start) return;
    waiting.push_back(i);
  }
  if (waiting.empty()) return;
  // How many of them lie on the longest path to each node, itself included: all on one path means in a row.
  std::vector<int> before(ir.nodes.size(), 0);
  int most = 0;
  for (int id : ir.topological_order()) {
    int& own = before[static_cast<size_t>(id)];
    for (const IrEdge& input : ir[id].inputs) own = std::max(own, before[static_cast<size_t>(input.node)]);
    for (int control : ir[id].control) own = std::max(own, before[static_cast<size_t>(control)]);
    if (ir[id].waits()) most = std::max(most, ++own);
  }
  if (most < static_cast<int>(waiting.size())) return;
  for (int id : waiting) ir[id].in_place = true;
}

Stretches find_stretches(const Ir& ir) {
  Stretches result;
  result.of_node.assign(ir.nodes.size(), 0);
  const bool waits =
      std::any_of(ir.nodes.begin(), ir.nodes.end(), [](const IrNode& n) { return !n.dead && n.waits(); });
  if (!waits) {
    result.needs.resize(1);
    return result;
  }
  Sets sets;
  std::vector<int> set_of(ir.nodes.size(), -1);
  auto after = [&](int node) {
    const int set = set_of[static_cast<size_t>(node)];
    return ir[node].waits() ? sets.with(set, node) : set;
  };
  for (int id : ir.topological_order()) {
    int set = 0;
    for (const IrEdge& input : ir[id].inputs) set = sets.join(set, after(input.node));
    for (int control : ir[id].control) set = sets.join(set, after(control));
    set_of[static_cast<size_t>(id)] = set;
  }
  read_late(ir, set_of);

  // Only sets that some node has become stretches; what depends on more comes later.
  std::vector<int> order(static_cast<size_t>(sets.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sets.get(a).size() < sets.get(b).size(); });
  std::vector<bool> used(order.size(), false);
  used[0] = true;
  for (int set : set_of) {
    if (set >= 0) used[static_cast<size_t>(set)] = true;
  }
  std::vector<int> number(order.size(), -1);
  for (int set : order) {
    if (!used[static_cast<size_t>(set)]) continue;
    number[static_cast<size_t>(set)] = result.size();
    result.needs.push_back(sets.get(set));
  }
  for (size_t i = 0; i < set_of.size(); ++i) {
    result.of_node[i] = set_of[i] < 0 ? -1 : number[static_cast<size_t>(set_of[i])];
  }
  return result;
}

}  // namespace weir
