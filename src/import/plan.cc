#include "import/plan.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <queue>
#include <set>

#include "base/errors.h"
#include "graph/op.h"

namespace weir {
namespace {

bool is_valid_node_name(std::string_view name) {
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  auto inner = [&](char c) { return alnum(c) || c == '_' || c == '.' || c == '-' || c == '/'; };
  // Internal nodes begin with an underscore.
  return !name.empty() && !name.ends_with('/') && (alnum(name[0]) || name[0] == '.' || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), inner);
}

// Nothing for a text that names no tensor.
std::optional<TensorName> tensor_name(std::string_view text) {
  if (text.starts_with('^')) return TensorName{text.substr(1), kControlPort};
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return TensorName{text, 0};
  const std::string_view digits = text.substr(colon + 1);
  int port = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty() || port < 0) return {};
  return TensorName{text.substr(0, colon), port};
}

void read_inputs(const MappedNames& mapped, const ImportPlan& plan, ImportNode& node) {
  bool control_seen = false;
  for (const std::string& text : node.def->input()) {
    // TensorFlow's words of 0.x and of 1.x, here and for what else a caller may have got wrong.
    const auto unknown = [&] { return fmt::format(" (Node '{}': Unknown input node '{}')", node.name, text); };
    const auto parsed = tensor_name(text);
    if (!parsed) throw invalid_argument("Cannot convert '{}' to a tensor name.{}", text, unknown());
    const TensorName& name = *parsed;
    const bool is_control = name.port == kControlPort;
    if (control_seen && !is_control) throw invalid_argument("input '{}' follows a control input", text);
    control_seen |= is_control;
    ImportSource source{.port = name.port};
    if (auto other = mapped.find({std::string(name.node), name.port}); other != mapped.end()) {
      source.mapped = other->second;
    } else if (auto it = plan.by_name.find(std::string(name.node)); it != plan.by_name.end()) {
      source.node = it->second;
    } else {
      throw is_control
          ? invalid_argument("Control input '{}' not found in graph_def.{}", text, unknown())
          : invalid_argument("Input tensor '{}:{}' not found in graph_def.{}", name.node, name.port, unknown());
    }
    (is_control ? node.controls : node.inputs).push_back(source);
  }
}

// Calls `visit` with the index of each node that must be there before this one.
template <class Visit>
void for_each_dependency(const ImportPlan& plan, const std::vector<std::vector<int>>& inside, int index,
                         const Visit& visit) {
  const ImportNode& node = plan.nodes[static_cast<size_t>(index)];
  auto visit_source = [&](const ImportSource& source) {
    if (source.node >= 0) visit(source.node);
  };
  for (const ImportSource& input : node.inputs) {
    if (!leads_back(plan, node, input)) visit_source(input);
  }
  for (const ImportSource& control : node.controls) visit_source(control);
  std::vector<int> bodies(std::begin(node.bodies), std::end(node.bodies));
  for (const auto& [attr, id] : node.called) bodies.push_back(id);
  for (int id : bodies) {
    if (id < 0) continue;
    const ImportBody& body = plan.bodies[static_cast<size_t>(id)];
    for (int inner : inside[static_cast<size_t>(id)]) visit(inner);
    for (const ImportSource& result : body.results) visit_source(result);
    for (const ImportSource& parameter : body.parameters) visit_source(parameter);
  }
}

// `waits` is positive for the nodes on a cycle and those behind one. Walking back among them must come round.
[[noreturn]] void refuse_cycle(const ImportPlan& plan, const std::vector<std::vector<int>>& inside,
                               const std::vector<int>& waits) {
  int at = 0;
  while (waits[static_cast<size_t>(at)] == 0) ++at;
  std::vector<int> path;
  std::set<int> seen;
  while (seen.insert(at).second) {
    path.push_back(at);
    int before = -1;
    for_each_dependency(plan, inside, at, [&](int dependency) {
      if (before < 0 && waits[static_cast<size_t>(dependency)] > 0) before = dependency;
    });
    if (before < 0) {
      throw import_error(plan.nodes[static_cast<size_t>(at)], Code::Unimplemented,
                         "the node reads control flow that cannot be told apart");
    }
    at = before;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::string text;
  for (auto it = path.rbegin(); it != path.rend(); ++it) text += plan.nodes[static_cast<size_t>(*it)].name + " -> ";
  text += plan.nodes[static_cast<size_t>(path.back())].name;
  throw import_error(plan.nodes[static_cast<size_t>(at)], Code::InvalidArgument, "the node depends on itself: " + text);
}

}  // namespace

TensorName parse_tensor_name(std::string_view text) {
  if (const auto name = tensor_name(text)) return *name;
  throw invalid_argument("Cannot convert '{}' to a tensor name.", text);
}

