#include "passes/loop_groups.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace weir {
namespace {

constexpr size_t kMaxMembers = 64;
constexpr size_t kMaxSources = 28;
// How far from a group's first member others may be in the order. All that lies between is searched for paths whenever a
// member is tried: without a limit long chains, such as an unrolled network and its gradient, would take quadratic time.
constexpr int kReach = 2048;

// Grows groups from their last nodes: what a member reads, and what reads a member, joins where it fits into the loop
// and no path leaves the group and comes back.
class Finder {
 public:
  Finder(const Ir& ir, const LoopNodes& nodes)
      : ir_(ir), nodes_(nodes), order_(ir.topological_order()), stands_alone_(ir.has_control_readers()) {
    const size_t count = ir.nodes.size();
    position_.assign(count, -1);
    group_of_.assign(count, -1);
    seen_.assign(count, 0);
    invariant_.assign(count, false);
    readers_.resize(count);
    for (size_t i = 0; i < order_.size(); ++i) {
      position_[static_cast<size_t>(order_[i])] = static_cast<int>(i);
      for (const IrEdge& input : ir[order_[i]].inputs) readers_[static_cast<size_t>(input.node)].push_back(order_[i]);
      invariant_[static_cast<size_t>(order_[i])] = is_invariant(ir[order_[i]]);
    }
  }

  std::vector<LoopGroup> run() {
    const std::vector<int> seeds(order_.rbegin(), order_.rend());
    for (int seed : seeds) {
      if (!is_free(seed)) continue;
      if (auto space = nodes_.space_of(seed)) grow(seed, *space);
    }
    return std::move(groups_);
  }

