#include "graph/bodies.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/errors.h"
#include "graph/functions.h"

namespace weir {
namespace {

bool contains(const std::vector<Output>& list, const Output& output) {
  return std::find(list.begin(), list.end(), output) != list.end();
}

bool is_inside(const Body& body, const Node& node) { return body.encloses(node.body); }

// The bodies that a node of control flow names; none for other nodes.
std::vector<Body*> inner_bodies(const Node& node) {
  if (!is_if(*node.op) && !is_while(*node.op)) return {};
  auto [first, second] = bodies_of(node);
  return {first, second};
}

// Calls `visit` with every node in the body and in the bodies inside it.
template <class Visit>
void for_each_node(const Body& body, const Visit& visit) {
  for (Node* node : body.nodes) {
    visit(*node);
    for (const Body* inner : inner_bodies(*node)) for_each_node(*inner, visit);
  }
}

// The variable behind a reference, following the operations that pass it on.
Output variable_behind(Output ref) {
  while (!ref.node()->inputs.empty()) ref = ref.node()->inputs[0];
  return ref;
}

// The variables that nodes of the body, and of bodies inside it, write through references.
void add_written_variables(const Body& body, std::vector<Output>& variables) {
  for_each_node(body, [&](const Node& node) {
    if (node.op->effect != Effect::Writes) return;
    std::vector<FlatArg> args = flatten_args(node.op->inputs, node.attrs);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!args[i].spec->is_ref) continue;
      Output variable = variable_behind(node.inputs[i]);
      if (!contains(variables, variable)) variables.push_back(variable);
    }
  });
}

// What programs read a variable by when they use it as a tensor. Empty when there is no such node.
Output implicit_read(const Output& variable) {
  Operation read = variable.graph().find(variable.node()->name + "/read");
  if (!read || read.node()->op->role != Role::Identity || read.input(0) != variable) return {};
  return read.output();
}

// Lets a body, and the bodies inside it, read a variable where it gets to the reader, instead of taking what `read`
// gave before it began.
void read_inside(Body& body, const Output& read, const Output& variable) {
  Graph& graph = variable.graph();
  auto value_for = [&](const std::vector<Node*>& waits) {
    BodyScope scope(graph, &body);
    std::vector<Operation> control;
    for (Node* node : waits) control.emplace_back(node);
    return graph.add({.op = "Identity", .name = "read", .inputs = {variable}, .control_inputs = control}).output();
  };
  const std::vector<Node*> nodes = body.nodes;  // those that this makes need no change
  for (Node* node : nodes) {
    const std::vector<Body*> inner = inner_bodies(*node);
    const size_t first = is_if(*node->op) ? 1 : 0;  // before it: the predicate
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] != read) continue;
      const bool passed_on = inner.empty() || (i >= first && inner[0]->parameters[i - first] == read);
      const Output value = passed_on ? variable : value_for(node->control_inputs);
      std::lock_guard lock(graph.impl().storage.mutex);
      node->inputs[i] = value;
    }
    for (Body* each : inner) {
      {
        std::lock_guard lock(graph.impl().storage.mutex);
        for (size_t i = 0; each->is_loop && i < each->parameters.size() && i < each->results.size(); ++i) {
          if (each->parameters[i] == read && each->results[i] == read) each->results[i] = variable;
        }
      }
      read_inside(*each, read, variable);
      std::lock_guard lock(graph.impl().storage.mutex);
      std::replace(each->parameters.begin(), each->parameters.end(), read, variable);
    }
  }
  for (Output& result : body.results) {
    if (result != read) continue;
    const Output value = value_for({});
    std::lock_guard lock(graph.impl().storage.mutex);
    result = value;
  }
}

// TensorFlow's variables are read by one node outside of the loop, and what that gave changes when they are assigned
// to: loops and branches that assign to a variable see what they assigned.
void read_what_is_written(Body& first, Body& second) {
  std::vector<Output> variables;
  for (const Body* body : {&first, &second}) add_written_variables(*body, variables);
  for (const Output& variable : variables) {
    Output read = implicit_read(variable);
    if (!read) continue;
    for (Body* body : {&first, &second}) {
      if (!is_inside(*body, *read.node())) read_inside(*body, read, variable);
    }
  }
}

