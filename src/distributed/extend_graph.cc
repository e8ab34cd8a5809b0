#include "distributed/extend_graph.h"

#include <google/protobuf/util/message_differencer.h>

#include <map>
#include <set>

#include "base/errors.h"
#include "graph/graph_def.h"
#include "graph/node.h"

namespace weir::distributed {

using google::protobuf::util::MessageDifferencer;

namespace {

bool is_control_flow(const std::string& op) {
  static const std::set<std::string> kOps = {"Switch",        "RefSwitch",        "Merge",       "RefMerge",
                                             "Enter",         "RefEnter",         "Exit",        "RefExit",
                                             "NextIteration", "RefNextIteration", "LoopCond",    "ControlTrigger",
                                             "_SwitchN",      "StackV2",          "StackPushV2", "StackPopV2",
                                             "Stack",         "StackPush",        "StackPop"};
  return kOps.contains(op);
}

void note_aliases(SessionGraph& graph, const ImportAliases& aliases) {
  for (const auto& [name, output] : aliases) graph.alias[name] = output;
}

}  // namespace

proto::GraphDef join_graphs(const proto::GraphDef& known, const proto::GraphDef& more) {
  proto::GraphDef joined = known;
  std::set<std::string_view> names;
  for (const proto::NodeDef& node : known.node()) names.insert(node.name());
  for (const proto::NodeDef& node : more.node()) {
    if (!names.insert(node.name()).second) {
      throw invalid_argument(
          "GraphDef argument to Extend includes node '{}', which was created by a previous call to Create "
          "or Extend in this session.",
          node.name());
    }
    *joined.add_node() = node;
  }
  // Clients send what they have sent before with every part of a graph.
  std::map<std::string_view, const proto::FunctionDef*> functions;
  for (const auto& function : known.library().function()) functions[function.signature().name()] = &function;
  for (const auto& function : more.library().function()) {
    const auto [same, is_new] = functions.emplace(function.signature().name(), &function);
    if (is_new) {
      *joined.mutable_library()->add_function() = function;
    } else if (!MessageDifferencer::Equals(*same->second, function)) {
      throw invalid_argument("Cannot add function '{}' because a different function with the same name already exists.",
                             same->first);
    }
  }
  std::map<std::string_view, std::string_view> gradients;
  for (const auto& gradient : known.library().gradient())
    gradients[gradient.function_name()] = gradient.gradient_func();
  for (const auto& gradient : more.library().gradient()) {
    const auto [same, is_new] = gradients.emplace(gradient.function_name(), gradient.gradient_func());
    if (is_new) {
      *joined.mutable_library()->add_gradient() = gradient;
    } else if (same->second != gradient.gradient_func()) {
      throw invalid_argument("Cannot assign gradient function '{}' to '{}' because it already has '{}'.",
                             gradient.gradient_func(), same->first, same->second);
    }
  }
  if (!joined.has_versions() || known.node_size() == 0) *joined.mutable_versions() = more.versions();
  return joined;
}

void import_client_graph(SessionGraph& graph, const proto::GraphDef& message) {
  ImportAliases aliases;
  extend_graph(graph.graph, message, {}, &aliases);
  note_aliases(graph, aliases);
}

bool extend_in_place(SessionGraph& graph, const proto::GraphDef& more) {
  std::set<std::string_view> fresh;
  for (const proto::NodeDef& node : more.node()) {
    if (is_control_flow(node.op())) return false;
    fresh.insert(node.name());
  }
  ImportOptions options;
  std::set<std::string> mapped;
  for (const proto::NodeDef& node : more.node()) {
    for (const std::string& input : node.input()) {
      const bool control = input.starts_with("^");
      std::string name = control ? input.substr(1) : input;
      int port = 0;
      const size_t colon = name.rfind(':');
      if (!control && colon != std::string::npos) {
        const std::string number = name.substr(colon + 1);
        if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
          return false;
        port = std::stoi(number);
        name.resize(colon);
      }
      if (fresh.contains(name)) continue;
      const std::string key = control ? "^" + name : fmt::format("{}:{}", name, port);
      if (!mapped.insert(key).second) continue;
      const Operation known = graph.graph.find(name);
      Output output;
      if (auto alias = graph.alias.find(fmt::format("{}:{}", name, port)); alias != graph.alias.end()) {
        output = alias->second;
      } else if (known && !known.node()->body && (control || port < known.outputs())) {
        output = Output(known.node(), port);
      } else {
        return false;  // a part of what was taken apart, or nothing: the import of the whole will tell
      }
      options.input_map.emplace_back(key, output);
    }
  }
  ImportAliases aliases;
  extend_graph(graph.graph, more, options, &aliases);
  note_aliases(graph, aliases);
  return true;
}

}  // namespace weir::distributed
