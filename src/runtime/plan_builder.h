#pragma once

#include <limits>
#include <vector>

#include "passes/stretches.h"
#include "runtime/arena.h"
#include "runtime/plan.h"
#include "runtime/region.h"

namespace weir {

// Turns a scheduled Ir into the steps and slots of a Plan.
class Plan::Builder {
 public:
  Builder(Plan& plan, const Ir& ir, size_t feeds) : plan_(plan), ir_(ir) { plan_.feed_slots_.assign(feeds, -1); }
  void build(int inter_op_threads);

 private:
  // A value's life: the group of slots that share its memory (aliases, in-place results), and the last step that
  // reads any of them.
  struct Life {
    int root = -1;
    int last_use = -1;  // kNever: used by other parts or stretches, so that it keeps its place for the whole run
    bool fetched = false;
  };
  static constexpr int kNever = std::numeric_limits<int>::max();

  void number_slots();
  void make_steps(const std::vector<int>& order);
  Step make_step(int node);
  void place_values();
  void drop_arena_aliases();
  void form_stretches();
  void form_parts(Stretch& stretch, int begin, int end, const std::vector<StepFacts>& facts);
  void connect_stretches(const std::vector<StepFacts>& facts);
  void find_last_uses();
  void prepare_steps();
  void prepare_flow();
  void find_overlaps(int threads);
  void place_lasting_values(ArenaLayout& layout, int memory);
  std::vector<int> copied_to(int memory, const Stretch& stretch) const;
  void lay_out_part(ArenaLayout& layout, const Part& part, const std::vector<int>& incoming);
  void lay_out_arenas();
  bool try_in_place(int step);
  void list_releases();

  int slot(const IrEdge& edge) const { return first_slot_[static_cast<size_t>(edge.node)] + edge.output; }
  int root(int slot) const;
  Slot& memory(int slot) { return plan_.slots_[static_cast<size_t>(slot)]; }
  Life& life(int slot) { return lives_[static_cast<size_t>(slot)]; }
  int stretch_of(int step) const {
    return stretches_.of_node[static_cast<size_t>(step_nodes_[static_cast<size_t>(step)])];
  }
  // Whether a value in the arena belongs to one part of one stretch: to steps that follow each other.
  bool is_local(int slot) { return life(slot).last_use != kNever; }
  Region* region_of(int step) const;  // the region that the step is in, or null
  // The last step before which nothing that `step` reads may be overwritten: the end of its region.
  int end_of_use(int step) const;

  // Dependencies of the steps among each other, for find_overlaps.
  std::vector<StepFacts> step_facts() const;

  Plan& plan_;
  const Ir& ir_;
  std::vector<int> first_slot_;
  std::vector<Life> lives_;
  std::vector<int> alias_of_;    // slot -> the slot it is another view of, or -1
  std::vector<int> step_nodes_;  // step -> Ir node
  Stretches stretches_;
  std::vector<int> memory_of_device_;
};

}  // namespace weir
