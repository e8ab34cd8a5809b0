#pragma once

#include "weir/control_flow.h"

namespace weir::nn {

// weir::while_loop in a graph that the initial values need not name, because all of them may be numbers.
std::vector<Output> while_loop(Graph& graph, const LoopCondition& condition, const LoopBody& body,
                               const std::vector<In>& initial, const WhileOptions& options, In::Where where);

}  // namespace weir::nn
