#include <algorithm>
#include <cstring>
#include <exception>

#include "base/errors.h"
#include "graph/bodies.h"
#include "passes/ir.h"

namespace weir {
namespace {

std::vector<FeedSpec> specs_of_inputs(const Ir& ir, const IrNode& node, size_t first) {
  std::vector<FeedSpec> specs;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const IrEdge& edge = node.inputs[i];
    const IrNode& source = ir[edge.node];
    specs.push_back({ir.type(edge), ir.shape(edge), source.values[static_cast<size_t>(edge.output)]});
    if (!source.elements.empty()) specs.back().elements = source.elements[static_cast<size_t>(edge.output)];
  }
  return specs;
}

struct Inferred {
  Shape shape = Shape::unknown();
  Tensor value;
  Elements elements;
};

// One for every result; nothing is known of those that are empty.
std::vector<Inferred> infer_body(const FlowBody& body, std::span<const FeedSpec> feeds, PassContext& context) {
  std::vector<Output> fetches;
  for (const Output& result : body.results) {
    if (result) fetches.push_back(result);
  }
  Ir ir = build_ir({fetches, body.parameters, feeds, body.targets, body.body});
  std::vector<Inferred> results(body.results.size());
  if (ir.is_dataflow) return results;
  infer_ir(ir, context);
  size_t next = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!body.results[i]) continue;
    const IrEdge& edge = ir.fetches[next++];
    const IrNode& source = ir[edge.node];
    results[i] = {ir.shape(edge), source.values[static_cast<size_t>(edge.output)], {}};
    if (!source.elements.empty()) results[i].elements = source.elements[static_cast<size_t>(edge.output)];
  }
  return results;
}

// The same of a branch that a run may take or not. What cannot be run with these shapes is no error unless it is taken:
// `failed`, and nothing is known of the results.
struct InferredBranch {
  std::vector<Inferred> results;
  std::exception_ptr failed;

  InferredBranch(const FlowBody& body, std::span<const FeedSpec> feeds, PassContext& context) {
    try {
      results = infer_body(body, feeds, context);
    } catch (const Error&) {
      failed = std::current_exception();
      results.resize(body.results.size());
    }
  }
};

void infer_if(Ir& ir, IrNode& node, PassContext& context) {
  Flow& flow = *node.flow;
  const IrEdge& predicate = node.inputs[0];
  if (const Tensor& value = ir[predicate.node].values[static_cast<size_t>(predicate.output)]; value.valid()) {
    flow.selected = is_true(flow, value.dtype(), value.shape(), value.raw()) ? 0 : 1;
  }
  std::vector<FeedSpec> feeds = specs_of_inputs(ir, node, 1);
  node.elements.resize(node.types.size());
  if (flow.selected >= 0) {
    std::vector<Inferred> results = infer_body(flow.bodies[flow.selected], feeds, context);
    for (size_t i = 0; i < results.size(); ++i) {
      node.shapes[i] = results[i].shape;
      node.elements[i] = results[i].elements;
      if (node.op->pure()) node.values[i] = results[i].value;
    }
    return;
  }
  const InferredBranch first(flow.bodies[0], feeds, context), second(flow.bodies[1], feeds, context);
  if (first.failed && second.failed) std::rethrow_exception(first.failed);
  const std::vector<Inferred>&a = first.results, &b = second.results;
  for (size_t i = 0; i < a.size(); ++i) {
    if (flow.bodies[0].results[i] && flow.bodies[1].results[i]) {
      if (first.failed || second.failed) {
        node.shapes[i] = first.failed ? b[i].shape : a[i].shape;
        continue;
      }
      node.shapes[i] = common_shape(a[i].shape, b[i].shape);
      node.elements[i] = Elements::of_either(a[i].elements, b[i].elements);
      continue;
    }
    // Only who knows that this branch ran reads it.
    const Inferred& only = flow.bodies[0].results[i] ? a[i] : b[i];
    node.shapes[i] = only.shape;
    node.elements[i] = only.elements;
    if (node.op->pure()) node.values[i] = only.value;
  }
}

// The parameters that some of a body's results depend on.
std::vector<bool> needed_parameters(const FlowBody& body, const std::vector<Output>& results) {
  std::vector<bool> needed(body.parameters.size(), false);
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> todo;
  auto look_at = [&](const Output& output) {
    auto parameter = std::find(body.parameters.begin(), body.parameters.end(), output);
    if (parameter != body.parameters.end()) {
      needed[static_cast<size_t>(parameter - body.parameters.begin())] = true;
    } else if (seen.insert(output.node()).second) {
      todo.push_back(output.node());
    }
  };
  auto wait_for = [&](const Node* node) {
    if (body.body->encloses(node->body) && seen.insert(node).second) todo.push_back(node);
  };
  // Tensors of the body itself that it is given: its nodes may wait for their nodes, or bodies inside it be theirs.
  for (size_t i = 0; i < body.parameters.size(); ++i) {
    const Node& node = *body.parameters[i].node();
    needed[i] = node.op->role != Role::Placeholder && body.body->encloses(node.body);
  }
  for (const Output& result : results) {
    if (result) look_at(result);
  }
  for (const Operation& target : body.targets) wait_for(target.node());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Output& input : node->inputs) look_at(input);
    for (const Node* control : node->control_inputs) wait_for(control);
  }
  return needed;
}

template <class T>
void keep(std::vector<T>& list, const std::vector<bool>& kept, size_t first = 0) {
  size_t to = first;
  for (size_t i = first; i < list.size(); ++i) {
    if (kept[i - first]) list[to++] = list[i];
  }
  list.resize(to);
}

