#pragma once

#include <map>
#include <vector>

#include "runtime/arena.h"
#include "runtime/plan.h"

namespace weir {

// Turns a scheduled Ir into the steps and slots of a Plan.
class Plan::Builder {
 public:
  Builder(Plan& plan, const Ir& ir, size_t feeds) : plan_(plan), ir_(ir) { plan_.feed_slots_.assign(feeds, -1); }
  void build();

 private:
  // A value's life: the group of slots that share its memory (aliases, in-place results), and the last step that
  // reads any of them.
  struct Life {
    int root = -1;
    int last_use = -1;
    bool fetched = false;
  };

  void number_slots();
  void make_steps(const std::vector<int>& order);
  Step make_step(int node);
  void find_lives();
  void place_values();
  void prepare_steps();
  void lay_out_arena();
  void list_releases();
  int slot(const IrEdge& edge) const { return first_slot_[static_cast<size_t>(edge.node)] + edge.output; }
  int root(int slot) const;
  bool try_in_place(int step);

  Plan& plan_;
  const Ir& ir_;
  std::vector<int> first_slot_;
  std::vector<Life> lives_;
  std::vector<int> producer_;  // step of each slot, -1 for feeds and constants
};

}  // namespace weir
