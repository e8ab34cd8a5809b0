#pragma once

#include <unordered_set>
#include <vector>

#include "graph/bodies.h"
#include "weir/gradient.h"

namespace weir {

// What the gradient rules of control flow share: they make new bodies by the ordinary walk through the forward ones.

// Whether gradients flow through tensors of this type.
bool carries_gradient(DType dtype);

// The gradients of a body's results `ys` with respect to `xs`, some of its parameters, made where nodes go now. The
// walk ends at the parameters. Sparse gradients are made dense; those that there are none of are empty.
std::vector<Output> gradients_in_body(const Body& body, const std::vector<Output>& ys,
                                      const std::vector<Output>& grad_ys, const std::vector<Output>& xs);

// Zeros for a gradient that did not come: shaped like `x`, or like the variable whose handle `x` is.
Output zero_gradient(const Output& x);

// Whether the walk that is under way goes on behind an input. True when there is none.
bool is_differentiated(const Output& input);

// The nodes on the way of the walk that is under way; none when there is no walk.
const std::unordered_set<const Node*>& walked_nodes(const Graph& graph);

// Moves what `gradient` asks about the shapes of tensors of `forward` there: to pass a shape on takes less memory than
// to pass the tensor on, which then need not even be computed when its shape is known without it.
void share_shapes(Body& gradient, Body& forward);

// Copies constants of `forward` that `gradient` reads, and gives the rest of what it reads there.
std::vector<Output> forward_reads(Body& gradient, const Body& forward);

}  // namespace weir
