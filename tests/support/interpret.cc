#include "tests/support/interpret.h"

#include <map>

#include "base/errors.h"
#include "base/thread_pool.h"
#include "graph/node.h"
#include "ops/evaluate.h"

namespace weir::testing {
namespace {

using Key = std::pair<const Node*, int>;

Key key(const Output& output) { return {output.node(), output.index()}; }

// Nodes by order of creation, which is a topological order.
using Needed = std::map<int, const Node*>;

void need(const Node* node, const std::map<Key, Tensor>& values, Needed& needed) {
  if (!needed.emplace(node->id, node).second) return;
  for (const Output& input : node->inputs) {
    if (!values.contains(key(input))) need(input.node(), values, needed);
  }
  for (const Node* control : node->control_inputs) need(control, values, needed);
}

std::vector<Tensor> run_node(const Node& node, const std::map<Key, Tensor>& values, ThreadPool& pool) {
  if (node.op->name == "Const") return {node.attrs.get<Tensor>("value")};
  if (node.op->name == "Placeholder") throw invalid_argument("the placeholder is not fed");
  if (node.op->has_ref_input() || std::count(node.output_refs.begin(), node.output_refs.end(), true)) {
    throw error(Code::Unimplemented, "variables live in sessions only");
  }
  std::vector<Tensor> inputs;
  for (const Output& input : node.inputs) inputs.push_back(values.at(key(input)));
  return run_kernel(NodeView(*node.op, node.attrs, node.name), inputs, node.output_types, pool);
}

}  // namespace

std::vector<Tensor> interpret(const std::vector<Output>& fetches, const FeedList& feeds) {
  std::map<Key, Tensor> values;
  for (const auto& [output, value] : feeds) values[key(output)] = value;
  Needed needed;
  for (const Output& fetch : fetches) {
    if (!values.contains(key(fetch))) need(fetch.node(), values, needed);
  }
  ThreadPool pool(2);
  for (const auto& [id, node] : needed) {
    try {
      std::vector<Tensor> outputs = run_node(*node, values, pool);
      for (size_t i = 0; i < outputs.size(); ++i) values.emplace(Key{node, static_cast<int>(i)}, outputs[i]);
    } catch (const Error& e) {
      if (!e.node().empty()) throw;
      node->fail(e.code(), e.message());
    }
  }
  std::vector<Tensor> results;
  for (const Output& fetch : fetches) results.push_back(values.at(key(fetch)));
  return results;
}

}  // namespace weir::testing
