#include "runtime/plan.h"

#include <algorithm>
#include <new>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/evaluate.h"
#include "ops/state/variable_state.h"
#include "runtime/flow.h"
#include "runtime/plan_builder.h"
#include "runtime/values.h"
#include "tensor/elements.h"

namespace weir {
namespace {

constexpr size_t kMaxFreeFrames = 8;

// What the plan is for, as accounts of memory name it.
std::string name_of(const PlanRequest& request) {
  const std::string* first = !request.targets.empty()   ? &request.targets[0].name()
                             : !request.fetches.empty() ? &request.fetches[0].node()->name
                                                        : nullptr;
  return first ? "the plan for '" + *first + "'" : "a plan";
}

}  // namespace

Plan::Plan(const PlanRequest& request, const PlanEnvironment& environment)
    : environment_(environment), pool_(environment.devices[environment.home].pool()) {
  const PlanOptions& options = environment_.options;
  const PassOptions& passes = options.passes;
  for (const FeedSpec& feed : request.feed_specs) feed_shapes_.push_back(feed.shape);
  Ir ir = build_ir(request);
  PassContext context{passes, pool_};
  infer_ir(ir, context);
  place(ir, environment_.devices,
        {.allow_soft_placement = options.allow_soft_placement,
         .home = environment_.home,
         .log = environment_.placement_log});
  if (passes.fold_constants) fold_constants(ir, context);
  if (passes.remove_identities) remove_identities(ir, context);
  if (passes.share_common_subexpressions) share_common_subexpressions(ir, context);
  prune_flow(ir);
  if (passes.fuse_bias_activation) fuse_bias_activation(ir, context);
  if (passes.fuse_elementwise) fuse_elementwise(ir, context);
  if (options.direct_convolutions) direct_convolutions(ir);
  ir.sweep();
  insert_copies(ir, environment_.devices, environment_.home);
  holder_ = name_of(request);
  Builder(*this, ir, request.feeds.size()).build(options.inter_op_threads);
}

std::unique_ptr<Plan> Plan::make_body_plan(const PlanRequest& request, int device) const {
  PlanEnvironment environment = environment_;
  environment.home = device;
  return std::make_unique<Plan>(request, environment);
}

std::vector<FeedSpec> Plan::loop_specs(const Flow& flow, std::vector<FeedSpec> first) const {
  PassContext context{environment_.options.passes, pool_};
  return loop_invariants(flow, std::move(first), context);
}

Plan::~Plan() = default;

bool Plan::accepts(std::span<const Tensor* const> feed_values) const {
  for (size_t i = 0; i < feed_values.size(); ++i) {
    if (feed_values[i]->shape() != feed_shapes_[i]) return false;
  }
  return true;
}

std::vector<Tensor> Plan::allocate_arenas() const {
  std::vector<Tensor> arenas;
  for (const ArenaSpec& memory : memories_) {
    const Shape bytes{static_cast<int64_t>(memory.bytes)};
    arenas.push_back(environment_.devices[memory.device].allocate(DType::UInt8, bytes, holder_));
  }
  return arenas;
}

std::unique_ptr<Frame> Plan::acquire() {
  {
    std::lock_guard lock(mutex_);
    while (!free_frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      if (frame->generation == environment_.resources.generation()) return frame;
      --frames_;
    }
  }
  auto frame = std::make_unique<Frame>();
  try {
    frame->arenas = allocate_arenas();
  } catch (const Error& e) {
    if (e.code() != Code::ResourceExhausted || !environment_.reclaim) throw;
    environment_.reclaim();
    frame->arenas = allocate_arenas();
  }
  if (in_parts_) frame->parts = std::make_unique<PartRun>(static_cast<int>(memories_.size()));
  frame->readers = std::make_unique<std::atomic<int>[]>(shared_held_.size());
  if (waiting_.waits()) {
    frame->waiting = std::make_unique<WaitingRun>(waiting_);
    frame->started.resize(waiting_steps_.size());
  }
  frame->slots.resize(slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    Value& v = frame->slots[i];
    v.dtype = slot.dtype;
    if (slot.shape.is_known()) v.shape = &slot.shape;
    if (slot.place == Place::Arena) v.data = frame->arena(slot.memory) + slot.offset;
    if (slot.place == Place::Constant) {
      // The plan's own reference serves: constants are never released by a run.
      v.data = const_cast<void*>(slot.constant.raw());
      v.owner = slot.constant.buffer();
      v.shape = &slot.constant.shape();
    }
  }
  for (const Region& region : regions_) frame->regions.push_back(std::make_unique<RegionRun>(region));
  look_up_handles(*frame);
  std::lock_guard lock(mutex_);
  ++frames_;
  free_frames_.reserve(kMaxFreeFrames);
  return frame;
}

// Resources may have been taken out of the manager since an older frame found them, so each frame looks for itself.
void Plan::look_up_handles(Frame& frame) const {
  frame.generation = environment_.resources.generation();
  for (const Step& step : once_) {
    try {
      const std::vector<const Shape*> outputs = {&slots_[static_cast<size_t>(step.view.outputs[0])].shape};
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
  std::lock_guard lock(mutex_);
  if (free_frames_.size() < kMaxFreeFrames) {
    free_frames_.push_back(std::move(frame));
  } else {
    --frames_;
  }
}

size_t Plan::trim() {
  std::lock_guard lock(mutex_);
  size_t freed = free_frames_.size() * arena_bytes_;
  frames_ -= free_frames_.size();
  free_frames_.clear();
  for (const Step& step : steps_) freed += step.flow ? step.flow->trim() : 0;
  return freed;
}

size_t Plan::frame_bytes() const {
  std::lock_guard lock(mutex_);
  size_t bytes = frames_ * arena_bytes_;
  for (const Step& step : steps_) bytes += step.flow ? step.flow->frame_bytes() : 0;
  return bytes;
}

void Plan::begin(Frame& frame, std::span<const Tensor* const> feed_values) const {
  for (size_t i = 0; i < feed_slots_.size(); ++i) {
    if (feed_slots_[i] >= 0) hold(frame.slots[static_cast<size_t>(feed_slots_[i])], *feed_values[i]);
  }
  take_fetch_buffers(frame);
}

void Plan::take_fetch_buffers(Frame& frame) const {
  for (const FetchBuffer& fetch : fetch_buffers_) {
    Value& v = frame.slots[static_cast<size_t>(fetch.slot)];
    v.owner = fetch.pool->acquire();
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

void Plan::run(std::span<const Tensor* const> feed_values, std::span<Tensor> results, const RunControl& control,
               RunTrace* trace) {
  std::unique_ptr<Frame> frame = acquire();
  struct Return {
    Plan& plan;
    std::unique_ptr<Frame>& frame;
    ~Return() {
      plan.clear(*frame);
      plan.give_back(std::move(frame));
    }
  } give_back_at_end{*this, frame};
  begin(*frame, feed_values);
  if (trace) {
    Tracer tracer = start_trace(*trace, arena_bytes_);
    execute(*frame, control, &tracer);
    std::stable_sort(trace->events.begin(), trace->events.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  } else {
    execute(*frame, control, nullptr);
  }
  for (size_t i = 0; i < fetch_slots_.size(); ++i) {
    const Value& v = frame->slots[static_cast<size_t>(fetch_slots_[i])];
    if (!v.owner || !v.shape) throw error(Code::InvalidArgument, "fetch {} is a handle; it has no value", i);
    results[i] = share(v);
  }
}

Plan::Call::~Call() {
  clear();
  plan_.give_back(std::move(frame_));
}

void Plan::Call::run(std::span<const Value> feeds, const RunControl& control, Tracer* tracer) {
  for (size_t i = 0; i < plan_.feed_slots_.size(); ++i) {
    if (plan_.feed_slots_[i] < 0) continue;
    Value& v = frame_->slots[static_cast<size_t>(plan_.feed_slots_[i])];
    const Shape* planned = v.shape;  // null when only the run knows it
    refer(v, feeds[i]);
    if (planned) {
      v.shape = planned;
    } else if (v.shape && v.shape != &v.own_shape) {
      v.own_shape = *v.shape;
      v.shape = &v.own_shape;
    }
  }
  plan_.take_fetch_buffers(*frame_);
  plan_.execute(*frame_, control, tracer);
}

const Value& Plan::Call::result(size_t fetch) const {
  return frame_->slots[static_cast<size_t>(plan_.fetch_slots_[fetch])];
}

// What a run of a plan with steps that wait does, for WaitingRun.
class Plan::Waits final : public WaitingRun::Work {
 public:
  Waits(const Plan& plan, Frame& frame, Tracer* tracer) : plan_(plan), frame_(frame), tracer_(tracer) {}
  void run_stretch(int stretch, const RunControl& control) override {
    plan_.run_stretch(plan_.stretches_[static_cast<size_t>(stretch)], frame_, control, tracer_);
  }
  void finish(int waiting) override {
    if (step(waiting).charged) plan_.charge_outputs(step(waiting), frame_.slots.data());
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
    const Node& node = *step(waiting).origin;
    std::string text = fmt::format("{} '{}'", node.op->name, node.name);
    if (!node.line.file.empty()) text += fmt::format(" ({}:{})", node.line.file, node.line.line);
    const StepView& view = step(waiting).view;
    for (int i = 0; i < view.input_count; ++i) {
      const Resource* resource = frame_.slots[static_cast<size_t>(view.inputs[i])].resource;
      if (resource) text += " on " + resource->describe();
    }
    return text;
  }

 private:
  const Step& step(int waiting) const {
    return plan_.steps_[static_cast<size_t>(plan_.waiting_steps_[static_cast<size_t>(waiting)])];
  }
  const Plan& plan_;
  Frame& frame_;
  Tracer* tracer_;
};

void Plan::execute(Frame& frame, const RunControl& control, Tracer* tracer) const {
  for (size_t i = 0; i < shared_held_.size(); ++i)
    frame.readers[i].store(shared_held_[i].readers, std::memory_order_relaxed);
  if (frame.waiting) {
    Waits waits(*this, frame, tracer);
    frame.waiting->run(control, waits);
  } else {
    run_stretch(stretches_[0], frame, control, tracer);
  }
}

void Plan::run_stretch(const Stretch& stretch, Frame& frame, const RunControl& control, Tracer* tracer) const {
  if (stretch.parts.size() > 1) {
    auto part = [&](int number) -> const Part& {
      return *std::find_if(stretch.parts.begin(), stretch.parts.end(),
                           [&](const Part& p) { return p.memory == number; });
    };
    frame.parts->run(environment_.lanes, stretch.numbers,
                     [&](int number) { run_part(part(number), frame.parts.get(), frame, control, tracer); });
  } else if (stretch.parts.empty()) {
    control.check();
  } else if (tracer) {
    run_part(stretch.parts[0], nullptr, frame, control, tracer);
  } else {
    run_alone(stretch, frame, control);
  }
}

// The only part of a stretch, with its overlapping regions.
void Plan::run_alone(const Stretch& stretch, Frame& frame, const RunControl& control) const {
  const Part& part = stretch.parts[0];
  char* arena = frame.arena(part.memory);
  auto region = static_cast<size_t>(stretch.first_region);
  for (int i = part.begin; i < part.end; ++i) {
    control.check();
    if (region < regions_.size() && regions_[region].begin == i) {
      i = run_region(region++, part.memory, frame, control) - 1;
    } else {
      run_step(steps_[static_cast<size_t>(i)], frame, arena, control, nullptr);
    }
  }
}

int Plan::run_region(size_t region, int memory, Frame& frame, const RunControl& control) const {
  char* arena = frame.arena(memory);
  ThreadPool& pool = environment_.devices[memories_[static_cast<size_t>(memory)].device].pool();
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
  for (int i = part.begin; i < part.end; ++i) {
    const Step& step = steps_[static_cast<size_t>(i)];
    for (const Wait& wait : step.waits) {
      if (!others->wait(wait.part, wait.steps)) return;
    }
    if (others && others->failed()) return;
    control.check();
    if (tracer) {
      run_traced(step, frame, arena, control, *tracer);
    } else {
      run_step(step, frame, arena, control, nullptr);
    }
    if (step.awaited) others->publish(part.memory, i + 1 - part.begin);
  }
}

void Plan::run_step(const Step& step, Frame& frame, char* arena, const RunControl& control, Tracer* tracer) const {
  Value* slots = frame.slots.data();
  try {
    if (step.kind == Step::Kind::Static) {
      KernelContext c(step.view, slots, arena + step.scratch_offset, *step.pool, &control);
      step.compute(c);
    } else if (step.kind == Step::Kind::Alias) {
      run_alias(step, slots);
    } else if (step.kind == Step::Kind::Flow) {
      step.flow->run(step.view, slots, control, tracer);
    } else if (step.kind == Step::Kind::Waiting) {
      start(step, frame, control, tracer);
      return;  // the rest happens when it has ended
    } else {
      run_dynamic(step, slots, control);
    }
    if (step.charged) charge_outputs(step, slots);
  } catch (...) {
    rethrow(step);
  }
  release_inputs(step, frame);
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
    KernelContext context(step.view, frame.slots.data(), nullptr, *step.pool, &control);
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
      step.compute(c);
    }
  } catch (...) {
    error = std::current_exception();
  }
  done(std::move(error));
}

// Puts what the run allocated on the account of the device's memory.
void Plan::charge_outputs(const Step& step, Value* slots) const {
  for (int o = 0; o < step.view.output_count; ++o) {
    Value& v = slots[step.view.outputs[o]];
    if (!v.owner || slots_[static_cast<size_t>(step.view.outputs[o])].place != Place::Held) continue;
    Tensor charged = step.charged->adopt(share(v), "the value of '" + step.name + "'");
    if (charged.buffer() == v.owner) continue;
    let_go(v);
    hold(v, charged);
  }
}

void Plan::run_alias(const Step& step, Value* slots) const {
  const Value& in = slots[step.view.inputs[step.op->def->alias]];
  Value& out = slots[step.view.outputs[0]];
  if (in.resource) out.resource = in.resource;
  if (!in.data || out.data) return;  // a handle, or already in its place in the arena
  if (!out.shape) {
    run_dynamic(step, slots, RunControl{});
    return;
  }
  out.data = in.data;
  out.owner = in.owner;
  if (out.owner) out.owner->retain();
}

namespace {

// Values of a running step's inputs, for its shape function.
class RunValues final : public InferContext::Values {
 public:
  RunValues(const StepView& step, Value* slots) : step_(step), slots_(slots) {}
  Tensor value(int input) override {
    const Value& v = slots_[step_.inputs[input]];
    if (!v.data || v.resource) return {};
    // A view that nobody owns: it lives no longer than the call.
    Buffer* borrowed = Buffer::borrow(v.data, 0, nullptr);
    return Tensor(v.dtype, *v.shape, borrowed, v.data);
  }
  Shape value_as_shape(int input) override {
    Tensor t = value(input);
    return t.valid() ? values_as_shape(t) : Shape::unknown();
  }
  Shape handle_shape(int input) override {
    const VariableState* variable = variable_behind(slots_[step_.inputs[input]]);
    return variable ? variable->shape() : Shape::unknown();
  }

 private:
  const StepView& step_;
  Value* slots_;
};

}  // namespace

// A step whose shapes only the run knows: everything that a plan does ahead happens here.
void Plan::run_dynamic(const Step& step, Value* slots, const RunControl& control) const {
  static const Shape kScalar;
  // Of an output of an If that the branch which ran does not give there is nothing to copy: it has no shape either.
  if (step.op->role == Role::Copy && !slots[step.view.inputs[0]].data) return;
  std::vector<const Shape*> inputs;
  for (int i = 0; i < step.view.input_count; ++i) {
    const Value& v = slots[step.view.inputs[i]];
    inputs.push_back(v.shape ? v.shape : &kScalar);
  }
  RunValues values(step.view, slots);
  InferContext infer(*step.op, step.attrs, inputs, static_cast<size_t>(step.view.output_count), values);
  if (step.op->def->infer) step.op->def->infer(infer);
  std::vector<Shape> shapes = infer.take_outputs();

  if (step.op->def->alias >= 0) {
    const Value& in = slots[step.view.inputs[step.op->def->alias]];
    if (!shapes[0].is_known() || shapes[0].elements() != in.shape->elements()) {
      throw invalid_argument("a tensor of shape {} cannot become {}", in.shape->str(), shapes[0].str());
    }
    Value& out = slots[step.view.outputs[0]];
    out.own_shape = shapes[0];
    out.shape = &out.own_shape;
    if (in.owner) {
      out.data = in.data;
      out.owner = in.owner;
      out.owner->retain();
    } else {  // a place in the arena, which may be used again before the view's last reader
      Tensor copy(out.dtype, out.own_shape);
      copy_elements(out.dtype, in.data, copy.mutable_raw(), copy.elements());
      hold(out, copy);
    }
    return;
  }

  std::vector<const Shape*> outputs;
  for (int o = 0; o < step.view.output_count; ++o) {
    Value& out = slots[step.view.outputs[o]];
    const Shape& shape = shapes[static_cast<size_t>(o)];
    outputs.push_back(&shape);
    const bool has_elements = slots_[static_cast<size_t>(step.view.outputs[o])].place != Place::Nowhere;
    if (shape.is_known() && has_elements) {
      Tensor t(out.dtype, shape);
      let_go(out);
      if (out.shape != nullptr && out.shape != &out.own_shape && *out.shape != shape) {
        throw invalid_argument("a value of shape {} came where the graph says {}", shape.str(), out.shape->str());
      }
      out.own_shape = shape;
      if (!out.shape) out.shape = &out.own_shape;
      hold(out, t);
    }
  }
  if (computes_nothing(*step.op, *step.kernel, outputs)) return;
  KernelState state(nullptr, [](void*) {});
  PrepareContext prepare(*step.node, inputs, outputs, *step.pool, &environment_.resources);
  if (step.kernel->prepare) state = step.kernel->prepare(prepare);
  Tensor scratch(DType::UInt8, Shape{static_cast<int64_t>(prepare.scratch_bytes())});
  StepView view = step.view;
  view.state = state.get();
  KernelContext c(view, slots, scratch.mutable_raw(), *step.pool, &control);
  step.compute(c);
}

void Plan::rethrow(const Step& step) const {
  try {
    throw;
  } catch (const Error& e) {
    if (!e.node().empty()) throw;
    throw Error(e.code(), e.message(), step.origin->op->name, step.origin->name, step.origin->line);
  } catch (const std::bad_alloc&) {
    throw Error(Code::ResourceExhausted, "out of memory", step.origin->op->name, step.origin->name, step.origin->line);
  } catch (const std::exception& e) {
    throw Error(Code::Internal, e.what(), step.origin->op->name, step.origin->name, step.origin->line);
  }
}

}  // namespace weir
