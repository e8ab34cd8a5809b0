#pragma once

#include <span>
#include <vector>

#include "ops/kernel.h"

namespace weir {

// Runs the kernel of one stateless node on values and gives its outputs: constant folding, shape inference and the
// tests' reference use it. Throws Unimplemented when there is no kernel for the node's types, and whatever the shape
// function and the kernel throw (without the node's name).
std::vector<Tensor> run_kernel(const NodeView& node, std::span<const Tensor> inputs,
                               std::span<const DType> output_types, ThreadPool& pool);

// A node as far as it is known before a run.
struct SmallNode {
  NodeView node;
  std::span<const Tensor> inputs;  // invalid where they are not known
  std::span<const DType> types;    // of the outputs
  std::span<const Shape> shapes;
  int64_t limit;  // elements of any input or output
};
// The outputs of a node when they can be known: it is pure, what it reads is known, and all of that is small. None
// otherwise, and when the kernel fails. While a graph is built (constant_value) and when a plan is made (infer_ir)
// shapes, axes and slices are worked out by this.
std::vector<Tensor> small_values(const SmallNode& node, ThreadPool& pool);
bool are_small(std::span<const Shape> shapes, int64_t limit);

// Whether an operation has nothing to compute: it is pure and none of its outputs has an element. Its kernel is not run
// then, because sizes beside an empty dimension cost no memory and may be of any magnitude: [2^40,0] has 2^40 rows.
bool computes_nothing(const Op& op, const Kernel& kernel, std::span<const Shape* const> outputs);

// The CPU's kernel of an operation. Who runs nodes asks their device, not this (devices/device.h).
const Kernel& cpu_kernel(const Op& op);
// The kernel's function; throws Unimplemented, naming the operation and its types, when there is none.
ComputeFn select_kernel(const Kernel& kernel, const NodeView& node);

}  // namespace weir
