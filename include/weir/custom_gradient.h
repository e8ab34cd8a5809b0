#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/gradients.h"
#include "weir/graph.h"

// Gradients that a program defines itself.
namespace weir {

// The gradients of a node's inputs, in order, from those of its outputs: zeros where none came, empty where the type
// has none (integers, strings). The nodes that it makes stand in the scope "<node>_grad".
using GradientFunction =
    std::function<std::vector<Gradient>(const Operation& op, const std::vector<Output>& output_grads)>;

// From now on gradients() asks this function for nodes of this type: an operation, whose own rule it replaces in this
// graph, or a name that a GradientOverride gives. gradients() throws InvalidArgument when the function gives another
// number of gradients than the node has inputs, and lets through what the function throws.
WEIR_API void set_gradient(Graph& graph, const std::string& type, GradientFunction function);

// While it lives, new nodes of the operations {operation: type} are differentiated as nodes of that type: one that
// set_gradient() knows by the time of gradients(), or another operation. The innermost override counts.
class WEIR_API GradientOverride {
 public:
  GradientOverride(Graph& graph, const std::map<std::string, std::string>& types);
  ~GradientOverride();
  GradientOverride(const GradientOverride&) = delete;
  GradientOverride& operator=(const GradientOverride&) = delete;

 private:
  Graph& graph_;
  std::map<std::string, std::string> saved_;
};

}  // namespace weir
