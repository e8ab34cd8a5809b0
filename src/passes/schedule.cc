#include <algorithm>
#include <queue>

#include "base/errors.h"
#include "passes/ir.h"

namespace weir {
namespace {

// Nodes that wait, those first that can begin first: the gradient of the last layer is there long before that of the
// first, and what is done with it elsewhere (summed over processes, sent to a server) goes on while the others are
// computed.
std::vector<int> waiting_by_depth(const Ir& ir) {
  std::vector<int> waiting;
  for (int i = 0; i < ir.size(); ++i) {
    if (!ir[i].dead && ir[i].waits()) waiting.push_back(i);
  }
  if (waiting.size() < 2) return waiting;
  std::vector<int> depth(ir.nodes.size(), 0);
  for (int id : ir.topological_order()) {
    int& own = depth[static_cast<size_t>(id)];
    for (const IrEdge& input : ir[id].inputs) own = std::max(own, depth[static_cast<size_t>(input.node)] + 1);
    for (int control : ir[id].control) own = std::max(own, depth[static_cast<size_t>(control)] + 1);
  }
  std::ranges::stable_sort(waiting, {}, [&](int node) { return depth[static_cast<size_t>(node)]; });
  return waiting;
}

// Depth-first positions from what waits, fetches and targets: the preferred order.
std::vector<int> depth_first_positions(const Ir& ir) {
  std::vector<int> position(ir.nodes.size(), -1);
  std::vector<bool> entered(ir.nodes.size(), false);
  int next = 0;
  std::vector<std::pair<int, bool>> stack;
  auto visit = [&](int root) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      auto [node, done] = stack.back();
      stack.pop_back();
      auto at = static_cast<size_t>(node);
      if (done) {
        position[at] = next++;
        continue;
      }
      if (entered[at]) continue;
      entered[at] = true;
      stack.emplace_back(node, true);
      const IrNode& n = ir[node];
      for (auto it = n.inputs.rbegin(); it != n.inputs.rend(); ++it) stack.emplace_back(it->node, false);
      for (auto it = n.control.rbegin(); it != n.control.rend(); ++it) stack.emplace_back(*it, false);
    }
  };
  for (int waiting : waiting_by_depth(ir)) visit(waiting);
  for (const IrEdge& fetch : ir.fetches) visit(fetch.node);
  for (int target : ir.targets) visit(target);
  return position;
}

// For every write: the reads of its variable, and the readers of those, that should come before it where nothing
// demands the contrary. Reads that wait for the write, such as those of fetches, are not among them.
std::vector<std::vector<int>> soft_predecessors(const Ir& ir) {
  std::vector<std::vector<int>> readers(ir.nodes.size()), of_variable(ir.nodes.size()), soft(ir.nodes.size());
  for (int i = 0; i < ir.size(); ++i) {
    if (ir[i].dead) continue;
    for (const IrEdge& input : ir[i].inputs) readers[static_cast<size_t>(input.node)].push_back(i);
  }
  for (int i = 0; i < ir.size(); ++i) {
    if (ir[i].dead || ir[i].is_feed() || ir[i].op->effect != Effect::Reads) continue;
    auto& list = of_variable[static_cast<size_t>(variable_of(ir, ir[i].inputs[0]))];
    list.push_back(i);
    list.insert(list.end(), readers[static_cast<size_t>(i)].begin(), readers[static_cast<size_t>(i)].end());
  }
  for (int i = 0; i < ir.size(); ++i) {
    // Who writes a list of variables may have an empty one.
    if (ir[i].dead || ir[i].is_feed() || ir[i].op->effect != Effect::Writes || ir[i].inputs.empty()) continue;
    for (int before : of_variable[static_cast<size_t>(variable_of(ir, ir[i].inputs[0]))]) {
      const std::vector<int>& control = ir[before].control;
      if (std::find(control.begin(), control.end(), i) == control.end()) soft[static_cast<size_t>(i)].push_back(before);
    }
  }
  return soft;
}

// Puts nodes that wait, and what they need, before all others: what is waited for should be under way early.
void wait_early(const Ir& ir, std::vector<int>& position) {
  std::vector<int> stack;
  for (int i = 0; i < ir.size(); ++i) {
    if (!ir[i].dead && ir[i].waits()) stack.push_back(i);
  }
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    int& at = position[static_cast<size_t>(node)];
    if (at < 0) continue;
    at -= ir.size();
    for (const IrEdge& input : ir[node].inputs) stack.push_back(input.node);
    stack.insert(stack.end(), ir[node].control.begin(), ir[node].control.end());
  }
}

}  // namespace

std::vector<int> schedule(const Ir& ir) {
  std::vector<int> position = depth_first_positions(ir);
  wait_early(ir, position);
  std::vector<std::vector<int>> hard(ir.nodes.size()), soft_readers(ir.nodes.size());
  std::vector<int> waiting(ir.nodes.size(), 0), soft_waiting(ir.nodes.size(), 0);
  size_t live = 0;
  for (int i = 0; i < ir.size(); ++i) {
    auto at = static_cast<size_t>(i);
    if (ir[i].dead) continue;
    ++live;
    for (const IrEdge& input : ir[i].inputs) {
      hard[static_cast<size_t>(input.node)].push_back(i);
      ++waiting[at];
    }
    for (int control : ir[i].control) {
      hard[static_cast<size_t>(control)].push_back(i);
      ++waiting[at];
    }
  }
  std::vector<std::vector<int>> soft = soft_predecessors(ir);
  for (int i = 0; i < ir.size(); ++i) {
    for (int before : soft[static_cast<size_t>(i)]) {
      if (before == i) continue;
      soft_readers[static_cast<size_t>(before)].push_back(i);
      ++soft_waiting[static_cast<size_t>(i)];
    }
  }

  using Entry = std::pair<int, int>;  // position, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready, held;
  auto offer = [&](int node) {
    auto at = static_cast<size_t>(node);
    (soft_waiting[at] > 0 ? held : ready).emplace(position[at], node);
  };
  for (int i = 0; i < ir.size(); ++i) {
    if (!ir[i].dead && waiting[static_cast<size_t>(i)] == 0) offer(i);
  }
  std::vector<int> order;
  std::vector<bool> done(ir.nodes.size(), false);
  while (!ready.empty() || !held.empty()) {
    // A write that was held back goes first among equals once its readers are done, and last when nothing else can.
    auto& from = ready.empty() ? held : ready;
    int node = from.top().second;
    from.pop();
    auto at = static_cast<size_t>(node);
    if (done[at]) continue;
    done[at] = true;
    order.push_back(node);
    for (int reader : hard[at]) {
      if (--waiting[static_cast<size_t>(reader)] == 0) offer(reader);
    }
    for (int writer : soft_readers[at]) {
      if (--soft_waiting[static_cast<size_t>(writer)] == 0 && waiting[static_cast<size_t>(writer)] == 0) offer(writer);
    }
  }
  if (order.size() != live) throw invalid_argument("the graph has a cycle");
  return order;
}

}  // namespace weir