// The nodes that a body's results and targets depend on. Nobody waits for what the others wait for.
std::unordered_set<const Node*> needed_nodes(const Body& body) {
  std::unordered_set<const Node*> needed;
  std::vector<const Node*> todo;
  auto need = [&](const Node* node) {
    if (is_inside(body, *node) && needed.insert(node).second) todo.push_back(node);
  };
  for (const Output& result : body.results) {
    if (result) need(result.node());
  }
  for (const Operation& target : body.targets) need(target.node());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Output& input : node->inputs) need(input.node());
    for (const Node* control : node->control_inputs) need(control);
  }
  return needed;
}

// Collects what two bodies need from around them.
class Captures {
 public:
  Captures(Body& first, Body& second) : bodies_{&first, &second} {}

  void collect(const Graph& graph) {
    std::lock_guard lock(graph.impl().storage.mutex);
    for (Body* body : bodies_) {
      const std::unordered_set<const Node*> needed = needed_nodes(*body);
      for (Node* node : body->nodes) {
        for (size_t i = 0; i < node->inputs.size(); ++i) {
          if (!is_inside(*body, *node->inputs[i].node())) node->inputs[i] = capture(node->inputs[i]);
        }
        for (Node* control : node->control_inputs) {
          if (needed.contains(node) && !is_inside(*body, *control)) wait_for(control);
        }
      }
      for (Output& result : body->results) {
        if (result && !is_inside(*body, *result.node())) result = capture(result);
      }
    }
  }

  const std::vector<Output>& tensors() const { return tensors_; }
  const std::vector<Operation>& waits() const { return waits_; }

 private:
  // What stands for a tensor from around the body inside it. Instead of what an assignment passes on, that is the
  // variable itself, which the body reads or writes when it gets there.
  Output capture(Output tensor) {
    if (tensor.is_ref()) {
      Output variable = variable_behind(tensor);
      if (variable != tensor) wait_for(tensor.node());
      tensor = variable;
    }
    if (!contains(tensors_, tensor)) tensors_.push_back(tensor);
    return tensor;
  }

  void wait_for(Node* node) {
    if (std::find(waits_.begin(), waits_.end(), Operation(node)) == waits_.end()) waits_.emplace_back(node);
  }

  Body* bodies_[2];
  std::vector<Output> tensors_;
  std::vector<Operation> waits_;
};

// Whether running the body does more than compute its results from its parameters.
bool is_stateful(const Body& body) {
  if (!body.targets.empty()) return true;
  return std::any_of(body.nodes.begin(), body.nodes.end(), [&](const Node* node) {
    if (!node->op->pure() || node->op->effect != Effect::None) return true;
    return std::any_of(node->inputs.begin(), node->inputs.end(), [](const Output& input) { return input.is_ref(); });
  });
}

FunctionName function(const Body& body) { return {body.name, {}}; }

template <class T>
void append_to_list(AttrMap& attrs, std::string_view name, T value) {
  std::vector<T> list = attrs.get<std::vector<T>>(name);
  list.push_back(std::move(value));
  attrs.set(name, std::move(list));
}

void append_output(Node& node, DType dtype, const Shape& shape) {
  node.output_types.push_back(dtype);
  node.output_refs.push_back(false);
  node.output_shapes.push_back(shape);
  append_to_list(node.attrs, "output_shapes", shape);
}

}  // namespace

Body& add_body(Graph& graph, std::string_view name, bool is_loop) {
  std::string base(name);
  std::replace(base.begin(), base.end(), '/', '_');  // a function's name has no scopes
  auto body = std::make_unique<Body>();
  body->name = base;
  for (int n = 1; find_body(graph, body->name); ++n) body->name = base + "_" + std::to_string(n);
  Graph::Impl& impl = graph.impl();
  body->outer = impl.scopes.body;
  body->is_loop = is_loop;
  std::lock_guard lock(impl.storage.mutex);
  impl.storage.body_by_name.emplace(body->name, body.get());
  impl.storage.bodies.push_back(std::move(body));
  return *impl.storage.bodies.back();
}

Body* find_body(const Graph& graph, std::string_view name) {
  const auto& bodies = graph.impl().storage.body_by_name;
  auto it = bodies.find(std::string(name));
  return it == bodies.end() ? nullptr : it->second;
}

