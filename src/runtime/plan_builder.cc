#include "runtime/plan_builder.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/evaluate.h"

namespace weir {
namespace {

// Variables and other handles: looked up once for a frame, not in every run.
bool is_handle(const IrNode& node) {
  if (!node.op->inputs.empty() || node.op->outputs.empty()) return false;
  const ArgSpec& out = node.op->outputs[0];
  return out.is_ref || out.type == DType::Resource;
}

bool is_stateless_nothing(const IrNode& node) { return node.is("NoOp") || node.is("ControlTrigger"); }

bool is_handle_type(DType dtype) { return dtype == DType::Resource; }

}  // namespace

void Plan::Builder::build() {
  std::vector<int> order = schedule(ir_);
  number_slots();
  make_steps(order);
  find_lives();
  place_values();
  prepare_steps();
  lay_out_arena();
  list_releases();
}

void Plan::Builder::number_slots() {
  first_slot_.assign(ir_.nodes.size(), -1);
  for (int i = 0; i < ir_.size(); ++i) {
    const IrNode& node = ir_[i];
    if (node.dead) continue;
    first_slot_[static_cast<size_t>(i)] = static_cast<int>(plan_.slots_.size());
    for (size_t o = 0; o < node.types.size(); ++o) {
      Slot s;
      s.dtype = node.types[o];
      s.shape = node.shapes[o];
      s.constant = node.values[o];
      plan_.slots_.push_back(std::move(s));
    }
    if (node.is_feed()) plan_.feed_slots_[static_cast<size_t>(node.feed)] = first_slot_[static_cast<size_t>(i)];
  }
  for (const IrEdge& fetch : ir_.fetches) plan_.fetch_slots_.push_back(slot(fetch));
}

Step Plan::Builder::make_step(int id) {
  const IrNode& node = ir_[id];
  Step step;
  step.op = node.op;
  step.attrs = node.attrs;
  step.name = node.name;
  step.origin = node.origin;
  for (const IrEdge& input : node.inputs) step.slots.push_back(slot(input));
  for (size_t o = 0; o < node.types.size(); ++o) step.slots.push_back(first_slot_[static_cast<size_t>(id)] + static_cast<int>(o));
  step.view.input_count = static_cast<int>(node.inputs.size());
  step.view.output_count = static_cast<int>(node.types.size());

  auto unknown = [&](int s) {
    const Slot& value = plan_.slots_[static_cast<size_t>(s)];
    return !is_handle_type(value.dtype) && !value.shape.is_known();
  };
  // Strings have constructors, so they are allocated by the run and not laid out in the arena.
  bool strings = std::find(node.types.begin(), node.types.end(), DType::String) != node.types.end();
  if (node.op->def->alias >= 0) {
    step.kind = Step::Kind::Alias;
  } else if (!is_handle(node) && !node.op->def->cpu.gives_outputs &&
             (strings || std::any_of(step.slots.begin(), step.slots.end(), unknown))) {
    step.kind = Step::Kind::Dynamic;
  }
  return step;
}

void Plan::Builder::make_steps(const std::vector<int>& order) {
  for (int id : order) {
    const IrNode& node = ir_[id];
    if (node.is_feed() || node.is_constant() || is_stateless_nothing(node)) continue;
    if (node.is("Placeholder")) {
      node.origin->fail(Code::InvalidArgument,
                        fmt::format("a value of type {} and shape {} must be fed", dtype_name(node.types[0]),
                                    node.origin->output_shapes[0].str()));
    }
    (is_handle(node) ? plan_.once_ : plan_.steps_).push_back(make_step(id));
  }
  // Steps have their final addresses now.
  for (std::vector<Step>* steps : {&plan_.once_, &plan_.steps_}) {
    for (Step& step : *steps) {
      step.node = std::make_unique<NodeView>(*step.op, step.attrs, step.name);
      step.view.node = step.node.get();
      step.view.inputs = step.slots.data();
      step.view.outputs = step.slots.data() + step.view.input_count;
    }
  }
}

int Plan::Builder::root(int s) const {
  while (lives_[static_cast<size_t>(s)].root != s) s = lives_[static_cast<size_t>(s)].root;
  return s;
}

void Plan::Builder::find_lives() {
  lives_.resize(plan_.slots_.size());
  producer_.assign(plan_.slots_.size(), -1);
  for (size_t s = 0; s < lives_.size(); ++s) lives_[s].root = static_cast<int>(s);
  for (size_t i = 0; i < plan_.steps_.size(); ++i) {
    const Step& step = plan_.steps_[i];
    for (size_t s = 0; s < step.slots.size(); ++s) {
      lives_[static_cast<size_t>(step.slots[s])].last_use = static_cast<int>(i);
      if (s >= static_cast<size_t>(step.view.input_count)) producer_[static_cast<size_t>(step.slots[s])] = static_cast<int>(i);
    }
  }
  for (int fetch : plan_.fetch_slots_) lives_[static_cast<size_t>(fetch)].fetched = true;
}

// Aliases come first in step order, so every chain is known when its memory is laid out.
void Plan::Builder::place_values() {
  for (int feed : plan_.feed_slots_) {
    if (feed >= 0) plan_.slots_[static_cast<size_t>(feed)].place = Place::Held;
  }
  for (Slot& s : plan_.slots_) {
    if (s.constant.valid()) s.place = Place::Constant;
  }
  for (Step& step : plan_.steps_) {
    for (int o = 0; o < step.view.output_count; ++o) {
      int s = step.view.outputs[o];
      Slot& out = plan_.slots_[static_cast<size_t>(s)];
      bool is_ref = step.op->outputs.size() == static_cast<size_t>(step.view.output_count) &&
                    step.op->outputs[static_cast<size_t>(o)].is_ref;
      if (is_ref || is_handle_type(out.dtype)) {
        out.place = Place::Nowhere;
      } else if (step.kind == Step::Kind::Dynamic || step.op->def->cpu.gives_outputs || out.dtype == DType::String) {
        out.place = Place::Held;
      } else if (step.kind == Step::Kind::Alias) {
        const Slot& in = plan_.slots_[static_cast<size_t>(step.view.inputs[step.op->def->alias])];
        out.place = in.place == Place::Arena && out.shape.is_known() ? Place::Arena : Place::Held;
        if (out.place == Place::Arena) {
          // One piece of memory: what happens to either happens to both.
          lives_[static_cast<size_t>(s)].root = root(step.view.inputs[step.op->def->alias]);
        }
      } else {
        out.place = Place::Arena;
        out.bytes = static_cast<size_t>(checked_multiply(out.shape.elements(), static_cast<int64_t>(dtype_size(out.dtype))));
      }
    }
  }
  // A group with a fetched member lives in a buffer of its own; its other members refer to that.
  for (size_t s = 0; s < lives_.size(); ++s) {
    auto r = static_cast<size_t>(root(static_cast<int>(s)));
    lives_[r].last_use = std::max(lives_[r].last_use, lives_[s].last_use);
    lives_[r].fetched |= lives_[s].fetched;
  }
  for (size_t s = 0; s < lives_.size(); ++s) {
    if (plan_.slots_[s].place != Place::Arena) continue;
    auto r = static_cast<size_t>(root(static_cast<int>(s)));
    if (!lives_[r].fetched) continue;
    plan_.slots_[s].place = s == r ? Place::Fetch : Place::Held;
    if (s == r) plan_.fetch_buffers_.push_back({static_cast<int>(s), std::make_shared<FetchPool>(plan_.slots_[s].bytes)});
  }
}

void Plan::Builder::prepare_steps() {
  for (std::vector<Step>* steps : {&plan_.once_, &plan_.steps_}) {
    for (Step& step : *steps) {
      if (step.kind == Step::Kind::Alias) continue;
      try {
        step.compute = select_kernel(*step.node);
        if (step.kind == Step::Kind::Dynamic || !step.op->def->cpu.prepare) continue;
        std::vector<const Shape*> shapes;
        for (int s : step.slots) shapes.push_back(&plan_.slots_[static_cast<size_t>(s)].shape);
        std::span<const Shape* const> all(shapes);
        auto inputs = static_cast<size_t>(step.view.input_count);
        PrepareContext c(*step.node, all.first(inputs), all.subspan(inputs), plan_.pool_, &plan_.resources_);
        step.state = step.op->def->cpu.prepare(c);
        step.view.state = step.state.get();
        step.scratch_bytes = c.scratch_bytes();
      } catch (const Error& e) {
        if (!e.node().empty()) throw;
        step.origin->fail(e.code(), e.message());
      }
    }
  }
}

// Lets output 0 overwrite an input that dies in this step.
bool Plan::Builder::try_in_place(int index) {
  const Step& step = plan_.steps_[static_cast<size_t>(index)];
  uint32_t mask = step.op->def->cpu.in_place;
  if (mask == 0 || step.kind != Step::Kind::Static || step.view.output_count == 0) return false;
  int out = step.view.outputs[0];
  Slot& output = plan_.slots_[static_cast<size_t>(out)];
  if (output.place != Place::Arena) return false;
  for (int i = 0; i < step.view.input_count && i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    int in = step.view.inputs[i];
    int r = root(in);
    const Slot& memory = plan_.slots_[static_cast<size_t>(r)];
    if (memory.place != Place::Arena || lives_[static_cast<size_t>(r)].last_use != index || memory.bytes != output.bytes) continue;
    // Another input of the same step must not look at the memory that is being overwritten.
    bool shared = false;
    for (int j = 0; j < step.view.input_count; ++j) shared |= j != i && root(step.view.inputs[j]) == r;
    if (shared) continue;
    auto o = static_cast<size_t>(out);
    lives_[static_cast<size_t>(r)].last_use = std::max(lives_[static_cast<size_t>(r)].last_use, lives_[o].last_use);
    lives_[o].root = r;
    return true;
  }
  return false;
}

void Plan::Builder::lay_out_arena() {
  ArenaLayout layout;
  std::vector<std::vector<int>> ending(plan_.steps_.size());
  for (size_t i = 0; i < plan_.steps_.size(); ++i) {
    Step& step = plan_.steps_[i];
    try_in_place(static_cast<int>(i));
    for (int o = 0; o < step.view.output_count; ++o) {
      int s = step.view.outputs[o];
      Slot& value = plan_.slots_[static_cast<size_t>(s)];
      if (value.place != Place::Arena) continue;
      int r = root(s);
      if (r == s) {
        value.offset = layout.allocate(value.bytes);
      } else {
        value.offset = plan_.slots_[static_cast<size_t>(r)].offset;
      }
      ending[i].push_back(r);
    }
    if (step.scratch_bytes > 0) {
      step.scratch_offset = layout.allocate(step.scratch_bytes);
      layout.free(step.scratch_offset, step.scratch_bytes);
    }
    for (int s : step.slots) {
      if (plan_.slots_[static_cast<size_t>(s)].place == Place::Arena) ending[i].push_back(root(s));
    }
    std::sort(ending[i].begin(), ending[i].end());
    ending[i].erase(std::unique(ending[i].begin(), ending[i].end()), ending[i].end());
    for (int r : ending[i]) {
      if (lives_[static_cast<size_t>(r)].last_use == static_cast<int>(i)) {
        const Slot& memory = plan_.slots_[static_cast<size_t>(r)];
        layout.free(memory.offset, memory.bytes);
      }
    }
  }
  plan_.arena_bytes_ = layout.size();
}

// Held values are let go after their last reader, so that variables can be written in place again.
void Plan::Builder::list_releases() {
  for (size_t s = 0; s < plan_.slots_.size(); ++s) {
    Place place = plan_.slots_[s].place;
    if (place != Place::Held && place != Place::Fetch) continue;
    plan_.held_slots_.push_back(static_cast<int>(s));
    if (place == Place::Fetch || lives_[s].fetched) continue;
    if (lives_[s].last_use >= 0) plan_.steps_[static_cast<size_t>(lives_[s].last_use)].releases.push_back(static_cast<int>(s));
  }
  // An alias inside the arena needs no step at all.
  std::erase_if(plan_.steps_, [&](const Step& step) {
    return step.kind == Step::Kind::Alias && plan_.slots_[static_cast<size_t>(step.view.outputs[0])].place == Place::Arena &&
           step.releases.empty();
  });
}

}  // namespace weir
