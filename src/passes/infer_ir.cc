#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "ops/evaluate.h"
#include "passes/ir.h"
#include "tensor/elements.h"

namespace weir {
namespace {

constexpr size_t kMaxElementBytes = 256;  // of values of lists' elements that are followed: shapes
constexpr int64_t kMaxElements = 1024;    // of values that are worked out only because shapes may depend on them

class InputValues final : public InferContext::Values {
 public:
  InputValues(const Ir& ir, const IrNode& node, const InputFacts& inputs) : ir_(ir), node_(node), inputs_(inputs) {}
  Tensor value(int input) override { return *inputs_.values[static_cast<size_t>(input)]; }
  Shape value_as_shape(int input) override {
    const Tensor& t = *inputs_.values[static_cast<size_t>(input)];
    return t.valid() ? values_as_shape(t) : shape_of_length(*inputs_.shapes[static_cast<size_t>(input)]);
  }
  Shape handle_shape(int input) override {
    const IrNode* handle = &ir_[sources(node_)[static_cast<size_t>(input)].node];
    while (handle->op->role == Role::Identity && !handle->is_feed()) handle = &ir_[handle->inputs[0].node];
    return handle->op->role == Role::Variable ? handle->attrs.get<Shape>("shape") : Shape::unknown();
  }

  Elements elements(int input) override {
    const IrEdge& edge = sources(node_)[static_cast<size_t>(input)];
    const std::vector<Elements>& known = ir_[edge.node].elements;
    return known.empty() ? Elements() : known[static_cast<size_t>(edge.output)];
  }
  Elements as_element(int input, const Shape& shape) override {
    const Tensor& value = *inputs_.values[static_cast<size_t>(input)];
    const bool small = value.valid() && is_plain(value.dtype()) && value.bytes() <= kMaxElementBytes;
    return {.shape = shape, .value = small ? value : Tensor()};
  }

 private:
  const Ir& ir_;
  const IrNode& node_;
  const InputFacts& inputs_;
};

// Small integer arithmetic on known values: what shapes, axes and slices are computed with.
void infer_small_values(const Ir& ir, IrNode& node, ThreadPool& pool) {
  if (!node.op->pure() || node.inputs.empty() || node.types.empty() || !node.control.empty()) return;
  if (!are_small(node.shapes, kMaxElements)) return;
  for (DType type : node.types) {
    if (type != DType::Int32 && type != DType::Int64 && type != DType::Bool) return;
  }
  std::vector<Tensor> inputs;
  for (const IrEdge& input : node.inputs) {
    inputs.push_back(ir[input.node].values[static_cast<size_t>(input.output)]);
    if (!inputs.back().valid()) return;
  }
  std::vector<Tensor> values = small_values({.node = NodeView(*node.op, node.attrs, node.name),
                                             .inputs = inputs,
                                             .types = node.types,
                                             .shapes = node.shapes,
                                             .limit = kMaxElements},
                                            pool);
  if (!values.empty()) node.values = std::move(values);
}

// Throws the error of an assertion whose inputs are all known; returns when it holds or is not known to fail.
void run_assertion(const Ir& ir, const IrNode& node, ThreadPool& pool) {
  std::vector<Tensor> inputs;
  for (const IrEdge& input : node.inputs) {
    inputs.push_back(ir[input.node].values[static_cast<size_t>(input.output)]);
    if (!inputs.back().valid()) return;
  }
  try {
    run_kernel(NodeView(*node.op, node.attrs, node.name), inputs, node.types, pool);
  } catch (const Error& e) {
    node.origin->fail(e.code(), e.message());
  }
}

bool is_old_variable(const IrNode& node) {
  return node.op->role == Role::Variable && !node.is_feed() && node.types[0] != DType::Resource;
}

// The variables to which some assignment of the graph gives another shape than theirs.
std::unordered_set<const Node*> reshaped_variables(const Ir& ir) {
  std::unordered_set<const Node*> reshaped;
  auto variable = std::ranges::find_if(ir.nodes, is_old_variable);
  if (variable == ir.nodes.end()) return reshaped;
  const GraphStorage& storage = variable->origin->graph->impl().storage;
  std::lock_guard lock(storage.mutex);
  for (const auto& node : storage.nodes) {
    if (node->op->effect != Effect::Writes) continue;
    const AttrValue* validates = node->attrs.find("validate_shape");  // assignments have it
    if (!validates || std::get<bool>(*validates)) continue;
    const Shape &old = node->inputs[0].shape(), &value = node->inputs[1].shape();
    if (!value.is_known() || value != old) reshaped.insert(node->inputs[0].node());
  }
  return reshaped;
}

}  // namespace

const std::vector<IrEdge>& sources(const IrNode& node) { return node.recipe.empty() ? node.inputs : node.recipe; }

OutputFacts infer_outputs(const Ir& ir, const IrNode& node, const InputFacts& inputs) {
  InputValues values(ir, node, inputs);
  InferContext c(*node.op, node.attrs, inputs.shapes, node.types.size(), values);
  if (node.op->def->infer) node.op->def->infer(c);
  OutputFacts facts{c.take_outputs(), c.take_elements(), c.take_values()};
  const int alias = node.op->def->alias;
  if (alias >= 0 && node.types[0] == DType::Variant) facts.elements = {values.elements(alias)};
  return facts;
}

bool infer_shape_values(const IrNode& node, const InputFacts& inputs, std::vector<Tensor>& values) {
  const auto from_shape = node.op->def->from_shape;
  if (!from_shape) return false;
  for (size_t i = 0; i < inputs.shapes.size(); ++i) values[i] = from_shape(*inputs.shapes[i], node.types[i]);
  return true;
}

void infer_ir(Ir& ir, PassContext& context) {
  std::vector<const IrNode*> assertions;  // that were met on the way
  const std::unordered_set<const Node*> reshaped = reshaped_variables(ir);
  InputFacts inputs;
  for (int id : ir.topological_order()) {
    IrNode& node = ir[id];
    if (node.is_feed()) continue;
    if (node.op->role == Role::Constant) {
      node.values[0] = node.attrs.get<Tensor>("value");
      node.shapes[0] = node.values[0].shape();
      continue;
    }
    inputs.shapes.clear();
    inputs.values.clear();
    for (const IrEdge& input : node.inputs) {
      inputs.shapes.push_back(&ir.shape(input));
      inputs.values.push_back(&ir[input.node].values[static_cast<size_t>(input.output)]);
      node.varies = node.varies || ir[input.node].varies;
    }
    if (node.flow) {
      infer_flow(ir, node, context);
      continue;
    }
    try {
      // What the program merely declared (set_shape) does not count here: memory is laid out by these shapes.
      OutputFacts facts = infer_outputs(ir, node, inputs);
      node.shapes = std::move(facts.shapes);
      node.elements = std::move(facts.elements);
      if (!facts.values.empty()) node.values = std::move(facts.values);
      if (is_old_variable(node) && reshaped.contains(node.origin)) node.shapes[0] = Shape::unknown();
    } catch (const Error& e) {
      // An assertion about the shapes says it in the program's own words.
      for (const IrNode* assertion : assertions) run_assertion(ir, *assertion, context.pool);
      if (!e.node().empty()) throw;
      node.origin->fail(e.code(), e.message());
    }
    if (node.op->effect == Effect::Checks) assertions.push_back(&node);
    if (!infer_shape_values(node, inputs, node.values)) infer_small_values(ir, node, context.pool);
  }
}

}  // namespace weir
