#include "runtime/plan_builder.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/evaluate.h"
#include "runtime/flow.h"

namespace weir {
namespace {

// Variables and other handles: looked up once for a frame, not in every run.
bool is_handle(const IrNode& node) { return gives_named_handle(*node.op); }

bool is_handle_type(DType dtype) { return dtype == DType::Resource; }

bool has_constructor(DType dtype) { return dtype == DType::String || dtype == DType::Variant; }

}  // namespace

void Plan::Builder::build(int inter_op_threads) {
  std::vector<int> order = schedule(ir_);
  stretches_ = find_stretches(ir_);
  set_invariants_apart();
  if (stretches_.size() > 1) {
    auto stretch = [&](int node) { return stretches_.of_node[static_cast<size_t>(node)]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return stretch(a) < stretch(b); });
  }
  number_slots();
  make_steps(order);
  place_values();
  drop_arena_aliases();
  mark_live_reads();
  form_stretches();
  make_fetch_pools();
  find_dynamic_steps();
  find_last_uses();
  prepare_steps();
  prepare_flow();
  find_overlaps(inter_op_threads);
  lay_out_arenas();
  list_releases();
}

// They become a stretch of their own, so that what they give keeps its place.
void Plan::Builder::set_invariants_apart() {
  auto is_shared = [](const IrNode& node) { return !node.dead && node.invariant && !node.is_feed(); };
  if (std::none_of(ir_.nodes.begin(), ir_.nodes.end(), is_shared)) return;
  plan_.has_invariants_ = true;
  stretches_.needs.resize(2);
  for (int i = 0; i < ir_.size(); ++i) stretches_.of_node[static_cast<size_t>(i)] = is_shared(ir_[i]) ? 0 : 1;
}

void Plan::Builder::number_slots() {
  first_slot_.assign(ir_.nodes.size(), -1);
  for (int i = 0; i < ir_.size(); ++i) {
    const IrNode& node = ir_[i];
    if (node.dead) continue;
    first_slot_[static_cast<size_t>(i)] = static_cast<int>(plan_.first_.slots.size());
    for (size_t o = 0; o < node.types.size(); ++o) {
      Slot s;
      s.dtype = node.types[o];
      s.shape = node.shapes[o];
      s.known = s.shape.is_known();
      if (node.values[o].valid()) {
        s.constant = static_cast<int>(plan_.first_.constants.size());
        plan_.first_.constants.push_back(node.values[o]);
        if (node.uploaded) {
          s.upload = node.device;
          plan_.first_.constants.back() = plan_.upload(node.values[o], node.device);
        }
      }
      plan_.first_.slots.push_back(std::move(s));
      plan_.slot_edges_.push_back({i, static_cast<int>(o)});
    }
    // A feed that is the same in every run is a constant of the plan.
    if (node.is_feed() && !node.is_constant())
      plan_.feed_slots_[static_cast<size_t>(node.feed)] = first_slot_[static_cast<size_t>(i)];
  }
  for (const IrEdge& fetch : ir_.fetches) plan_.fetch_slots_.push_back(slot(fetch));
}

// The device that placement chose has one, but for what rewrites have made of it since.
const Kernel* Plan::Builder::find_kernel(const IrNode& node) const {
  const Device& device = plan_.environment_.devices[node.device];
  std::vector<DType> inputs;
  for (size_t i = 0; device.is_accelerator() && i < node.inputs.size(); ++i) inputs.push_back(ir_.type(node.inputs[i]));
  const Kernel* kernel = device.kernel(NodeView(*node.op, node.attrs, node.name), inputs, node.types);
  if (kernel) return kernel;
  node.origin->fail(Code::Unimplemented,
                    fmt::format("there is no kernel for {} on {}", node.op->name, device.short_name()));
}

// A copy that the kernel of `_Copy`, which runs on the host, cannot do.
bool Plan::Builder::is_far_copy(const IrNode& node) const {
  const DeviceSet& devices = plan_.environment_.devices;
  return node.op->role == Role::Copy &&
         (!on_host(devices[node.to].memory()) || !on_host(devices[memory_of(ir_, node.inputs[0], devices)].memory()));
}

