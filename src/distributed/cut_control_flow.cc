#include "distributed/cut_control_flow.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/errors.h"
#include "distributed/part_graph.h"

namespace weir::distributed {
namespace {

// One output of a Switch: the predicate, and which.
using Side = std::pair<std::string, int>;

// What is known of when a node runs.
struct Facts {
  std::set<Side> sides;   // it depends on
  bool in_loop = false;   // that is not whole here, or is not left again
  bool received = false;  // it dies with a value that is received
  bool known = false;
};

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
}
bool is_switch(const proto::NodeDef& node) { return is_one_of(node.op(), {"Switch", "RefSwitch"}); }
bool is_merge(const proto::NodeDef& node) { return is_one_of(node.op(), {"Merge", "RefMerge"}); }
bool is_enter(const proto::NodeDef& node) { return is_one_of(node.op(), {"Enter", "RefEnter"}); }
bool is_exit(const proto::NodeDef& node) { return is_one_of(node.op(), {"Exit", "RefExit"}); }
bool leads_back(const proto::NodeDef& node) { return is_one_of(node.op(), {"NextIteration", "RefNextIteration"}); }

struct Input {
  int node = -1;
  int port = 0;
  bool control = false;
};

class Finder {
 public:
  Finder(const proto::GraphDef& graph, bool (*may_be_dead)(const proto::NodeDef&))
      : graph_(graph), may_be_dead_(may_be_dead), facts_(static_cast<size_t>(graph.node_size())) {}

  CutControlFlow run() {
    const bool has_control_flow = std::any_of(graph_.node().begin(), graph_.node().end(), [](const auto& node) {
      return is_switch(node) || is_merge(node) || is_enter(node) || is_exit(node);
    });
    for (const proto::NodeDef& node : graph_.node()) {
      if (is_recv(node) && may_be_dead_(node)) found_.has_tokens = true;
    }
    if (!has_control_flow) return found_;
    read_inputs();
    for (const int node : order()) look_at(node);
    return found_;
  }

 private:
  const proto::NodeDef& node(int index) const { return graph_.node(index); }
  Facts& facts(int index) { return facts_[static_cast<size_t>(index)]; }

  void read_inputs() {
    std::unordered_map<std::string, int> by_name;
    for (int i = 0; i < graph_.node_size(); ++i) by_name.emplace(node(i).name(), i);
    inputs_.resize(static_cast<size_t>(graph_.node_size()));
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& text : node(i).input()) {
        Input input{.control = text.starts_with("^")};
        std::string name = input.control ? text.substr(1) : text;
        if (const size_t colon = name.rfind(':'); colon != std::string::npos && !input.control) {
          input.port = name.substr(colon + 1) == "1" ? 1 : 0;
          name.resize(colon);
        }
        const auto source = by_name.find(name);
        if (source == by_name.end()) {
          throw invalid_argument("Node '{}': Unknown input node '{}'", node(i).name(), text);
        }
        input.node = source->second;
        inputs_[static_cast<size_t>(i)].push_back(input);
      }
    }
  }

  // Each node after what it reads, but for what comes from the iteration before.
  std::vector<int> order() const {
    std::vector<int> waits(inputs_.size(), 0);
    std::vector<std::vector<int>> readers(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (const Input& input : inputs_[i]) {
        if (leads_back(node(input.node))) continue;
        readers[static_cast<size_t>(input.node)].push_back(static_cast<int>(i));
        ++waits[i];
      }
    }
    std::vector<int> order;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) order.push_back(static_cast<int>(i));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (const int reader : readers[static_cast<size_t>(order[i])]) {
        if (--waits[static_cast<size_t>(reader)] == 0) order.push_back(reader);
      }
    }
    return order;
  }

  void look_at(int index) {
    const proto::NodeDef& at = node(index);
    const std::vector<Input>& inputs = inputs_[static_cast<size_t>(index)];
    Facts& own = facts(index);
    own.known = true;
    if (is_merge(at)) {
      merge(index);
      return;
    }
    for (const Input& input : inputs) {
      const Facts& theirs = facts(input.node);
      if (!theirs.known) continue;  // from the iteration before
      own.sides.insert(theirs.sides.begin(), theirs.sides.end());
      own.in_loop |= theirs.in_loop;
      own.received |= theirs.received;
      if (is_switch(node(input.node)) && !input.control) {
        if (const Input* predicate = predicate_of(input.node)) own.sides.emplace(text_of(*predicate), input.port);
      }
    }
    if (is_switch(at) || is_enter(at)) own.received = false;  // the conditional or loop dies as a whole
    if (is_enter(at)) own.in_loop = true;
    if (is_exit(at)) own.in_loop = leaves_to_loop(index);
    const bool conditional = own.in_loop || !own.sides.empty();
    if (is_recv(at)) {
      if (conditional) cut();
      own.received = may_be_dead_(at);
    } else if (conditional && (own.received || (is_send(at) && !ends_at_master(at)))) {
      cut();
    }
  }

  // A Merge of a conditional needs neither side of it any more; that of a loop is as what enters the loop.
  void merge(int index) {
    Facts& own = facts(index);
    bool first = true;
    for (const Input& input : inputs_[static_cast<size_t>(index)]) {
      const Facts& theirs = facts(input.node);
      if (!theirs.known || leads_back(node(input.node)) || input.control) continue;
      std::set<Side> sides = theirs.sides;
      if (is_switch(node(input.node))) {
        if (const Input* predicate = predicate_of(input.node)) sides.emplace(text_of(*predicate), input.port);
      }
      if (theirs.received) cut();
      own.in_loop |= theirs.in_loop;
      if (first) {
        own.sides = std::move(sides);
      } else {
        std::set<Side> common;
        std::set_intersection(own.sides.begin(), own.sides.end(), sides.begin(), sides.end(),
                              std::inserter(common, common.end()));
        own.sides = std::move(common);
      }
      first = false;
    }
  }

  // Null: the Switch is a loop's.
  const Input* predicate_of(int index) const {
    const std::vector<Input>& inputs = inputs_[static_cast<size_t>(index)];
    return inputs.size() < 2 || node(inputs[1].node).op() == "LoopCond" ? nullptr : &inputs[1];
  }
  std::string text_of(const Input& input) const { return fmt::format("{}:{}", node(input.node).name(), input.port); }

  // Whether the loop that the Exit leaves is in another: what enters it is.
  bool leaves_to_loop(int exit) {
    std::set<int> seen;
    std::deque<int> todo = {exit};
    while (!todo.empty()) {
      const int at = todo.front();
      todo.pop_front();
      for (const Input& input : inputs_[static_cast<size_t>(at)]) {
        if (leads_back(node(input.node)) || !seen.insert(input.node).second) continue;
        if (!is_enter(node(input.node))) {
          todo.push_back(input.node);
          continue;
        }
        const auto& before = inputs_[static_cast<size_t>(input.node)];
        return std::any_of(before.begin(), before.end(), [&](const Input& b) { return facts(b.node).in_loop; });
      }
    }
    return false;
  }

  void cut() { found_.has_tokens = found_.is_cut = true; }

  const proto::GraphDef& graph_;
  bool (*const may_be_dead_)(const proto::NodeDef&);
  std::vector<std::vector<Input>> inputs_;
  std::vector<Facts> facts_;
  CutControlFlow found_;
};

}  // namespace

CutControlFlow find_cut_control_flow(const proto::GraphDef& part, bool (*may_be_dead)(const proto::NodeDef&)) {
  return Finder(part, may_be_dead).run();
}

}  // namespace weir::distributed