std::pair<Body*, Body*> bodies_of(const Node& node) {
  auto named = [&](std::string_view attr) {
    const std::string& name = node.attrs.get<FunctionName>(attr).name;
    Body* body = find_body(*node.graph, name);
    if (!body) node.fail(Code::NotFound, fmt::format("the function '{}' is not a part of the graph", name));
    return body;
  };
  if (is_while(*node.op)) return {named("cond"), named("body")};
  return {named("then_branch"), named("else_branch")};
}

const Body* enclosing_loop(const Node& node) {
  const Body* body = node.body;
  while (body && !body->is_loop) body = body->outer;
  return body;
}

void check_readable(const Node& node, const Body* reader, std::string_view name) {
  for (const Body* loop = enclosing_loop(node); loop; loop = loop->outer) {
    if (!loop->is_loop || loop->encloses(reader)) continue;
    bool differentiated = false, in_loop = false;
    for (const Body* body = reader; body; body = body->outer) {
      differentiated |= body->gradient_of == loop;
      in_loop |= body->is_loop;
    }
    if (differentiated) continue;
    if (loop->is_function) {
      throw invalid_argument("Cannot use '{}' as input to '{}' because '{}' is a part of the function '{}'.", node.name,
                             name, node.name, loop->name);
    }
    if (in_loop) {
      throw invalid_argument(
          "Cannot use '{}' as input to '{}' because they are in different while loops. See info log "
          "for more details.",
          node.name, name);
    }
    throw invalid_argument(
        "Cannot use '{}' as input to '{}' because '{}' is in a while loop. See info log for more "
        "details.",
        node.name, name, node.name);
  }
}

Shape common_shape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape shape = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i]) shape.set_dim(i, kUnknown);
  }
  return shape;
}

Body& add_function(Graph& graph, std::string_view name) {
  Body& body = add_body(graph, name, true);
  std::lock_guard lock(graph.impl().storage.mutex);
  body.is_function = true;
  return body;
}

FunctionCaptures finish_function(Graph& graph, Body& body) {
  Captures captures(body, body);
  captures.collect(graph);
  std::lock_guard lock(graph.impl().storage.mutex);
  for (const Output& tensor : captures.tensors()) body.parameters.push_back(tensor);
  return {captures.tensors(), captures.waits()};
}

Operation add_if(Graph& graph, const Output& predicate, Body& then_branch, Body& else_branch, std::string_view name) {
  if (then_branch.results.size() != else_branch.results.size()) {
    throw invalid_argument("the branches give {} and {} results", then_branch.results.size(),
                           else_branch.results.size());
  }
  read_what_is_written(then_branch, else_branch);
  Captures captures(then_branch, else_branch);
  captures.collect(graph);
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < then_branch.results.size(); ++i) {
    const Output &a = then_branch.results[i], &b = else_branch.results[i];
    if (a && b && a.dtype() != b.dtype()) {
      throw invalid_argument("result {} is {} in one branch and {} in the other", i, dtype_name(a.dtype()),
                             dtype_name(b.dtype()));
    }
    types.push_back((a ? a : b).dtype());
    shapes.push_back(common_shape((a ? a : b).shape(), (b ? b : a).shape()));
  }
  std::vector<Output> inputs = {predicate};
  inputs.insert(inputs.end(), captures.tensors().begin(), captures.tensors().end());
  const bool stateful = is_stateful(then_branch) || is_stateful(else_branch);
  Operation op = graph.add({.op = stateful ? "If" : "StatelessIf",
                            .name = std::string(name),
                            .inputs = std::move(inputs),
                            .attrs = {{"Tout", std::move(types)},
                                      {"then_branch", function(then_branch)},
                                      {"else_branch", function(else_branch)},
                                      {"output_shapes", std::move(shapes)}},
                            .control_inputs = captures.waits()});
  std::lock_guard lock(graph.impl().storage.mutex);
  then_branch.parameters = else_branch.parameters = captures.tensors();
  then_branch.gradient_of = else_branch.gradient_of = nullptr;
  return op;
}

