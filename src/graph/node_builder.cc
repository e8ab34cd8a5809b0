#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/scope_stack.h"
#include "weir/graph.h"

namespace weir {

NodeBuilder::NodeBuilder(std::string_view op, std::string_view name, std::optional<In::Where> where)
    : op_(op), name_(name), where_(where) {}
NodeBuilder::~NodeBuilder() = default;
NodeBuilder::NodeBuilder(const NodeBuilder&) = default;
NodeBuilder& NodeBuilder::operator=(const NodeBuilder&) = default;

NodeBuilder& NodeBuilder::graph(Graph& graph) {
  graph_ = &graph;
  return *this;
}

NodeBuilder& NodeBuilder::input(const In& value) {
  arguments_.push_back({{value}, false});
  return *this;
}

NodeBuilder& NodeBuilder::input(const InList& values) {
  arguments_.push_back({values.values(), true});
  return *this;
}

NodeBuilder& NodeBuilder::attr(std::string_view name, AttrValue value) {
  attrs_.set(name, std::move(value));
  return *this;
}

NodeBuilder& NodeBuilder::control_input(Operation operation) {
  control_inputs_.push_back(operation);
  return *this;
}

Operation NodeBuilder::build() {
  Graph* graph = graph_;
  std::optional<In::Where> where = where_;
  for (const Argument& argument : arguments_) {
    for (const In& in : argument.values) {
      if (!graph && in.output()) graph = &in.output().graph();
      if (!where) where = in.where();
    }
  }
  SourceLine line = where ? source_line(*where) : SourceLine{};
  std::string label = name_.empty() ? op_ : name_;
  auto blame = [&](const Error& e) { return e.blaming(op_, label, line); };
  if (!graph) throw blame(invalid_argument("no argument belongs to a graph; make one of them with Graph::constant"));
  if (graph->impl().scopes.line) line = *graph->impl().scopes.line;
  const Op* op = find_op(op_);
  if (!op) throw blame(not_found("there is no operation of this type"));
  if (arguments_.size() != op->inputs.size()) {
    throw blame(invalid_argument("{} arguments are given, {} are wanted", arguments_.size(), op->inputs.size()));
  }

  // Types are decided by explicit attributes, then by tensors, then by typed values; literals follow.
  auto bind = [&](const ArgSpec& spec, DType dtype) {
    if (!spec.type_attr.empty() && !attrs_.has(spec.type_attr)) attrs_.set(spec.type_attr, dtype);
  };
  for (size_t a = 0; a < arguments_.size(); ++a) {
    for (const In& in : arguments_[a].values) {
      if (in.output()) bind(op->inputs[a], in.output().dtype());
    }
  }
  for (size_t a = 0; a < arguments_.size(); ++a) {
    for (const In& in : arguments_[a].values) {
      if (!in.output() && !in.weak()) bind(op->inputs[a], in.value().dtype());
    }
  }

  // The node's name is taken first, so that its constants can stand below it.
  std::string full = label.ends_with('/') ? label.substr(0, label.size() - 1) : graph->unique_name(label);
  NodeArgs args{
      .op = op_, .name = full, .exact_name = true, .attrs = {}, .control_inputs = control_inputs_, .line = line};
  for (size_t a = 0; a < arguments_.size(); ++a) {
    const ArgSpec& spec = op->inputs[a];
    const std::vector<In>& values = arguments_[a].values;
    std::vector<DType> types;
    for (size_t i = 0; i < values.size(); ++i) {
      Output output = values[i].output();
      if (!output) {
        Tensor value = values[i].value();
        if (values[i].weak()) {
          DType dtype = spec.type;
          if (!spec.type_attr.empty()) {
            const AttrSpec* attr = op->attr(spec.type_attr);
            if (const AttrValue* bound = attrs_.find(spec.type_attr)) {
              dtype = std::get<DType>(*bound);
            } else if (attr && attr->default_value) {
              dtype = std::get<DType>(*attr->default_value);
            }
          }
          if (const AttrValue* bound = spec.type_list_attr.empty() ? nullptr : attrs_.find(spec.type_list_attr)) {
            const auto& list = std::get<std::vector<DType>>(*bound);
            if (i < list.size()) dtype = list[i];
          }
          if (dtype == DType::Invalid) dtype = default_literal_type(value);
          try {
            value = convert_literal(value, dtype);
          } catch (const Error& e) {
            throw blame(invalid_argument("input '{}': {}", spec.name, e.message()));
          }
          bind(spec, dtype);
        }
        std::string scope = graph->impl().names.scope;
        graph->impl().names.scope = full;
        std::string suffix = arguments_[a].is_list ? spec.name + "_" + std::to_string(i) : spec.name;
        std::string name = graph->unique_name(suffix);
        graph->impl().names.scope = scope;
        DType dtype = value.dtype();
        output = graph
                     ->add({.op = "Const",
                            .name = name,
                            .exact_name = true,
                            .inputs = {},
                            .attrs = {{"value", value}, {"dtype", dtype}},
                            .control_inputs = {},
                            .device = {},
                            .line = line})
                     .output();
      }
      types.push_back(output.dtype());
      args.inputs.push_back(output);
    }
    if (!spec.number_attr.empty()) attrs_.set(spec.number_attr, static_cast<int64_t>(values.size()));
    if (!spec.type_list_attr.empty() && !attrs_.has(spec.type_list_attr)) attrs_.set(spec.type_list_attr, types);
  }
  args.attrs = attrs_;
  // Who takes a reference stands beside the variable.
  ScopeStack beside;
  for (size_t i = 0, a = 0; a < arguments_.size(); i += arguments_[a++].values.size()) {
    if (!op->inputs[a].is_ref) continue;
    for (size_t k = 0; k < arguments_[a].values.size(); ++k) {
      beside.push(graph->colocate_with(args.inputs[i + k].op()));
    }
  }
  return graph->add(std::move(args));
}

}  // namespace weir
