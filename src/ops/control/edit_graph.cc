#include "weir/edit_graph.h"

#include <algorithm>
#include <unordered_set>

#include "base/errors.h"
#include "graph/bodies.h"
#include "graph/graph_impl.h"
#include "graph/node.h"
#include "ops/control/dataflow.h"

namespace weir {
namespace {

bool leads_back(const Node& node) { return ops::dataflow_kind(*node.op) == ops::DataflowKind::NextIteration; }

// Whether `from` needs `node`, other than by way of an iteration before.
bool needs(const Node& from, const Node& node) {
  std::unordered_set<const Node*> seen = {&from};
  std::vector<const Node*> todo = {&from};
  while (!todo.empty()) {
    const Node* at = todo.back();
    todo.pop_back();
    if (at == &node) return true;
    if (leads_back(*at)) continue;
    auto visit = [&](const Node* before) {
      if (seen.insert(before).second) todo.push_back(before);
    };
    for (const Output& input : at->inputs) visit(input.node());
    for (const Node* control : at->control_inputs) visit(control);
  }
  return false;
}

Node& node_of(const Operation& operation, const Node* other) {
  if (!operation || !other) throw invalid_argument("an operation or tensor is an empty handle");
  Node& node = *operation.node();
  node.graph->impl().check_not_finalized();
  if (other->graph != node.graph) node.fail(Code::InvalidArgument, "an input belongs to another graph");
  return node;
}

}  // namespace

void update_input(const Operation& operation, int index, const Output& tensor) {
  Node& node = node_of(operation, tensor.node());
  if (index < 0 || static_cast<size_t>(index) >= node.inputs.size()) {
    node.fail(Code::OutOfRange, fmt::format("there is no input {}; there are {}", index, node.inputs.size()));
  }
  Output& input = node.inputs[static_cast<size_t>(index)];
  const std::vector<FlatArg> args = flatten_args(node.op->inputs, node.attrs);
  const bool by_ref = args[static_cast<size_t>(index)].spec->is_ref;
  if (tensor.dtype() != input.dtype() || (by_ref && !tensor.is_ref())) {
    node.fail(Code::InvalidArgument, fmt::format("input {} is {}; '{}' is {}", index, dtype_name(input.dtype()),
                                                 tensor.name(), dtype_name(tensor.dtype())));
  }
  if (is_if(*node.op) || is_while(*node.op)) {
    node.fail(Code::Unimplemented, "inputs of an If or While are what its branches read; they cannot be changed");
  }
  check_readable(*tensor.node(), node.body, node.name);
  if (needs(*tensor.node(), node)) {
    node.fail(Code::InvalidArgument,
              fmt::format("with '{}' as input {} the node would depend on itself", tensor.name(), index));
  }
  std::lock_guard lock(node.graph->impl().storage.mutex);
  input = tensor;
}

void add_control_input(const Operation& operation, const Operation& before) {
  Node& node = node_of(operation, before.node());
  Node* other = before.node();
  check_readable(*other, node.body, node.name);
  if (needs(*other, node)) {
    node.fail(Code::InvalidArgument, fmt::format("after '{}' the node would depend on itself", other->name));
  }
  std::lock_guard lock(node.graph->impl().storage.mutex);
  if (std::find(node.control_inputs.begin(), node.control_inputs.end(), other) == node.control_inputs.end()) {
    node.control_inputs.push_back(other);
  }
}

void remove_control_input(const Operation& operation, const Operation& before) {
  Node& node = node_of(operation, before.node());
  std::lock_guard lock(node.graph->impl().storage.mutex);
  const auto found = std::find(node.control_inputs.begin(), node.control_inputs.end(), before.node());
  if (found == node.control_inputs.end()) {
    node.fail(Code::InvalidArgument, fmt::format("'{}' is no control input", before.node()->name));
  }
  node.control_inputs.erase(found);
}

}  // namespace weir
