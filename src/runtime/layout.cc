#include "runtime/layout.h"

#include <algorithm>

namespace weir {

int Plan::Layout::root(int s) const {
  while (lives[static_cast<size_t>(s)].root != s) s = lives[static_cast<size_t>(s)].root;
  return s;
}

// One fit's layout: lives as in-place results join them.
class Plan::Layout::Pass {
 public:
  Pass(const Plan& plan, const Layout& layout, Fit& fit)
      : plan_(plan),
        layout_(layout),
        fit_(fit),
        lives_(layout.lives),
        freed_(lives_.size(), false),
        readers_(lives_.size()) {}

  void run() {
    fit_.arena_bytes.assign(plan_.memories_.size(), 0);
    for (int m = 0; m < static_cast<int>(plan_.memories_.size()); ++m) {
      ArenaLayout lasting;
      place_lasting_values(lasting, m);
      size_t& bytes = fit_.arena_bytes[static_cast<size_t>(m)];
      bytes = lasting.size();
      // Stretches run one after the other, in whatever order, and nothing else of one is there when another runs: they
      // share the rest.
      for (const Stretch& stretch : plan_.stretches_) {
        ArenaLayout arena = lasting;
        Part own{.memory = m};
        for (const Part& part : stretch.parts) {
          if (part.memory == m) {
            own = part;
          } else {
            place_incoming(arena, part, m);
          }
        }
        lay_out_part(arena, own);
        bytes = std::max(bytes, arena.size());
      }
    }
    for (size_t s = 0; s < fit_.slots.size(); ++s) {
      if (fit_.slots[s].place != Place::Arena) continue;
      const Slot& whole = slot(root(static_cast<int>(s)));
      fit_.slots[s].offset = whole.offset;
      fit_.slots[s].memory = whole.memory;
    }
  }

 private:
  struct Readers {
    int group = -1;  // the first step of the region that is counted
    int count = 0;
  };

  Slot& slot(int s) { return fit_.slots[static_cast<size_t>(s)]; }
  Life& life(int s) { return lives_[static_cast<size_t>(s)]; }
  int root(int s) {
    while (life(s).root != s) {
      life(s).root = life(life(s).root).root;
      s = life(s).root;
    }
    return s;
  }
  int end_of(int step) const { return step == kNever ? kNever : layout_.end_of[static_cast<size_t>(step)]; }
  // Whether a value in the arena belongs to one part of one stretch: to steps that follow each other.
  bool is_local(int s) { return life(s).last_use != kNever; }

  // Values that more than one part or stretch uses have places of their own for the whole run.
  void place_lasting_values(ArenaLayout& arena, int memory) {
    for (int s = 0; s < static_cast<int>(fit_.slots.size()); ++s) {
      const bool here = slot(s).place == Place::Arena && slot(s).memory == memory && root(s) == s;
      if (here && !is_local(s)) slot(s).offset = arena.allocate(slot(s).bytes);
    }
  }

  bool belongs(int s, int memory) { return slot(s).place == Place::Arena && slot(s).memory == memory && is_local(s); }

  // What other parts copy to a memory may come at any time.
  void place_incoming(ArenaLayout& arena, const Part& other, int memory) {
    for (int i = other.begin; i < other.end; ++i) {
      const StepView& view = plan_.steps_[static_cast<size_t>(i)].view;
      for (int o = 0; o < view.output_count; ++o) {
        const int s = view.outputs[o];
        if (belongs(s, memory) && root(s) == s) slot(s).offset = arena.allocate(slot(s).bytes);
      }
    }
  }

  void lay_out_part(ArenaLayout& arena, const Part& part) {
    for (int i = part.begin; i < part.end; ++i) {
      const Step& step = plan_.steps_[static_cast<size_t>(i)];
      FittedStep& fitted = fit_.steps[static_cast<size_t>(i)];
      count_readers(i);
      write_in_place(i);
      for (int o = 0; o < step.view.output_count; ++o) {
        const int s = step.view.outputs[o];
        if (belongs(s, part.memory) && root(s) == s) slot(s).offset = arena.allocate(slot(s).bytes);
      }
      if (fitted.scratch_bytes > 0) fitted.scratch_offset = arena.allocate(fitted.scratch_bytes);
      if (end_of(i) != i) continue;
      for (int before = layout_.first_of[static_cast<size_t>(i)]; before <= i; ++before) {
        const FittedStep& done = fit_.steps[static_cast<size_t>(before)];
        if (done.scratch_bytes > 0) arena.free(done.scratch_offset, done.scratch_bytes);
        for (int candidate : plan_.steps_[static_cast<size_t>(before)].slots) {
          const int r = root(candidate);
          if (!belongs(r, part.memory) || freed_[static_cast<size_t>(r)] || end_of(life(r).last_use) != i) continue;
          arena.free(slot(r).offset, slot(r).bytes);
          freed_[static_cast<size_t>(r)] = true;
        }
      }
    }
  }

  // How many inputs of the steps that may run beside step `i` are in each piece of memory.
  void count_readers(int i) {
    const StepView& view = plan_.steps_[static_cast<size_t>(i)].view;
    const int group = layout_.first_of[static_cast<size_t>(i)];
    for (int n = 0; n < view.input_count; ++n) {
      Readers& readers = readers_[static_cast<size_t>(root(view.inputs[n]))];
      if (readers.group != group) readers = {group, 0};
      ++readers.count;
    }
  }

  // Lets output 0 overwrite an input that dies in this step.
  void write_in_place(int i) {
    const Step& step = plan_.steps_[static_cast<size_t>(i)];
    const uint32_t mask = step.kernel->in_place;
    if (mask == 0 || step.kind != Step::Kind::Static || step.view.output_count == 0) return;
    const int out = step.view.outputs[0];
    // What other stretches read needs a place that no stretch uses for anything else.
    if (slot(out).place != Place::Arena || !is_local(out)) return;
    for (int n = 0; n < step.view.input_count && n < 32; ++n) {
      if (!(mask >> n & 1)) continue;
      const int r = root(step.view.inputs[n]);
      if (slot(r).place != Place::Arena || slot(r).memory != slot(out).memory) continue;
      if (life(r).last_use != i || slot(r).bytes != slot(out).bytes) continue;
      // Nobody may look at the memory that is being overwritten: no other input of this step, and no step beside it.
      if (readers_[static_cast<size_t>(r)].count != 1) continue;
      life(r).last_use = std::max(life(r).last_use, life(out).last_use);
      life(out).root = r;
      return;
    }
  }

  const Plan& plan_;
  const Layout& layout_;
  Fit& fit_;
  std::vector<Life> lives_;
  std::vector<bool> freed_;
  std::vector<Readers> readers_;  // by root
};

void Plan::Layout::lay_out(const Plan& plan, Fit& fit) const { Pass(plan, *this, fit).run(); }

}  // namespace weir
