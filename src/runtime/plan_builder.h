#pragma once

#include <vector>

#include "passes/stretches.h"
#include "runtime/layout.h"
#include "runtime/region.h"

namespace weir {

// Turns a scheduled Ir into the steps and slots of a Plan.
class Plan::Builder {
 public:
  Builder(Plan& plan, const Ir& ir, size_t feeds)
      : plan_(plan), ir_(ir), layout_(*(plan.layout_ = std::make_unique<Layout>())) {
    plan_.feed_slots_.assign(feeds, -1);
  }
  void build(int inter_op_threads);

 private:
  void set_invariants_apart();
  void number_slots();
  void make_steps(const std::vector<int>& order);
  Step make_step(int node);
  const Kernel* find_kernel(const IrNode& node) const;
  bool is_far_copy(const IrNode& node) const;
  void place_values();
  void drop_arena_aliases();
  void find_dynamic_steps();
  void mark_live_reads();
  void form_stretches();
  bool is_left_to_devices(const Step& step, size_t part) const;
  void form_parts(Stretch& stretch, int begin, int end, const std::vector<StepFacts>& facts);
  void connect_stretches(const std::vector<StepFacts>& facts);
  void make_fetch_pools();
  void find_last_uses();
  void prepare_steps();
  void prepare_flow();
  void find_overlaps(int threads);
  void lay_out_arenas();
  void list_releases();

  int slot(const IrEdge& edge) const { return first_slot_[static_cast<size_t>(edge.node)] + edge.output; }
  int root(int slot) const { return layout_.root(slot); }
  Slot& memory(int slot) { return plan_.first_.slots[static_cast<size_t>(slot)]; }
  Layout::Life& life(int slot) { return layout_.lives[static_cast<size_t>(slot)]; }
  int stretch_of(int step) const {
    return stretches_.of_node[static_cast<size_t>(step_nodes_[static_cast<size_t>(step)])];
  }
  Region* region_of(int step) const;  // the region that the step is in, or null

  // Dependencies of the steps among each other, for find_overlaps.
  std::vector<StepFacts> step_facts() const;

  Plan& plan_;
  const Ir& ir_;
  Layout& layout_;
  std::vector<int> first_slot_;
  std::vector<int> alias_of_;    // slot -> the slot it is another view of, or -1
  std::vector<int> step_nodes_;  // step -> Ir node
  Stretches stretches_;
  std::vector<int> memory_of_device_;
};

}  // namespace weir
