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

// A kernel that blocks its thread gets one of its own because others may have to go on for it to end. Where all that
// waits in a plan are such kernels, each behind the one before, there is nobody to go on, and they stay on the thread
// of who runs the plan: a function of Python is then called where the program's signals arrive.
void wait_in_place(Ir& ir);

}  // namespace weir
