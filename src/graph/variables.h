#pragma once

#include <functional>

#include "weir/graph.h"

namespace weir {

// Makes a variable with TensorFlow's nodes: `name` (made unique, or taken as it is when it ends in '/'), its initial
// value, Assign and read. `initial_value` is called inside the variable's name scope; with `in_initializer`, inside
// "<name>/Initializer" and so that its nodes stand beside the variable. The read stands on `caching_device`, where one
// is named, else beside the variable. A collection without a name is none: {""} keeps a variable out of all but the
// trainable ones.
Variable make_variable(Graph& graph, std::string_view name, bool in_initializer,
                       const std::function<Output()>& initial_value, const VariableOptions& options,
                       const std::string& caching_device = {});
Variable make_variable(Graph& graph, std::string_view name, const In& initial_value, const VariableOptions& options,
                       const std::string& caching_device = {});

// What the variable's name stands for where a node is made now: the cached read, or, of a resource variable inside a
// scope of control dependencies, a read that waits for them as the node does.
Output value_here(const Variable& variable);

}  // namespace weir
