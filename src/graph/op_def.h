#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/attr.h"
#include "weir/dtype.h"

namespace weir {

class Completion;
class GradContext;
class InferContext;
class KernelContext;
class NodeView;
class PrepareContext;

// What a kernel worked out when its plan was made; owned by the plan's step, read through KernelContext::state<S>().
using KernelState = std::unique_ptr<void, void (*)(void*)>;
using ComputeFn = void (*)(KernelContext&);
using StartFn = void (*)(KernelContext&, Completion);

// How a device computes an operation.
struct Kernel {
  // The function for the node's types; null when there is none (the node is then Unimplemented on this device).
  ComputeFn (*select)(const NodeView&) = nullptr;
  // Instead of `select`, for an operation that waits: a function that begins the work and returns. The Completion is
  // called when it has ended; until then the context stays valid. Inputs and outputs have no fixed place in memory:
  // input_tensor() shares, set_output() gives.
  StartFn (*start)(const NodeView&) = nullptr;
  // Reads attributes, works out strides, asks for scratch memory. Runs when a plan is made, not when it is run.
  KernelState (*prepare)(PrepareContext&) = nullptr;
  // Output 0 may be written over input i, when nobody else needs that, for every set bit i. Types must agree in size.
  uint32_t in_place = 0;
  // The kernel gives its outputs by set_output even when their shapes are known (reads of variables share a buffer).
  bool gives_outputs = false;
};

// One row of an operation table. The strings are TensorFlow's signature in the notation of tests/data/ops-1.15.5.tsv:
//   inputs  "values:N*T; axis:Tidx"
//   attrs   "N:int>=2; T:type; Tidx:type{int32,int64}=int32"      (also T:numbertype, T:realnumbertype)
//   flags   "stateful", "commutative", "aggregate", "uninitialized_input", comma-separated
// Rows are plain data, parsed when an operation is first looked up.
struct OpDef {
  std::string_view name;
  std::string_view inputs = "";
  std::string_view outputs = "";
  std::string_view attrs = "";
  std::string_view flags = "";
  // Checks shapes and sets those of the outputs: once when the node is made, with what is known then, and again when a
  // plan is made, with everything known. Null: every output has an unknown shape.
  void (*infer)(InferContext&) = nullptr;
  // Null: asking for a gradient through this operation is an error. `not_differentiable`: no gradient flows.
  void (*gradient)(GradContext&) = nullptr;
  Kernel cpu = {};
  // May wait for more than its inputs: for another run, another thread, another machine. It then holds up nothing that
  // does not depend on it. Its kernel has `start`; with `select` alone it blocks a thread of its own meanwhile.
  bool waits = false;
  // Output 0 is this input's memory under another shape: nothing is computed (Identity, Reshape). -1: none.
  int alias = -1;
};

void not_differentiable(GradContext&);

}  // namespace weir
