#include "passes/refit.h"

#include <algorithm>
#include <cstring>

#include "ops/evaluate.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// Constants that grow with the feeds belong into the run.
constexpr size_t kMaxBytes = 64 << 10;

bool equal_elements(const Tensor& a, const Tensor& b) {
  if (a.valid() != b.valid()) return false;
  if (!a.valid()) return true;
  return a.dtype() == b.dtype() && a.shape() == b.shape() && is_plain(a.dtype()) &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

Refit::Refit(std::shared_ptr<const Ir> ir) : ir_(std::move(ir)) {
  std::vector<char> entered(ir_->nodes.size(), false);
  std::vector<std::pair<int, bool>> stack;
  auto need = [&](int root) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      auto [id, ready] = stack.back();
      stack.pop_back();
      if (ready) {
        order_.push_back(id);
        continue;
      }
      if (!(*ir_)[id].varies || entered[static_cast<size_t>(id)]) continue;
      entered[static_cast<size_t>(id)] = true;
      stack.emplace_back(id, true);
      for (const IrEdge& source : sources((*ir_)[id])) stack.emplace_back(source.node, false);
    }
  };
  for (int i = 0; i < ir_->size(); ++i) {
    if (!(*ir_)[i].dead) need(i);
  }
  for (const auto* pairs : {&ir_->equal_shapes, &ir_->equal_values}) {
    for (const auto& [a, b] : *pairs) {
      need(a.node);
      need(b.node);
    }
  }
}

std::unique_ptr<Refit::Facts> Refit::run(std::span<const Shape* const> feeds, ThreadPool& pool) const {
  auto facts = std::make_unique<Facts>();
  facts->ir_ = ir_.get();
  facts->first_.assign(ir_->nodes.size(), -1);
  facts->changed_.reserve(order_.size() + order_.size() / 2);
  InputFacts inputs;
  for (int id : order_) {
    const IrNode& node = (*ir_)[id];
    if (node.is_feed()) {
      const Shape& shape = *feeds[static_cast<size_t>(node.feed)];
      if (shape == node.shapes[0]) continue;
      if (shape.rank() != node.shapes[0].rank() || node.values[0].valid()) return nullptr;
      if (!shape.compatible(ir_->declared[static_cast<size_t>(node.feed)])) return nullptr;
      facts->first_[static_cast<size_t>(id)] = static_cast<int>(facts->changed_.size());
      facts->changed_.push_back({shape});
      continue;
    }
    bool differs = false;
    for (const IrEdge& source : sources(node)) differs = differs || facts->differs(source);
    if (differs && !infer(node, id, *facts, pool, inputs)) return nullptr;
  }
  return holds(*facts) ? std::move(facts) : nullptr;
}

bool Refit::infer(const IrNode& node, int id, Facts& facts, ThreadPool& pool, InputFacts& inputs) const {
  if (node.flow) return false;  // its bodies have plans of their own
  const std::vector<IrEdge>& from = sources(node);
  inputs.shapes.clear();
  inputs.values.clear();
  for (const IrEdge& source : from) {
    inputs.shapes.push_back(&facts.shape(source));
    inputs.values.push_back(&facts.value(source));
  }
  std::vector<Shape> shapes;
  std::vector<Tensor> values;
  const bool has_values =
      std::any_of(node.values.begin(), node.values.end(), [](const Tensor& t) { return t.valid(); });
  try {
    OutputFacts outputs = infer_outputs(*ir_, node, inputs);
    // Readers of a list have not noted what they rely on.
    if (outputs.elements != node.elements || !outputs.values.empty()) return false;
    shapes = std::move(outputs.shapes);
    if (has_values) {
      values.resize(node.types.size());
      if (!infer_shape_values(node, inputs, values)) {
        std::vector<Tensor> operands;
        for (const Tensor* value : inputs.values) operands.push_back(*value);
        values = run_kernel(NodeView(*node.op, node.attrs, node.name), operands, node.types, pool);
      }
    }
  } catch (const Error&) {
    return false;
  }
  bool differs = false;
  for (size_t o = 0; o < shapes.size(); ++o) {
    const Shape& before = node.shapes[o];
    if (shapes[o].rank() != before.rank()) return false;
    differs = differs || shapes[o] != before;
    for (int i = 0; i < before.rank(); ++i) {
      if ((shapes[o].dims()[static_cast<size_t>(i)] < 0) != (before.dims()[static_cast<size_t>(i)] < 0)) return false;
    }
    if (!has_values) continue;
    if (values[o].valid() != node.values[o].valid()) return false;
    if (!values[o].valid()) continue;
    if (values[o].bytes() > std::max(kMaxBytes, node.values[o].bytes())) return false;
    differs = differs || !equal_elements(values[o], node.values[o]);
  }
  if (!differs) return true;
  facts.first_[static_cast<size_t>(id)] = static_cast<int>(facts.changed_.size());
  for (size_t o = 0; o < shapes.size(); ++o) {
    int value = -1;
    if (has_values && values[o].valid()) {
      value = static_cast<int>(facts.values_.size());
      facts.values_.push_back(std::move(values[o]));
    }
    facts.changed_.push_back({std::move(shapes[o]), value});
  }
  return true;
}

bool Refit::holds(const Facts& facts) const {
  for (const auto& [a, b] : ir_->equal_shapes) {
    if ((facts.differs(a) || facts.differs(b)) && facts.shape(a) != facts.shape(b)) return false;
  }
  for (const auto& [a, b] : ir_->equal_values) {
    if ((facts.differs(a) || facts.differs(b)) && !equal_elements(facts.value(a), facts.value(b))) return false;
  }
  return true;
}

}  // namespace weir