Operation add_while(Graph& graph, const std::vector<Output>& initial, Body& condition, Body& body,
                    const WhileNodeOptions& options) {
  if (body.results.size() != initial.size() || body.parameters.size() != initial.size() ||
      condition.parameters.size() != initial.size() || condition.results.size() != 1) {
    throw invalid_argument("a loop over {} variables has a body of {} results", initial.size(), body.results.size());
  }
  read_what_is_written(condition, body);
  Captures captures(condition, body);
  captures.collect(graph);
  std::vector<Output> inputs = initial;
  inputs.insert(inputs.end(), captures.tensors().begin(), captures.tensors().end());
  std::vector<Shape> shapes;
  for (const Output& parameter : body.parameters) shapes.push_back(parameter.shape());
  for (const Output& tensor : captures.tensors()) shapes.push_back(tensor.shape());
  AttrMap attrs{{"cond", function(condition)},
                {"body", function(body)},
                {"output_shapes", std::move(shapes)},
                {"parallel_iterations", options.parallel_iterations}};
  if (!options.back_prop) attrs.set(kNoBackProp, true);
  if (options.is_gradient) attrs.set(kIsLoopGradient, true);
  const bool stateful = is_stateful(condition) || is_stateful(body);
  Operation op = graph.add({.op = stateful ? "While" : "StatelessWhile",
                            .name = std::string(options.name),
                            .inputs = std::move(inputs),
                            .attrs = std::move(attrs),
                            .control_inputs = captures.waits()});
  std::lock_guard lock(graph.impl().storage.mutex);
  for (const Output& tensor : captures.tensors()) {
    condition.parameters.push_back(tensor);
    body.parameters.push_back(tensor);
    body.results.push_back(tensor);
  }
  body.gradient_of = nullptr;
  return op;
}

Output add_if_output(Node& if_node, Body& branch, const Output& result) {
  auto [then_branch, else_branch] = bodies_of(if_node);
  Body& other = &branch == then_branch ? *else_branch : *then_branch;
  auto known = std::find(branch.results.begin(), branch.results.end(), result);
  if (known != branch.results.end()) {
    const auto index = static_cast<size_t>(known - branch.results.begin());
    if (!other.results[index]) return Output(&if_node, static_cast<int>(index));
  }
  std::lock_guard lock(if_node.graph->impl().storage.mutex);
  branch.results.push_back(result);
  other.results.emplace_back();
  append_to_list(if_node.attrs, "Tout", result.dtype());
  append_output(if_node, result.dtype(), result.shape());
  return Output(&if_node, static_cast<int>(if_node.output_types.size()) - 1);
}

Output add_loop_variable(Node& while_node, const Output& initial, std::string_view name) {
  Graph& graph = *while_node.graph;
  auto [condition, body] = bodies_of(while_node);
  auto placeholder = [&](Body& where) {
    BodyScope scope(graph, &where);
    return graph
        .add({.op = "Placeholder",
              .name = std::string(name),
              .attrs = {{"dtype", initial.dtype()}, {"shape", initial.shape()}}})
        .output();
  };
  Output in_condition = placeholder(*condition), in_body = placeholder(*body);
  std::lock_guard lock(graph.impl().storage.mutex);
  while_node.inputs.push_back(initial);
  condition->parameters.push_back(in_condition);
  body->parameters.push_back(in_body);
  body->results.push_back(in_body);
  append_to_list(while_node.attrs, "T", initial.dtype());
  append_output(while_node, initial.dtype(), initial.shape());
  return in_body;
}

void replace_in_body(Body& body, const Output& from, const Output& to) {
  std::lock_guard lock(to.graph().impl().storage.mutex);
  auto replace = [&](std::vector<Output>& list) { std::replace(list.begin(), list.end(), from, to); };
  replace(body.results);
  for_each_node(body, [&](Node& node) {
    replace(node.inputs);
    for (Body* inner : inner_bodies(node)) {
      replace(inner->parameters);
      replace(inner->results);
    }
  });
}

std::vector<Output> reads_between(const Body& reader, const Body& from) {
  std::vector<Output> found;
  std::set<std::pair<const Node*, int>> seen;
  auto look_at = [&](const Output& output) {
    if (output && from.encloses(output.node()->body) && seen.emplace(output.node(), output.index()).second) {
      found.push_back(output);
    }
  };
  for_each_node(reader, [&](const Node& node) {
    for (const Output& input : node.inputs) look_at(input);
  });
  for (const Output& result : reader.results) look_at(result);
  return found;
}

}  // namespace weir
