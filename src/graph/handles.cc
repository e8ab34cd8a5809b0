#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/node.h"
#include "weir/graph.h"

namespace weir {

Scope::Scope(std::string name, std::function<void()> leave) : name_(std::move(name)), leave_(std::move(leave)) {}
Scope::Scope(Scope&& other) noexcept : name_(std::move(other.name_)), leave_(std::exchange(other.leave_, nullptr)) {}
Scope::~Scope() {
  if (leave_) leave_();
}

Graph& Operation::graph() const { return *node_->graph; }
const std::string& Operation::name() const { return node_->name; }
const std::string& Operation::type() const { return node_->op->name; }
const std::string& Operation::device() const { return node_->device; }
const AttrMap& Operation::attrs() const { return node_->attrs; }
const SourceLine& Operation::line() const { return node_->line; }
int Operation::inputs() const { return static_cast<int>(node_->inputs.size()); }
int Operation::outputs() const { return static_cast<int>(node_->output_types.size()); }

Output Operation::input(int index) const {
  if (index < 0 || index >= inputs()) {
    node_->fail(Code::OutOfRange, fmt::format("input {} is asked for; there are {}", index, inputs()));
  }
  return node_->inputs[static_cast<size_t>(index)];
}

std::vector<Operation> Operation::control_inputs() const {
  std::vector<Operation> all;
  for (Node* control : node_->control_inputs) all.emplace_back(control);
  return all;
}

Output Operation::output(int index) const {
  if (index < 0 || index >= outputs()) {
    node_->fail(Code::OutOfRange, fmt::format("output {} is asked for; there are {}", index, outputs()));
  }
  return Output(node_, index);
}

Graph& Output::graph() const { return *node_->graph; }
std::string Output::name() const { return node_->name + ":" + std::to_string(index_); }
DType Output::dtype() const { return node_->output_types[static_cast<size_t>(index_)]; }
bool Output::is_ref() const { return node_->output_refs[static_cast<size_t>(index_)]; }
const Shape& Output::shape() const { return node_->output_shapes[static_cast<size_t>(index_)]; }

void Output::set_shape(const Shape& shape) const {
  std::lock_guard lock(node_->graph->impl().storage.mutex);
  Shape& current = node_->output_shapes[static_cast<size_t>(index_)];
  try {
    current = current.merged(shape);
  } catch (const Error& e) {
    node_->fail(e.code(), e.message());
  }
}

Variable::Variable(Output handle, Output value, Operation initializer, Output initial_value)
    : handle_(handle), value_(value), initializer_(initializer), initial_value_(initial_value) {}

bool Variable::is_resource() const { return !handle_.is_ref(); }
const std::string& Variable::name() const { return handle_.node()->name; }
DType Variable::dtype() const { return handle_.node()->attrs.get<DType>("dtype"); }
const Shape& Variable::shape() const { return value_.shape(); }

}  // namespace weir
