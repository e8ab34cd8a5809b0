#pragma once

#include <functional>

#include "weir/graph.h"

namespace weir {

// Makes a variable with TensorFlow's nodes: `name` (made unique, or taken as it is when it ends in '/'), its initial
// value, Assign and read. `initial_value` is called inside the variable's name scope; with `in_initializer`, inside
// "<name>/Initializer" and so that its nodes stand beside the variable.
Variable make_variable(Graph& graph, std::string_view name, bool in_initializer,
                       const std::function<Output()>& initial_value, const VariableOptions& options);

}  // namespace weir
