#pragma once

#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/gradient.h"
#include "weir/graph.h"

namespace weir {

struct GradientsOptions {
  std::vector<Output> grad_ys = {};         // one for each y, or none: ones
  std::vector<Output> stop_gradients = {};  // treated as constants
  bool colocate_with_ops = false;           // gradient nodes stand beside their forward nodes
  bool gate_gradients = false;              // the gradients of one node's inputs are used when all are computed
  std::string_view name = "gradients";
};

// Adds the nodes that compute d(sum of ys)/dx for every x. An x that no y depends on gets none. Throws NotFound, naming
// the node, where an operation on the way has no gradient.
WEIR_API std::vector<Gradient> gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                         const GradientsOptions& options = {}, In::Where where = In::Where::current());

// The same values, each of which is to be had when all of them, and the operations, are done. Entries that are none
// stay none; throws InvalidArgument when all are.
WEIR_API std::vector<Gradient> tuple(const std::vector<Gradient>& tensors,
                                     const std::vector<Operation>& control_inputs = {}, std::string_view name = {},
                                     In::Where where = In::Where::current());

}  // namespace weir
