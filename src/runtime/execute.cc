// Running the steps of a plan in a frame: stretches, their parts and regions, and each kind of step.

#include <new>

#include "base/errors.h"
#include "ops/run_control.h"
#include "runtime/describe_wait.h"
#include "runtime/device_times.h"
#include "runtime/dynamic.h"
#include "runtime/flow.h"
#include "runtime/plan.h"
#include "runtime/values.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// That a node's long wait has been told of, in this session: threads that fill queues would say so again and again.
struct Warned final : Resource {
  std::string describe() const override { return "a warning"; }
  std::atomic_flag once;
};

}  // namespace

// What a run of a plan with steps that wait does, for WaitingRun.
class Plan::Waits final : public WaitingRun::Work {
 public:
  Waits(const Plan& plan, Frame& frame, Tracer* tracer) : plan_(plan), frame_(frame), tracer_(tracer) {}
  void run_stretch(int stretch, const RunControl& control) override {
    plan_.run_stretch(plan_.stretches_[static_cast<size_t>(stretch)], frame_, control, tracer_);
  }
  void finish(int waiting) override {
    if (step(waiting).settles) plan_.settle_outputs(step(waiting), frame_.slots.data());
    if (tracer_) {
      RunTrace::Event event = plan_.trace_event(step(waiting));
      event.start_ns = tracer_->since_begin(frame_.started[static_cast<size_t>(waiting)]->begin);
      event.end_ns = tracer_->since_begin(std::chrono::steady_clock::now());
      tracer_->add(std::move(event));
    }
    plan_.release_inputs(step(waiting), frame_);
  }
  void blame(int waiting, std::exception_ptr error) override {
    try {
      std::rethrow_exception(std::move(error));
    } catch (...) {
      plan_.rethrow(step(waiting));
    }
  }
  std::string describe(int waiting) const override {
    const StepView& view = step(waiting).view;
    const Resource* resource = nullptr;
    for (int i = 0; i < view.input_count && !resource; ++i) {
      resource = frame_.slots[static_cast<size_t>(view.inputs[i])].resource;
    }
    return describe_wait(*step(waiting).origin, resource);
  }
  bool may_warn(int waiting) const override {
    if (!is_odd_wait(*step(waiting).origin)) return false;
    auto make = [] { return make_resource<Warned>(); };
    return !plan_.environment_.resources.of_nodes.find_or_make<Warned>({}, step(waiting).name, make)
                ->once.test_and_set();
  }

 private:
  const Step& step(int waiting) const {
    return plan_.steps_[static_cast<size_t>(plan_.waiting_steps_[static_cast<size_t>(waiting)])];
  }
  const Plan& plan_;
  Frame& frame_;
  Tracer* tracer_;
};

void Plan::execute(Frame& frame, const RunControl& control, Tracer* tracer, bool again) const {
  for (size_t i = 0; i < shared_held_.size(); ++i)
    frame.readers[i].store(shared_held_[i].readers, std::memory_order_relaxed);
  if (frame.waiting) {
    Waits waits(*this, frame, tracer);
    frame.waiting->run(control, waits);
  } else {
    for (size_t s = again && has_invariants_ ? 1 : 0; s < stretches_.size(); ++s) {
      run_stretch(stretches_[s], frame, control, tracer);
    }
  }
}

void Plan::run_stretch(const Stretch& stretch, Frame& frame, const RunControl& control, Tracer* tracer) const {
  if (stretch.parts.size() > 1) {
    frame.parts->run(environment_.lanes, static_cast<int>(stretch.parts.size()), [&](int i) {
      run_part(stretch.parts[static_cast<size_t>(i)], frame.parts.get(), frame, control, tracer);
    });
  } else if (stretch.parts.empty()) {
    control.check();
  } else if (tracer) {
    run_part(stretch.parts[0], nullptr, frame, control, tracer);
  } else {
    run_alone(stretch, frame, control);
  }
}