Error import_error(const ImportNode& node, Code code, const std::string& message) {
  std::string where = node.function ? " (in function '" + node.function->name + "')" : "";
  return Error(code, message + where, node.def->op(), node.name, {});
}

Error blame(const Error& e, const ImportNode& node) {
  return e.node().empty() ? import_error(node, e.code(), e.message()) : e;
}

const proto::AttrValue& bound_attr(const proto::AttrValue& value, const ImportFunction* function) {
  const proto::AttrValue* bound = &value;
  for (; bound->has_placeholder() && function; function = function->caller) {
    auto it = function->attrs->find(bound->placeholder());
    if (it == function->attrs->end()) {
      throw invalid_argument("the call of function '{}' does not give the attribute '{}'", function->name,
                             bound->placeholder());
    }
    bound = &it->second;
  }
  return *bound;
}

const proto::AttrValue* import_attr(const ImportNode& node, const std::string& name) {
  auto it = node.def->attr().find(name);
  return it == node.def->attr().end() ? nullptr : &bound_attr(it->second, node.function);
}

bool is_reference(const ImportPlan& plan, const ImportSource& source) {
  if (source.mapped >= 0) return plan.mapped[static_cast<size_t>(source.mapped)].is_ref();
  const std::string& op_name = plan.nodes[static_cast<size_t>(source.node)].def->op();
  const Op* op = find_op(op_name);
  // Operations with several outputs of which some are references do not exist.
  return op ? !op->outputs.empty() && op->outputs[0].is_ref : op_name.starts_with("Ref");
}

ImportSource ImportPlan::resolve(ImportSource source) const {
  for (auto it = aliases.find(source); it != aliases.end(); it = aliases.find(source)) source = it->second;
  return source;
}

std::string ImportPlan::unique_name(std::string name) {
  const std::string base = name;
  for (int n = 1; names.contains(name) || !name_is_free(name); ++n) name = base + "_" + std::to_string(n);
  names.insert(name);
  return name;
}

int ImportPlan::add(std::string_view op, std::string name, int body, proto::NodeDef** def) {
  proto::NodeDef& made_def = made.emplace_back();
  made_def.set_op(std::string(op));
  ImportNode& node = nodes.emplace_back();
  node.def = &made_def;
  node.name = unique_name(std::move(name));
  node.body = body;
  if (def) *def = &made_def;
  return static_cast<int>(nodes.size()) - 1;
}

void ImportPlan::set_type(proto::NodeDef& def, const std::string& attr, proto::DataType type) {
  (*def.mutable_attr())[attr].set_type(type);
}

void read_nodes(const proto::GraphDef& message, const MappedNames& mapped, ImportPlan& plan) {
  plan.nodes.resize(static_cast<size_t>(message.node_size()));
  for (int i = 0; i < message.node_size(); ++i) {
    ImportNode& node = plan.nodes[static_cast<size_t>(i)];
    node.def = &message.node(i);
    node.name = node.def->name();
    if (!is_valid_node_name(node.name)) {
      throw import_error(node, Code::InvalidArgument, "this is not a valid operation name");
    }
    if (!plan.by_name.emplace(node.name, i).second) {
      throw import_error(node, Code::InvalidArgument,
                         fmt::format("two nodes have this name: Node '{}' is not unique", node.name));
    }
    plan.names.insert(node.name);
  }
  for (ImportNode& node : plan.nodes) {
    try {
      read_inputs(mapped, plan, node);
    } catch (const Error& e) {
      throw blame(e, node);
    }
  }
}

bool leads_back(const ImportPlan& plan, const ImportNode& reader, const ImportSource& source) {
  if (source.node < 0 || !reader.def->op().ends_with("Merge")) return false;
  return plan.nodes[static_cast<size_t>(source.node)].def->op().ends_with("NextIteration");
}

std::vector<int> import_order(const ImportPlan& plan) {
  const size_t count = plan.nodes.size();
  std::vector<std::vector<int>> inside(plan.bodies.size()), consumers(count);
  std::vector<int> waits(count);
  for (size_t i = 0; i < count; ++i) {
    const ImportNode& node = plan.nodes[i];
    if (!node.removed && node.body != kTopLevel) inside[static_cast<size_t>(node.body)].push_back(static_cast<int>(i));
  }
  size_t wanted = 0;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    if (plan.nodes[i].removed) continue;
    ++wanted;
    for_each_dependency(plan, inside, static_cast<int>(i), [&](int dependency) {
      consumers[static_cast<size_t>(dependency)].push_back(static_cast<int>(i));
      ++waits[i];
    });
    if (waits[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    order.push_back(index);
    for (int consumer : consumers[static_cast<size_t>(index)]) {
      if (--waits[static_cast<size_t>(consumer)] == 0) ready.push(consumer);
    }
  }
  if (order.size() < wanted) refuse_cycle(plan, inside, waits);
  return order;
}

}  // namespace weir
