#pragma once

#include <vector>

#include "passes/ir.h"

namespace weir {

// Nodes that depend on the same nodes that wait become ready together: they form a stretch, whose steps a plan runs in
// a fixed order like those of a plan that waits for nothing. Stretches are numbered so that each depends on smaller
// numbers only. Without nodes that wait there is one.
struct Stretches {
  std::vector<int> of_node;             // the stretch of each node of the Ir; -1: dead
  std::vector<std::vector<int>> needs;  // of each stretch: the waiting nodes that it depends on, sorted

  int size() const { return static_cast<int>(needs.size()); }
  // Whether `later` can begin only when all that `sooner` needs has ended too.
  bool follows(int sooner, int later) const;
};

Stretches find_stretches(const Ir& ir);

}  // namespace weir