// Leaves nothing under way on a device when a part ends before its time.
class Plan::Abandoned {
 public:
  Abandoned(const Plan& plan, const Part& part) : plan_(plan), part_(&part) {}
  ~Abandoned() {
    if (part_) plan_.abandon(*part_);
  }
  Abandoned(const Abandoned&) = delete;
  Abandoned& operator=(const Abandoned&) = delete;
  void went_well() { part_ = nullptr; }

 private:
  const Plan& plan_;
  const Part* part_;
};

// The only part of a stretch, with its overlapping regions.
void Plan::run_alone(const Stretch& stretch, Frame& frame, const RunControl& control) const {
  const Part& part = stretch.parts[0];
  char* arena = frame.arena(part.memory);
  auto region = static_cast<size_t>(stretch.first_region);
  Abandoned abandoned(*this, part);
  for (int i = part.begin; i < part.end; ++i) {
    control.check();
    if (region < regions_.size() && regions_[region].begin == i) {
      i = run_region(region++, part.memory, frame, control) - 1;
    } else {
      run_step(steps_[static_cast<size_t>(i)], frame, arena, control, nullptr);
    }
  }
  finish(part);
  abandoned.went_well();
}

int Plan::run_region(size_t region, int memory, Frame& frame, const RunControl& control) const {
  char* arena = frame.arena(memory);
  ThreadPool& pool = environment_.devices[memories_[static_cast<size_t>(memory)]].pool();
  frame.regions[region]->run(
      pool, environment_.options.inter_op_threads,
      [&](int i) {
        control.check();
        run_step(steps_[static_cast<size_t>(i)], frame, arena, control, nullptr);
      },
      [&](int s) { let_go(frame.slots[static_cast<size_t>(s)]); });
  return regions_[region].end;
}

// One part among others, or a traced one.
void Plan::run_part(const Part& part, PartRun* others, Frame& frame, const RunControl& control, Tracer* tracer) const {
  char* arena = frame.arena(part.memory);
  Abandoned abandoned(*this, part);
  std::optional<DeviceTimes> times;
  if (tracer) times.emplace(device_memories_[static_cast<size_t>(part.memory)], *tracer);
  for (int i = part.begin; i < part.end; ++i) {
    const Step& step = steps_[static_cast<size_t>(i)];
    for (const Wait& wait : step.waits) {
      if (!others->wait(wait.part, wait.steps)) return;
    }
    if (others && others->failed()) return;
    control.check();
    if (tracer) {
      run_traced(step, frame, arena, control, *tracer, *times);
    } else {
      run_step(step, frame, arena, control, nullptr);
    }
    if (!step.awaited) continue;
    if (step.ends) finish(part);
    others->publish(part.memory, i + 1 - part.begin);
  }
  finish(part);
  if (times) times->settle();
  abandoned.went_well();
}

void Plan::run_step(const Step& step, Frame& frame, char* arena, const RunControl& control, Tracer* tracer) const {
  Value* slots = frame.slots.data();
  try {
    if (step.kind == Step::Kind::Static) {
      const FittedStep& fitted = frame.fit->steps[static_cast<size_t>(&step - steps_.data())];
      KernelContext c(fitted.view, slots, arena + fitted.scratch_offset, *step.pool, &control);
      launch(step, fitted.compute, c);
    } else if (step.kind == Step::Kind::Alias) {
      run_alias(step, frame);
    } else if (step.kind == Step::Kind::Flow) {
      step.flow->run(step.view, slots, control, tracer);
    } else if (step.kind == Step::Kind::Waiting) {
      start(step, frame, control, tracer);
      return;  // the rest happens when it has ended
    } else if (step.kind == Step::Kind::Copy) {
      run_copy(step, slots);
    } else {
      run_dynamic(step, frame, control);
    }
    if (step.settles) settle_outputs(step, slots);
  } catch (...) {
    rethrow(step);
  }
  if (!step.releases.empty() || !step.shared_releases.empty()) release_inputs(step, frame);
}

void Plan::release_inputs(const Step& step, Frame& frame) const {
  Value* slots = frame.slots.data();
  for (int s : step.releases) let_go(slots[s]);
  for (int held : step.shared_releases) {
    auto at = static_cast<size_t>(held);
    if (frame.readers[at].fetch_sub(1, std::memory_order_acq_rel) == 1) let_go(slots[shared_held_[at].slot]);
  }
}