Step Plan::Builder::make_step(int id) {
  const IrNode& node = ir_[id];
  Step step;
  step.op = node.op;
  step.kernel = find_kernel(node);
  step.attrs = node.attrs;
  step.name = node.name;
  step.origin = node.origin;
  step.device = node.device;
  step.to = node.memory();
  const Device& device = plan_.environment_.devices[node.device];
  step.pool = &device.pool();
  if (device.wraps_kernels()) step.launcher = &device;
  for (const IrEdge& input : node.inputs) step.slots.push_back(slot(input));
  for (size_t o = 0; o < node.types.size(); ++o)
    step.slots.push_back(first_slot_[static_cast<size_t>(id)] + static_cast<int>(o));
  step.view.input_count = static_cast<int>(node.inputs.size());
  step.view.output_count = static_cast<int>(node.types.size());

  auto unknown = [&](int s) {
    const Slot& value = plan_.first_.slots[static_cast<size_t>(s)];
    return !is_handle_type(value.dtype) && !value.shape.is_known();
  };
  // Strings and variants have constructors, so they are allocated by the run and not laid out in the arena.
  bool strings = std::any_of(node.types.begin(), node.types.end(), has_constructor);
  if (node.waits()) {
    step.kind = Step::Kind::Waiting;
  } else if (node.flow) {
    step.kind = Step::Kind::Flow;
  } else if (is_far_copy(node)) {
    step.kind = Step::Kind::Copy;
    step.from = memory_of(ir_, node.inputs[0], plan_.environment_.devices);
  } else if (node.op->def->alias >= 0) {
    step.kind = is_fixed_view(ir_, node) ? Step::Kind::Alias : Step::Kind::Dynamic;
  } else if (!is_handle(node) && !step.kernel->gives_outputs &&
             (strings || std::any_of(step.slots.begin(), step.slots.end(), unknown))) {
    step.kind = Step::Kind::Dynamic;
  }
  // Reads of variables share what is on the variable's account already.
  const bool allocates =
      step.kind == Step::Kind::Dynamic || step.kind == Step::Kind::Waiting || step.kernel->gives_outputs;
  step.settles = allocates && node.op->role != Role::Read && plan_.environment_.devices[step.to].memory();
  return step;
}

void Plan::Builder::make_steps(const std::vector<int>& order) {
  for (int id : order) {
    const IrNode& node = ir_[id];
    if (node.is_feed() || node.is_constant() || node.op->role == Role::Nothing) continue;
    if (node.op->role == Role::Placeholder) {
      const Shape& shape = node.origin->output_shapes[0];
      node.origin->fail(
          Code::InvalidArgument,
          fmt::format("You must feed a value for placeholder tensor '{}' with dtype {}{}", node.origin->name,
                      dtype_name(node.types[0]), shape.has_rank() ? " and shape " + shape.str() : ""));
    }
    if (is_handle(node)) {
      plan_.once_.push_back(make_step(id));
    } else {
      plan_.steps_.push_back(make_step(id));
      step_nodes_.push_back(id);
    }
  }
  for (std::vector<Step>* steps : {&plan_.once_, &plan_.steps_}) {
    for (Step& step : *steps) {
      step.view.inputs = step.slots.data();
      step.view.outputs = step.slots.data() + step.view.input_count;
    }
  }
}

void Plan::Builder::place_values() {
  layout_.lives.resize(plan_.first_.slots.size());
  alias_of_.assign(plan_.first_.slots.size(), -1);
  for (size_t s = 0; s < layout_.lives.size(); ++s) layout_.lives[s].root = static_cast<int>(s);
  for (int fetch : plan_.fetch_slots_) life(fetch).fetched = true;
  for (int feed : plan_.feed_slots_) {
    if (feed >= 0) memory(feed).place = Place::Held;
  }
  for (Slot& s : plan_.first_.slots) {
    if (s.constant >= 0) s.place = Place::Constant;
  }
  for (const Step& step : plan_.steps_) {
    // What a waiting step reads is in a buffer that it can keep: it may still want it when others have gone on.
    for (int n = 0; step.kind == Step::Kind::Waiting && n < step.view.input_count; ++n) {
      if (memory(step.view.inputs[n]).place == Place::Arena) life(step.view.inputs[n]).fetched = true;
    }
    for (int o = 0; o < step.view.output_count; ++o) {
      int s = step.view.outputs[o];
      Slot& out = memory(s);
      bool is_ref = step.op->outputs.size() == static_cast<size_t>(step.view.output_count) &&
                    step.op->outputs[static_cast<size_t>(o)].is_ref;
      if (step.kind == Step::Kind::Alias) alias_of_[static_cast<size_t>(s)] = step.view.inputs[step.op->def->alias];
      if (is_ref || is_handle_type(out.dtype)) {
        // What belongs to the run is kept by whoever can still use it; a variable's reference by nobody.
        const bool makes = is_handle_type(out.dtype) || step.op->effect == Effect::Other ||
                           (step.kind == Step::Kind::Alias && memory(step.view.inputs[0]).place == Place::Held);
        out.place = makes ? Place::Held : Place::Nowhere;
      } else if (step.kind == Step::Kind::Dynamic || step.kind == Step::Kind::Flow ||
                 step.kind == Step::Kind::Waiting || step.kernel->gives_outputs || has_constructor(out.dtype) ||
                 !out.shape.is_known()) {
        out.place = Place::Held;
      } else if (step.kind == Step::Kind::Alias) {
        int in = step.view.inputs[step.op->def->alias];
        out.place = memory(in).place == Place::Arena && out.shape.is_known() ? Place::Arena : Place::Held;
        // One piece of memory: what happens to either happens to both.
        if (out.place == Place::Arena) life(s).root = root(in);
      } else {
        out.place = Place::Arena;
        out.bytes = bytes_of(out);
      }
    }
  }
  // A group with a fetched member lives in a buffer of its own; its other members refer to that.
  for (size_t s = 0; s < layout_.lives.size(); ++s) life(root(static_cast<int>(s))).fetched |= layout_.lives[s].fetched;
  for (size_t s = 0; s < layout_.lives.size(); ++s) {
    int r = root(static_cast<int>(s));
    if (plan_.first_.slots[s].place != Place::Arena || !life(r).fetched) continue;
    plan_.first_.slots[s].place = static_cast<int>(s) == r ? Place::Fetch : Place::Held;
    if (static_cast<int>(s) == r) {
      plan_.fetch_buffers_.push_back({r, nullptr});
    }
  }
}

