#include <algorithm>

#include "ops/evaluate.h"
#include "passes/ir.h"

namespace weir {
namespace {

// Results may not make the plan much larger than what it is computed from: a Fill of a million zeros stays a Fill.
constexpr int64_t kMaxBytes = 64 << 10;

bool small_enough(const Ir& ir, const IrNode& node) {
  int64_t input_bytes = 0, output_bytes = 0;
  for (const IrEdge& input : node.inputs) {
    input_bytes += static_cast<int64_t>(ir[input.node].values[static_cast<size_t>(input.output)].bytes());
  }
  for (size_t i = 0; i < node.shapes.size(); ++i) {
    if (!node.shapes[i].is_known()) return false;
    output_bytes += node.shapes[i].elements() * static_cast<int64_t>(dtype_size(node.types[i]));
  }
  return output_bytes <= std::max(kMaxBytes, input_bytes);
}

}  // namespace

void fold_constants(Ir& ir, PassContext& context) {
  for (int id : ir.topological_order()) {
    IrNode& node = ir[id];
    if (node.is_feed() || node.types.empty()) continue;
    bool known_inputs =
        !node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& e) {
          return ir[e.node].values[static_cast<size_t>(e.output)].valid();
        });
    if (!node.is_constant() && node.op->pure() && known_inputs && small_enough(ir, node)) {
      std::vector<Tensor> inputs;
      for (const IrEdge& e : node.inputs) inputs.push_back(ir[e.node].values[static_cast<size_t>(e.output)]);
      try {
        node.values = run_kernel(NodeView(*node.op, node.attrs, node.name), inputs, node.types, context.pool);
      } catch (const Error&) {
        continue;  // no kernel, or it fails: the run will say so, with the node's name
      }
    }
    // What is known needs its inputs no more. Control inputs, also those of the inputs, stay: readers wait for them.
    if (node.is_constant()) {
      for (const IrEdge& input : node.inputs) {
        for (int before : ir[input.node].is_constant() ? ir[input.node].control : std::vector<int>()) {
          if (std::find(node.control.begin(), node.control.end(), before) == node.control.end()) {
            node.control.push_back(before);
          }
        }
      }
      if (node.varies) node.recipe = std::move(node.inputs);
      node.inputs.clear();
    }
  }
  ir.sweep();
}

}  // namespace weir