// A step that waits goes on by itself, by way of its kernel or on a lane. `control` lives as long as the run.
void Plan::start(const Step& step, Frame& frame, const RunControl& control, Tracer* tracer) const {
  const Completion done = frame.waiting->begin(step.waiting);
  try {
    std::optional<StartedStep>& started = frame.started[static_cast<size_t>(step.waiting)];
    const FittedStep& fitted = frame.fit->steps[static_cast<size_t>(&step - steps_.data())];
    KernelContext context(fitted.view, frame.slots.data(), nullptr, *step.pool, &control);
    started.emplace(StartedStep{step, frame.slots.data(), context, control, tracer, done});
    if (step.start) {
      step.start(started->context, done);
    } else {
      environment_.lanes.start(*started);
    }
  } catch (...) {
    done(std::current_exception());
  }
}

void StartedStep::operator()() const {
  std::exception_ptr error;
  try {
    if (step.flow) {
      step.flow->run(step.view, slots, control, tracer);
    } else {
      KernelContext c = context;
      launch(step, step.compute, c);
    }
  } catch (...) {
    error = std::current_exception();
  }
  done(std::move(error));
}

// Puts what the kernel allocated on the account of the memory that the plan has it in, and there.
void Plan::settle_outputs(const Step& step, Value* slots) const {
  for (int o = 0; o < step.view.output_count; ++o) {
    Value& v = slots[step.view.outputs[o]];
    if (!v.owner || first_.slots[static_cast<size_t>(step.view.outputs[o])].place != Place::Held) continue;
    DeviceMemory* memory = memory_of_slot(step.view.outputs[o]);
    if (!memory) continue;
    Tensor charged = memory->adopt(share(v), "the value of '" + step.name + "'");
    if (charged.buffer() == v.owner) continue;
    let_go(v);
    hold(v, charged);
  }
}

// Between memories of which the host cannot touch one.
void Plan::run_copy(const Step& step, Value* slots) const {
  const Value& in = slots[step.view.inputs[0]];
  if (!in.data) return;  // an output of an If that the branch which ran does not give: nobody reads it
  Value& out = slots[step.view.outputs[0]];
  DeviceMemory* to = memory_of_slot(step.view.outputs[0]);
  if (!out.data) {
    let_go(out);
    out.own_shape = *in.shape;
    if (!out.shape) out.shape = &out.own_shape;
    if (!is_plain(in.dtype)) return hold(out, moved_between(to, memory_of_device(step.from), share(in)));
    hold(out, to ? to->allocate(in.dtype, *in.shape, step.name) : Tensor(in.dtype, *in.shape));
  }
  const auto bytes = static_cast<size_t>(in.shape->elements()) * dtype_size(in.dtype);
  copy_between(to, out.data, memory_of_device(step.from), in.data, bytes);
}

void Plan::run_alias(const Step& step, Frame& frame) const {
  Value* slots = frame.slots.data();
  const Value& in = slots[step.view.inputs[step.op->def->alias]];
  Value& out = slots[step.view.outputs[0]];
  if (in.resource) out.resource = in.resource;
  if (!in.data || out.data) return;  // a handle, or already in its place in the arena
  if (!out.shape) {
    run_dynamic(step, frame, RunControl{});
    return;
  }
  out.data = in.data;
  out.owner = in.owner;
  if (out.owner) out.owner->retain();
}

void Plan::rethrow(const Step& step) const {
  try {
    throw;
  } catch (const Error& e) {
    if (!e.node().empty()) throw;
    throw e.blaming(step.origin->op->name, step.origin->name, step.origin->line);
  } catch (const std::bad_alloc&) {
    throw Error(Code::ResourceExhausted, "out of memory", step.origin->op->name, step.origin->name, step.origin->line);
  } catch (const std::exception& e) {
    throw Error(Code::Internal, e.what(), step.origin->op->name, step.origin->name, step.origin->line);
  }
}

}  // namespace weir
