#pragma once

#include <string>
#include <string_view>

#include "weir/variable_scope.h"

namespace weir::train {

// The operation of an update for a variable of either kind and a gradient of either kind: "ResourceSparseApplyFtrl".
inline std::string apply_name(std::string_view rule, const Variable& variable, bool sparse) {
  return std::string(variable.is_resource() ? "Resource" : "") + (sparse ? "SparseApply" : "Apply") + std::string(rule);
}

// The initial value of a slot as TensorFlow's older optimizers make it: a constant outside of the slot's own scope.
inline Initializer filled_like(const Variable& variable, float value) {
  Scope beside = variable.graph().colocate_with(variable.handle().op());
  return Initializer(In(constant_initializer(value)(variable.graph(), variable.shape(), variable.dtype())));
}

// The slot that a scope of this name holds already, where the enclosing scope shares variables (reuse); empty where it
// makes them.
inline Variable shared_slot(Graph& graph, const VariableScope& scope) {
  if (scope.reuse_mode() == Reuse(false)) return {};
  for (const Variable& variable : graph.global_variables()) {
    if (variable.name() == scope.name()) return variable;
  }
  return {};
}

}  // namespace weir::train
