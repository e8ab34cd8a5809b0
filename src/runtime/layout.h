#pragma once

#include <limits>
#include <vector>

#include "runtime/arena.h"
#include "runtime/plan.h"

namespace weir {

// Lays the values of a plan's steps out in its arenas, for the sizes of one fit after the other. Holds what follows
// from the steps alone. Immutable once the plan is made; thread-safe.
class Plan::Layout {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();
  // A value's life: the group of slots that share its memory (aliases), and the last step that reads any of them.
  struct Life {
    int root = -1;
    int last_use = -1;  // kNever: used by other parts or stretches, so that it keeps its place for the whole run
    bool fetched = false;
  };

  std::vector<Life> lives;            // by slot
  std::vector<int> first_of, end_of;  // of each step: the first and the last step of its region, or itself

  int root(int slot) const;
  // Gives values and scratch memory their offsets, and arenas their sizes. Results are written over inputs that die in
  // their step, where sizes allow it.
  void lay_out(const Plan& plan, Fit& fit) const;

 private:
  class Pass;
};

}  // namespace weir
