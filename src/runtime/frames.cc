// Frames of a plan: what one run works on. They are kept for the next run, with their arenas in turn.

#include "ops/state/variable_state.h"
#include "runtime/dynamic.h"
#include "runtime/plan.h"
#include "runtime/values.h"

namespace weir {

constexpr size_t kMaxFreeFrames = 8;

std::unique_ptr<Frame> Plan::acquire(const Fit& fit) {
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    while (!free_frames_.empty() && !frame) {
      frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      if (frame->generation != environment_.resources.named->generation()) frame.reset();
    }
  }
  const bool fresh = !frame;
  if (fresh) frame = make_frame();
  if (take_arenas(*frame, fit) || frame->bound != fit.number) bind(*frame, fit);
  if (fresh) {
    look_up_handles(*frame);
  } else if (environment_.devices.size() > 1) {
    // Another plan, in which something that only another device can do touches a variable, may have taken it there.
    for (const Step& step : once_) {
      Resource* resource = frame->slots[static_cast<size_t>(step.view.outputs[0])].resource;
      auto* variable = dynamic_cast<VariableState*>(resource);
      if (variable) variable->stand_on(environment_.devices[step.device].memory());
    }
  }
  return frame;
}

std::unique_ptr<Frame> Plan::make_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->arenas.resize(memories_.size());
  if (in_parts_) frame->parts = std::make_unique<PartRun>(static_cast<int>(memories_.size()));
  frame->readers = std::make_unique<std::atomic<int>[]>(shared_held_.size());
  if (waiting_.waits()) {
    frame->waiting = std::make_unique<WaitingRun>(waiting_);
    frame->started.resize(waiting_steps_.size());
  }
  frame->slots.resize(first_.slots.size());
  frame->dynamic.resize(dynamic_steps_ ? steps_.size() : 0);
  for (const Region& region : regions_) frame->regions.push_back(std::make_unique<RegionRun>(region));
  return frame;
}

// Says whether some arena is another than before.
bool Plan::take_arenas(Frame& frame, const Fit& fit) const {
  bool changed = false;
  for (size_t m = 0; m < memories_.size(); ++m) {
    std::shared_ptr<Arena>& arena = frame.arenas[m];
    if (arena && environment_.arenas.retake(*arena, fit.arena_bytes[m])) continue;
    // Held until the two are compared: a new arena could have the address of one that is gone.
    const std::shared_ptr<Arena> before = arena;
    try {
      const ArenaPool::Request request{memories_[m], fit.arena_bytes[m], holder_};
      arena = request.bytes > 0 ? environment_.arenas.acquire(request, before) : nullptr;
    } catch (...) {
      for (size_t taken = 0; taken < m; ++taken) {
        if (frame.arenas[taken]) environment_.arenas.release(*frame.arenas[taken]);
      }
      throw;
    }
    changed = changed || arena != before;
  }
  return changed;
}

void Plan::bind(Frame& frame, const Fit& fit) const {
  frame.fit = &fit;
  frame.bound = fit.number;
  for (size_t i = 0; i < fit.slots.size(); ++i) {
    const Slot& slot = fit.slots[i];
    Value& v = frame.slots[i];
    v.dtype = slot.dtype;
    v.shape = slot.known ? &slot.shape : nullptr;
    if (slot.place == Place::Arena) v.data = frame.arena(slot.memory) + slot.offset;
    if (slot.place == Place::Constant) {
      // The fit's own reference serves: constants are never released by a run.
      const Tensor& constant = fit.constants[static_cast<size_t>(slot.constant)];
      v.data = const_cast<void*>(constant.raw());
      v.owner = constant.buffer();
      v.shape = &constant.shape();
    }
  }
}

// Resources may have been taken out of the manager since an older frame found them, so each frame looks for itself.
void Plan::look_up_handles(Frame& frame) const {
  frame.generation = environment_.resources.named->generation();
  for (const Step& step : once_) {
    try {
      const std::vector<const Shape*> outputs = {&first_.slots[static_cast<size_t>(step.view.outputs[0])].shape};
      PrepareContext prepare(*step.node, {}, outputs, *step.pool, &environment_.resources);
      const Kernel& kernel = *step.kernel;
      if (kernel.prepare) frame.handles.push_back(kernel.prepare(prepare));
      StepView view = step.view;
      view.state = kernel.prepare ? frame.handles.back().get() : nullptr;
      KernelContext c(view, frame.slots.data(), nullptr, *step.pool, nullptr);
      step.compute(c);
      Resource* resource = frame.slots[static_cast<size_t>(step.view.outputs[0])].resource;
      if (auto* variable = dynamic_cast<VariableState*>(resource)) {
        variable->stand_on(environment_.devices[step.device].memory());
      }
    } catch (...) {
      rethrow(step);
    }
  }
}

void Plan::give_back(std::unique_ptr<Frame> frame) {
  for (const auto& arena : frame->arenas) {
    if (arena) environment_.arenas.release(*arena);
  }
  std::lock_guard lock(mutex_);
  free_frames_.reserve(kMaxFreeFrames);
  if (free_frames_.size() < kMaxFreeFrames) free_frames_.push_back(std::move(frame));
}

void Plan::begin(Frame& frame, std::span<const Tensor* const> feed_values) const {
  for (size_t i = 0; i < feed_slots_.size(); ++i) {
    if (feed_slots_[i] < 0) continue;
    Value& v = frame.slots[static_cast<size_t>(feed_slots_[i])];
    hold(v, *feed_values[i]);
    if (v.dtype == DType::Resource) v.resource = *static_cast<Resource* const*>(v.data);  // resource_tensor()
    if (v.shape) continue;
    v.own_shape = feed_values[i]->shape();
    v.shape = &v.own_shape;
  }
  take_fetch_buffers(frame);
}

void Plan::take_fetch_buffers(Frame& frame) const {
  for (const FetchBuffer& fetch : fetch_buffers_) {
    const auto slot = static_cast<size_t>(fetch.slot);
    Value& v = frame.slots[slot];
    v.owner = fetch.pool->acquire(frame.fit->slots[slot].bytes);
    v.data = v.owner->data();
  }
}

void Plan::clear(Frame& frame) const {
  for (int s : held_slots_) {
    Value& v = frame.slots[static_cast<size_t>(s)];
    let_go(v);
    if (v.shape == &v.own_shape) v.shape = nullptr;
  }
}

}  // namespace weir
