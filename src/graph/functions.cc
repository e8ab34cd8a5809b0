#include "graph/functions.h"

#include <unordered_map>

#include "base/errors.h"
#include "graph/bodies.h"

namespace weir {
namespace {

// Collections that a function shares with the graph around it, as in TensorFlow.
constexpr std::string_view kShared[] = {"variables", "local_variables", "trainable_variables"};

void copy_shared(std::map<std::string, std::vector<std::any>, std::less<>>& from,
                 std::map<std::string, std::vector<std::any>, std::less<>>& to) {
  for (std::string_view name : kShared) {
    if (auto it = from.find(name); it != from.end()) to[it->first] = it->second;
  }
}

}  // namespace

FunctionScope::FunctionScope(Graph& graph, Body& body)
    : impl_(graph.impl()), names_(std::exchange(impl_.names, {})), scopes_(impl_.scopes) {
  collections_ = std::exchange(impl_.collections, {});
  copy_shared(collections_, impl_.collections);
  ++impl_.collection_changes;
  BuildingScopes inside;
  inside.body = &body;
  inside.line = scopes_.line;
  inside.container = scopes_.container;
  inside.seed = scopes_.seed;
  impl_.scopes = std::move(inside);
}

FunctionScope::~FunctionScope() {
  impl_.names = std::move(names_);
  impl_.scopes = std::move(scopes_);
  copy_shared(impl_.collections, collections_);
  impl_.collections = std::move(collections_);
  ++impl_.collection_changes;
}

TracedFunction trace_function(Graph& graph, std::string_view name, std::span<const FunctionArgument> arguments,
                              FunctionRef<std::vector<Output>(const std::vector<Output>&)> make) {
  Body& body = add_function(graph, name);
  {
    FunctionScope scope(graph, body);
    std::vector<Output> parameters;
    for (size_t i = 0; i < arguments.size(); ++i) {
      parameters.push_back(graph.placeholder(arguments[i].dtype, arguments[i].shape, "arg" + std::to_string(i)));
    }
    {
      std::lock_guard lock(graph.impl().storage.mutex);
      body.parameters = parameters;
    }
    std::vector<Output> results = make(parameters);
    for (Output& result : results) {
      if (!result) throw invalid_argument("the function '{}' gives an empty tensor", body.name);
      if (result.is_ref()) result = graph.add({.op = "Identity", .inputs = {result}}).output();
    }
    std::lock_guard lock(graph.impl().storage.mutex);
    body.results = std::move(results);
    for (Node* node : body.nodes) {
      const Effect effect = node->op->effect;
      if (effect != Effect::None && effect != Effect::Reads && node->op->role == Role::None) {
        body.targets.emplace_back(node);
      }
    }
  }
  FunctionCaptures captures = finish_function(graph, body);
  return {body.name, std::move(captures), body.results};
}

namespace {

// Copies nodes, and what they depend on, to where nodes go now.
class Copier {
 public:
  explicit Copier(Graph& graph) : graph_(graph) {}

  Node* copy(const Node& node) {
    if (auto known = copies_.find(&node); known != copies_.end()) return known->second;
    check(node);
    NodeArgs args{
        .op = node.op->name, .name = base_name(node), .attrs = node.attrs, .device = node.device, .line = node.line};
    args.attrs.erase("_class");
    for (const Output& input : node.inputs) args.inputs.emplace_back(copy(*input.node()), input.index());
    // What they wait for besides is left out, as TensorFlow leaves it out.
    Node* made = graph_.add(std::move(args)).node();
    copies_.emplace(&node, made);
    return made;
  }

 private:
  static void check(const Node& node) {
    if (node.op->role == Role::Placeholder) {
      throw invalid_argument("Cannot capture a placeholder (name:{}, type:{}) by value.", node.name, node.op->name);
    }
    const bool describes = node.output_types.size() == 1 && node.output_types[0] == DType::Variant;
    if (is_if(*node.op) || is_while(*node.op) || (node.op->stateful && !describes)) {
      throw invalid_argument("Cannot capture a stateful node (name:{}, type:{}) by value.", node.name, node.op->name);
    }
  }
  static std::string base_name(const Node& node) { return node.name.substr(node.name.rfind('/') + 1); }

  Graph& graph_;
  std::unordered_map<const Node*, Node*> copies_;
};

}  // namespace

std::string copy_into_function(const Output& result, std::string_view name, FunctionRef<Output(const Output&)> finish) {
  Graph& graph = result.graph();
  return trace_function(
             graph, name, {},
             [&](const std::vector<Output>&) {
               return std::vector<Output>{finish(Output(Copier(graph).copy(*result.node()), result.index()))};
             })
      .name;
}

}  // namespace weir
