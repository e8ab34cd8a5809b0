#pragma once

#include "graph/op_def.h"

namespace weir::ops {

// TensorFlow 1's control flow as single nodes, which a program makes by hand or sends one by one. A value may be absent
// ("dead"): Switch gives one of its outputs, whoever reads what is absent does not run, and Merge gives on whichever
// input came. Enter, Exit and NextIteration carry values into a loop, out of it, and to its next iteration. Send and
// Receive exchange values, dead or not, with other tasks (ops/net/token_ops.cc). Nodes of these kinds have no kernels:
// plans that need some are run by runtime/dataflow.h. Whole graphs that are imported have them turned into If and While
// instead (src/import), which is faster.
enum class DataflowKind : uint8_t { None, Switch, Merge, Enter, Exit, NextIteration, LoopCond, Trigger, Send, Receive };

// What rows of these kinds select: that it is asked for a kernel of its own says what a node is; there is none.
template <DataflowKind>
ComputeFn no_kernel(const NodeView&) {
  return nullptr;
}

// What an operation is, by its row.
DataflowKind dataflow_kind(const Op& op);

}  // namespace weir::ops
