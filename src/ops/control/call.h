#pragma once

#include <vector>

#include "ops/function_runner.h"
#include "ops/kernel.h"

namespace weir::ops {

// The functions that a node calls. What their operations keep between calls (where a random operation stands) belongs
// to the node and outlives plans, as in TensorFlow, where a node makes an instance of its function once.
class NodeFunctions final : public Resource {
 public:
  explicit NodeFunctions(std::shared_ptr<GraphFunctions> functions) : functions_(std::move(functions)) {}
  std::string describe() const override { return "the functions of a node"; }
  GraphFunctions& operator*() const { return *functions_; }
  GraphFunctions* operator->() const { return functions_.get(); }

 private:
  std::shared_ptr<GraphFunctions> functions_;
};
struct CallState {
  ResourcePtr<NodeFunctions> functions;
};
CallState prepare_call(PrepareContext& c);

// The inputs [first, first + count) as arguments; handles too.
std::vector<Tensor> call_arguments(const KernelContext& c, int first, int count);
// Calls a function and gives its results as the node's outputs. Throws InvalidArgument when they are others than the
// signature promises.
void call_function(KernelContext& c, GraphFunction& function, std::span<const Tensor> arguments);

}  // namespace weir::ops