void prune_if(IrNode& node, const std::vector<bool>& read) {
  Flow& flow = *node.flow;
  std::vector<bool> needed(node.inputs.size() - 1, false);
  for (int b = 0; b < 2; ++b) {
    FlowBody& body = flow.bodies[b];
    for (size_t i = 0; i < body.results.size(); ++i) {
      if (!read[i]) body.results[i] = Output();
    }
    if (flow.selected >= 0 && flow.selected != b) continue;
    std::vector<bool> by_body = needed_parameters(body, body.results);
    for (size_t i = 0; i < needed.size(); ++i) needed[i] = needed[i] || by_body[i];
  }
  keep(node.inputs, needed, 1);
  for (FlowBody& body : flow.bodies) keep(body.parameters, needed);
}

void prune_while(IrNode& node, const std::vector<bool>& read) {
  Flow& flow = *node.flow;
  FlowBody &condition = flow.bodies[0], &body = flow.bodies[1];
  std::vector<bool> needed = needed_parameters(condition, condition.results);
  for (size_t i = 0; i < needed.size(); ++i) {
    needed[i] = needed[i] || read[static_cast<size_t>(flow.outputs[i])];
  }
  for (bool grew = true; grew;) {
    std::vector<Output> results;
    for (size_t i = 0; i < needed.size(); ++i) results.push_back(needed[i] ? body.results[i] : Output());
    std::vector<bool> by_body = needed_parameters(body, results);
    grew = false;
    for (size_t i = 0; i < needed.size(); ++i) {
      grew |= by_body[i] && !needed[i];
      needed[i] = needed[i] || by_body[i];
    }
  }
  keep(node.inputs, needed);
  keep(condition.parameters, needed);
  keep(body.parameters, needed);
  keep(body.results, needed);
  keep(flow.outputs, needed);
  keep(flow.invariants, needed);
}

}  // namespace

bool is_true(const Flow& flow, DType dtype, const Shape& shape, const void* data) {
  if (flow.scalar && !shape.is_scalar()) {
    throw invalid_argument("The second input must be a scalar, but it has shape {}", shape.str());
  }
  if (!shape.is_scalar()) return shape.elements() > 0;
  if (dtype == DType::String) return !static_cast<const std::string*>(data)->empty();
  if (dtype == DType::Float32) return *static_cast<const float*>(data) != 0;
  if (dtype == DType::Float64) return *static_cast<const double*>(data) != 0;
  static constexpr char kZero[16] = {};
  return std::memcmp(data, kZero, dtype_size(dtype)) != 0;
}

std::vector<FeedSpec> loop_invariants(const Flow& flow, std::vector<FeedSpec> first, PassContext& context) {
  const FlowBody& body = flow.bodies[1];
  std::vector<FeedSpec> specs = std::move(first);
  for (size_t i = 0; i < specs.size(); ++i) {
    specs[i].invariant = body.results[i] == body.parameters[i];
    if (!specs[i].invariant) specs[i].value = Tensor();
  }
  // Every round forgets at least one size, or finds the first element of a list, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Inferred> results = infer_body(body, specs, context);
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].invariant) continue;
      Shape common = common_shape(specs[i].shape, results[i].shape);
      Elements elements = Elements::of_either(specs[i].elements, results[i].elements);
      if (common == specs[i].shape && elements == specs[i].elements) continue;
      specs[i].shape = std::move(common);
      specs[i].elements = std::move(elements);
      changed = true;
    }
  }
  return specs;
}

void infer_flow(Ir& ir, IrNode& node, PassContext& context) {
  if (!node.flow->is_loop) {
    infer_if(ir, node, context);
    return;
  }
  std::vector<FeedSpec>& specs = node.flow->invariants;
  specs = loop_invariants(*node.flow, specs_of_inputs(ir, node, 0), context);
  node.elements.resize(node.types.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto output = static_cast<size_t>(node.flow->outputs[i]);
    node.shapes[output] = specs[i].shape;
    node.elements[output] = specs[i].elements;
    if (node.op->pure()) node.values[output] = specs[i].value;
  }
}

void prune_flow(Ir& ir) {
  std::vector<bool> needed(ir.nodes.size(), false);
  std::vector<std::vector<bool>> read(ir.nodes.size());  // of each output
  auto read_edge = [&](const IrEdge& edge) {
    auto at = static_cast<size_t>(edge.node);
    needed[at] = true;
    read[at].resize(ir[edge.node].types.size(), false);
    read[at][static_cast<size_t>(edge.output)] = true;
  };
  for (const IrEdge& fetch : ir.fetches) read_edge(fetch);
  // Who waits for control flow as such waits for the effects of all its results.
  auto wait_for = [&](int id) {
    auto at = static_cast<size_t>(id);
    needed[at] = true;
    if (ir[id].flow && !ir[id].op->pure()) read[at].assign(ir[id].types.size(), true);
  };
  for (int target : ir.targets) wait_for(target);
  std::vector<int> order = ir.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    IrNode& node = ir[*it];
    auto at = static_cast<size_t>(*it);
    if (!needed[at]) continue;
    if (node.flow && !node.is_constant()) {
      read[at].resize(node.types.size(), false);
      std::lock_guard lock(node.origin->graph->impl().storage.mutex);  // nodes of a body may gain inputs meanwhile
      (node.flow->is_loop ? prune_while : prune_if)(node, read[at]);
    }
    for (const IrEdge& input : node.inputs) read_edge(input);
    for (int control : node.control) wait_for(control);
  }
  ir.sweep();
}

}  // namespace weir