// An alias inside the arena is a matter of layout alone.
void Plan::Builder::drop_arena_aliases() {
  std::vector<Step> kept;
  std::vector<int> nodes;
  for (size_t i = 0; i < plan_.steps_.size(); ++i) {
    Step& step = plan_.steps_[i];
    if (step.kind == Step::Kind::Alias && memory(step.view.outputs[0]).place == Place::Arena) continue;
    kept.push_back(std::move(step));
    nodes.push_back(step_nodes_[i]);
  }
  plan_.steps_ = std::move(kept);
  step_nodes_ = std::move(nodes);
}

void Plan::Builder::make_fetch_pools() {
  for (FetchBuffer& fetch : plan_.fetch_buffers_) {
    DeviceMemory* far = plan_.memory_of_slot(fetch.slot);
    fetch.pool = std::make_shared<FetchPool>(4, on_host(far) ? nullptr : far->shared_from_this());
  }
}

void Plan::Builder::find_dynamic_steps() {
  size_t outputs = 0;
  for (const Step& step : plan_.steps_) {
    const bool may_be = step.kind == Step::Kind::Dynamic || step.kind == Step::Kind::Alias;
    plan_.dynamic_steps_ |= may_be;
    if (may_be) outputs += static_cast<size_t>(step.view.output_count);
  }
  if (!plan_.dynamic_steps_) return;
  for (DeviceMemory* far : plan_.device_memories_) {
    // With scratch memory.
    plan_.values_.push_back(
        std::make_shared<FetchPool>(2 * outputs + 2, on_host(far) ? nullptr : far->shared_from_this()));
  }
}

void Plan::Builder::find_last_uses() {
  std::vector<int> stretch(plan_.first_.slots.size(), -1);  // of the steps that use a value, by its root
  for (int i = 0; i < static_cast<int>(plan_.steps_.size()); ++i) {
    const Step& step = plan_.steps_[static_cast<size_t>(i)];
    const int own = memory_of_device_[static_cast<size_t>(step.device)];
    for (size_t n = 0; n < step.slots.size(); ++n) {
      const int r = root(step.slots[n]);
      const bool in_arena = memory(r).place == Place::Arena, reads = n < static_cast<size_t>(step.view.input_count);
      int& used_in = stretch[static_cast<size_t>(r)];
      const bool elsewhere = used_in >= 0 && used_in != stretch_of(i);
      used_in = stretch_of(i);
      const bool crosses = in_arena && memory(r).memory != own;
      if ((in_arena && elsewhere) || (crosses && reads)) {
        life(r).last_use = Layout::kNever;
      } else if (!crosses) {  // what is copied to another memory has its place there from the beginning
        life(r).last_use = std::max(life(r).last_use, i);
      }
    }
  }
}

void Plan::Builder::prepare_steps() {
  plan_.first_.steps.resize(plan_.steps_.size());
  for (std::vector<Step>* steps : {&plan_.once_, &plan_.steps_}) {
    for (size_t i = 0; i < steps->size(); ++i) {
      // Steps have their final addresses by now.
      Step& step = (*steps)[i];
      step.node = std::make_unique<NodeView>(*step.op, step.attrs, step.name);
      step.view.node = step.node.get();
      const bool is_flow = steps == &plan_.steps_ && ir_[step_nodes_[i]].flow;
      if (step.op->def->alias >= 0 || is_flow || step.kind == Step::Kind::Copy) continue;  // nothing is computed
      try {
        if (step.kernel->start) {
          step.start = step.kernel->start(*step.node);
        } else {
          step.compute = select_kernel(*step.kernel, *step.node);
        }
        if (steps == &plan_.steps_) plan_.prepare(i, plan_.first_);  // handles are prepared for each frame
      } catch (const Error& e) {
        if (!e.node().empty()) throw;
        step.origin->fail(e.code(), e.message());
      }
    }
  }
}