 private:
  size_t at(int id) const { return static_cast<size_t>(id); }
  // In the body of a loop of the program: what all iterations share is computed once, by itself.
  bool is_invariant(const IrNode& node) const {
    if (node.is_feed() || node.is_constant()) return node.is_constant() || node.invariant;
    return !node.inputs.empty() && node.op->pure() &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const IrEdge& input) { return invariant_[at(input.node)]; });
  }
  bool is_free(int id) const { return group_of_[at(id)] < 0 && !stands_alone_[at(id)] && !nodes_.is_truth(id); }
  bool is_inside(int id) const { return inside_.count(id) > 0; }

  void grow(int seed, const LoopSpace& space) {
    space_ = space;
    inside_ = {seed};
    members_ = {seed};
    for (bool grown = true; grown;) {
      grown = false;
      // Producers first: what only this group reads costs nothing.
      for (size_t i = 0; i < members_.size(); ++i) {
        for (const IrEdge& edge : nodes_.values_read(members_[i])) grown = try_add(edge.node) || grown;
      }
      for (size_t i = 0; i < members_.size(); ++i) {
        for (int reader : readers_of(members_[i])) grown = try_add(reader) || grown;
      }
    }
    if (members_.size() > 1) finish();
  }

  // Readers, and those of the truth values among them.
  std::vector<int> readers_of(int id) const {
    std::vector<int> found;
    for (int reader : readers_[at(id)]) {
      if (!nodes_.is_truth(reader)) {
        found.push_back(reader);
        continue;
      }
      for (int further : readers_of(reader)) found.push_back(further);
    }
    return found;
  }

  bool try_add(int id) {
    if (is_inside(id) || !is_free(id) || members_.size() >= kMaxMembers) return false;
    if (std::abs(position_[at(id)] - position_[at(members_[0])]) > kReach) return false;
    if (ir_[id].device != ir_[members_[0]].device || invariant_[at(id)] != invariant_[at(members_[0])]) return false;
    LoopSpace space = space_;
    if (nodes_.role_in(id, space) == LoopRole::None) return false;
    inside_.insert(id);
    members_.push_back(id);
    if (fit_together(space) && sources().size() <= kMaxSources && (is_read_inside_only(id) || is_convex())) {
      space_ = space;
      return true;
    }
    inside_.erase(id);
    members_.pop_back();
    return false;
  }

  // Whether every member finds what it reads of others in the form that it needs. What is folded is there only when the
  // loop has ended.
  bool fit_together(const LoopSpace& space) const {
    for (int id : members_) {
      LoopSpace same = space;
      const LoopRole role = nodes_.role_in(id, same);
      if (role == LoopRole::None || same.full != space.full || same.row_dims != space.row_dims) return false;
      for (const IrEdge& edge : nodes_.values_read(id)) {
        if (!is_inside(edge.node)) continue;
        const LoopRole from = nodes_.role_in(edge.node, same);
        if (from != LoopRole::Full && from != LoopRole::Row) return false;
        const bool reduces = role != LoopRole::Full && ir_[id].op->def->loop.kind != LoopPart::Kind::None;
        if (from == LoopRole::Full && role == LoopRole::Row && !reduces) return false;
        if (from == LoopRole::Full) continue;
        if (reduces && role != LoopRole::All) return false;
        if (role == LoopRole::Full && !space.is_kept_row(ir_.shape(edge))) return false;
      }
    }
    return true;
  }

  bool is_read_inside_only(int id) const {
    for (int reader : readers_[at(id)]) {
      if (!is_inside(reader)) return false;
    }
    return !readers_[at(id)].empty();
  }

  // Nodes outside that a member or its truth values read, or that these wait for.
  std::vector<int> sources() const {
    std::set<int> found;
    auto note = [&](int id) {
      if (!is_inside(id)) found.insert(id);
    };
    std::vector<int> open = members_;
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      for (const IrEdge& input : ir_[id].inputs) {
        if (nodes_.is_truth(input.node)) {
          open.push_back(input.node);
        } else if (ir_[input.node].values.empty() || !ir_[input.node].values[0].valid() ||
                   ir_[id].op->def->loop.kind == LoopPart::Kind::None) {
          note(input.node);
        }
      }
      for (int control : ir_[id].control) note(control);
    }
    return {found.begin(), found.end()};
  }

  // Whether no path leads from a member over nodes outside to another.
  bool is_convex() {
    return !comes_back(sources(), first_position(members_), [&](int id) { return is_inside(id); });
  }

  int first_position(const std::vector<int>& ids) const {
    int first = static_cast<int>(order_.size());
    for (int id : ids) first = std::min(first, position_[at(id)]);
    return first;
  }

  // Follows what nodes need, groups as a whole, down to a position; true as soon as `found` holds.
  template <class Found>
  bool comes_back(std::vector<int> open, int least, const Found& found) {
    ++stamp_;
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      if (position_[at(id)] < least || seen_[at(id)] == stamp_) continue;
      seen_[at(id)] = stamp_;
      if (found(id)) return true;
      if (const int group = group_of_[at(id)]; group >= 0) {
        const LoopGroup& whole = groups_[at(group)];
        for (int member : whole.members) seen_[at(member)] = stamp_;
        open.insert(open.end(), whole.sources.begin(), whole.sources.end());
        continue;
      }
      for (const IrEdge& input : ir_[id].inputs) open.push_back(input.node);
      open.insert(open.end(), ir_[id].control.begin(), ir_[id].control.end());
    }
    return false;
  }

  void finish() {
    std::sort(members_.begin(), members_.end(), [&](int a, int b) { return position_[at(a)] < position_[at(b)]; });
    for (int id : members_) group_of_[at(id)] = static_cast<int>(groups_.size());
    groups_.push_back({space_, members_, sources()});
    move_together(groups_.back());
  }

  // Puts the members side by side in the order, so that positions hold for groups as a whole: first what they need,
  // then they, then the rest.
  void move_together(const LoopGroup& group) {
    const int first = position_[at(group.members.front())], last = position_[at(group.members.back())];
    comes_back(group.sources, first, [](int) { return false; });
    std::vector<int> before, after;
    for (int i = first; i <= last; ++i) {
      const int id = order_[at(i)];
      if (is_inside(id)) continue;
      (seen_[at(id)] == stamp_ ? before : after).push_back(id);
    }
    int next = first;
    const std::vector<int>* const parts[] = {&before, &group.members, &after};
    for (const std::vector<int>* part : parts) {
      for (int id : *part) {
        order_[at(next)] = id;
        position_[at(id)] = next++;
      }
    }
  }

  const Ir& ir_;
  const LoopNodes& nodes_;
  std::vector<int> order_, position_;
  std::vector<bool> stands_alone_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> group_of_;
  std::vector<int> seen_;
  std::vector<bool> invariant_;
  int stamp_ = 0;
  std::vector<LoopGroup> groups_;
  // The group at hand.
  LoopSpace space_;
  std::set<int> inside_;
  std::vector<int> members_;
};

}  // namespace

std::vector<LoopGroup> find_loop_groups(const Ir& ir, const LoopNodes& nodes) { return Finder(ir, nodes).run(); }

}  // namespace weir
