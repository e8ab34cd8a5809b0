#include "import/control_flow.h"

#include <algorithm>
#include <set>

#include "base/errors.h"

namespace weir {

Kind kind_of(const std::string& op) {
  if (op == "Switch" || op == "RefSwitch") return Kind::Switch;
  if (op == "Merge" || op == "RefMerge") return Kind::Merge;
  if (op == "Enter" || op == "RefEnter") return Kind::Enter;
  if (op == "Exit") return Kind::Exit;
  if (op == "NextIteration") return Kind::NextIteration;
  if (op == "LoopCond") return Kind::LoopCond;
  return op == "RefExit" || op == "RefNextIteration" ? Kind::RefLoop : Kind::Plain;
}

std::string scope_of(const std::string& name) {
  size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash + 1);
}

std::vector<int> ControlFlowPart::sorted(const std::vector<int>& nodes) {
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

void ControlFlowPart::require_inputs(int index, size_t count) {
  if (node(index).inputs.size() != count) {
    fail(index, Code::InvalidArgument,
         fmt::format("{} inputs are given, {} are wanted", node(index).inputs.size(), count));
  }
}

proto::DataType ControlFlowPart::type_of(int index) {
  const proto::AttrValue* type = import_attr(node(index), "T");
  if (!type || type->value_case() != proto::AttrValue::kType) {
    fail(index, Code::InvalidArgument, "attribute 'T' is missing");
  }
  return type->type();
}

void ControlFlowPart::become(int index, const char* op, const char* type_attr, proto::DataType type) {
  proto::NodeDef& def = plan_.made.emplace_back();
  def.set_op(op);
  def.set_device(node(index).def->device());
  ImportPlan::set_type(def, type_attr, type);
  node(index).def = &def;
}

void ControlFlowPart::become_placeholder(int index, proto::DataType type) {
  become(index, "Placeholder", "dtype", type);
  (*plan_.made.back().mutable_attr())["shape"].mutable_shape()->set_unknown_rank(true);
  node(index).inputs.clear();
  node(index).controls.clear();
}

int ControlFlowPart::add_part(const std::string& name, int owner, bool is_loop) {
  plan_.bodies.push_back({.name = name, .outer = node(owner).body, .owner = owner, .is_loop = is_loop});
  return static_cast<int>(plan_.bodies.size()) - 1;
}

void ControlFlowPart::assign(int index, int to) {
  node(index).body = to;
  for (int part : node(index).bodies) {
    if (part >= 0) body(part).outer = to;
  }
  for (const auto& [attr, part] : node(index).called) body(part).outer = to;
}

namespace {

// Makes every node read what it can see: the data behind a Switch, and for a tensor in a branch that it is not in, one
// more result of that branch's If.
class Reader : private ControlFlowPart {
 public:
  Reader(ImportPlan& plan, ControlFlowState& state) : ControlFlowPart(plan, state) {}

  void run() {
    finish_merges();
    replace_triggers();
    // Results are appended on the way; what is appended can be seen.
    for (size_t b = 0; b < plan_.bodies.size(); ++b) {
      const size_t results = plan_.bodies[b].results.size();
      for (size_t i = 0; i < results; ++i) {
        const ImportSource result = plan_.bodies[b].results[i];
        if (!result) continue;
        check_always_there(plan_.resolve(result), static_cast<int>(b));
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
    for (const MergeEnd& end : state_.merge_ends) {
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
    for (int index : state_.gone) node(index).removed = true;
  }

  // They made a difference between Switch and Merge only.
  void replace_triggers() {
    for (ImportNode& trigger : plan_.nodes) {
      if (trigger.def->op() != "ControlTrigger") continue;
      proto::NodeDef& def = plan_.made.emplace_back();
      def.set_op("NoOp");
      def.set_device(trigger.def->device());
      trigger.def = &def;
    }
  }

  bool encloses(int outer, int inner) const {
    while (inner != outer && inner != kTopLevel) inner = plan_.bodies[static_cast<size_t>(inner)].outer;
    return inner == outer;
  }

  // A loop cannot go on with a value that only one branch of a conditional gives.
  void check_always_there(const ImportSource& result, int part) {
    if (result.node < 0 || !body(part).is_loop || encloses(node(result.node).body, part)) return;
    fail(result.node, Code::Unimplemented, "what a loop goes on with is in one branch of a conditional only");
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
        if (auto it = state_.waits_of_gone.find(input.node); it != state_.waits_of_gone.end()) {
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
        if (auto it = state_.waits_of_gone.find(control.node); it != state_.waits_of_gone.end()) {
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

  std::map<std::pair<int, ImportSource>, int> ports_;
};

}  // namespace

void import_control_flow(ImportPlan& plan) {
  std::map<int, std::vector<int>> regions;
  std::set<int> wanted;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    ImportNode& node = plan.nodes[i];
    regions[node.body].push_back(static_cast<int>(i));
    if (kind_of(node.def->op()) != Kind::Plain) wanted.insert(node.body);
  }
  if (wanted.empty()) return;
  ControlFlowState state;
  for (int region : wanted) build_region(plan, state, region, regions[region]);
  Reader(plan, state).run();
  import_stacks(plan);
}

}  // namespace weir