void Plan::Builder::prepare_flow() {
  std::vector<bool> read(plan_.first_.slots.size(), false);
  for (const Step& step : plan_.steps_) {
    for (int n = 0; n < step.view.input_count; ++n) read[static_cast<size_t>(step.view.inputs[n])] = true;
  }
  for (size_t i = 0; i < plan_.steps_.size(); ++i) {
    Step& step = plan_.steps_[i];
    if (!ir_[step_nodes_[i]].flow) continue;
    const Flow& flow = *ir_[step_nodes_[i]].flow;
    std::vector<FeedSpec> inputs;
    for (int n = flow.is_loop ? 0 : 1; n < step.view.input_count; ++n) {
      const Slot& input = memory(step.view.inputs[n]);
      const IrEdge& edge = ir_[step_nodes_[i]].inputs[static_cast<size_t>(n)];
      const IrNode& source = ir_[edge.node];
      inputs.push_back({input.dtype, input.shape, source.values[static_cast<size_t>(edge.output)]});
      if (!source.elements.empty()) inputs.back().elements = source.elements[static_cast<size_t>(edge.output)];
    }
    std::vector<bool> wanted;
    for (int o = 0; o < step.view.output_count; ++o) {
      const int output = step.view.outputs[o];
      wanted.push_back(life(output).fetched || read[static_cast<size_t>(output)]);
    }
    step.flow = std::make_shared<FlowStep>(plan_, flow, step.device, std::move(inputs), std::move(wanted));
  }
}

Region* Plan::Builder::region_of(int step) const {
  for (Region& region : plan_.regions_) {
    if (step >= region.begin && step < region.end) return &region;
  }
  return nullptr;
}

void Plan::Builder::lay_out_arenas() {
  for (int i = 0; i < static_cast<int>(plan_.steps_.size()); ++i) {
    layout_.first_of.push_back(i);
    layout_.end_of.push_back(i);
  }
  for (const Region& region : plan_.regions_) {
    std::fill(layout_.first_of.begin() + region.begin, layout_.first_of.begin() + region.end, region.begin);
    std::fill(layout_.end_of.begin() + region.begin, layout_.end_of.begin() + region.end, region.end - 1);
  }
  layout_.lay_out(plan_, plan_.first_);
  plan_.first_.number = next_fit();
}

// Held values are let go after their last reader, so that variables can be written in place again.
void Plan::Builder::list_releases() {
  std::vector<std::vector<int>> readers(plan_.first_.slots.size());
  for (int i = 0; i < static_cast<int>(plan_.steps_.size()); ++i) {
    for (int s : plan_.steps_[static_cast<size_t>(i)].slots) {
      std::vector<int>& list = readers[static_cast<size_t>(s)];
      if (list.empty() || list.back() != i) list.push_back(i);
    }
  }
  auto part_of = [&](int step) { return std::pair(stretch_of(step), plan_.steps_[static_cast<size_t>(step)].device); };
  for (int s = 0; s < static_cast<int>(plan_.first_.slots.size()); ++s) {
    Place place = memory(s).place;
    if (place != Place::Held && place != Place::Fetch) continue;
    plan_.held_slots_.push_back(s);
    const std::vector<int>& steps = readers[static_cast<size_t>(s)];
    if (place == Place::Fetch || life(s).fetched || steps.empty()) continue;
    const bool several = std::any_of(steps.begin(), steps.end(), [&](int i) {
      return part_of(i) != part_of(steps[0]) || plan_.steps_[static_cast<size_t>(i)].kind == Step::Kind::Waiting;
    });
    const int last = steps.back();
    if (several) {
      for (int i : steps) {
        plan_.steps_[static_cast<size_t>(i)].shared_releases.push_back(static_cast<int>(plan_.shared_held_.size()));
      }
      plan_.shared_held_.push_back({s, static_cast<int>(steps.size())});
    } else if (Region* region = region_of(last)) {
      Region::Held held{s, 0};
      for (int i : steps) {
        if (i < region->begin) continue;
        region->reads[static_cast<size_t>(i - region->begin)].push_back(static_cast<int>(region->held.size()));
        ++held.readers;
      }
      region->held.push_back(held);
    } else {
      plan_.steps_[static_cast<size_t>(last)].releases.push_back(s);
    }
  }
}

}  // namespace weir
