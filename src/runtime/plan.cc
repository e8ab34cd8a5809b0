#include "runtime/plan.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "base/denormals.h"
#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "ops/evaluate.h"
#include "ops/run_control.h"
#include "ops/state/variable_state.h"
#include "runtime/dataflow.h"
#include "runtime/describe_wait.h"
#include "runtime/device_times.h"
#include "runtime/dynamic.h"
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

// The value of a fetch. A handle has none: bytes stand for it that tell what it is of, so that a run can ask for it.
Tensor result_of(const Value& v, size_t fetch) {
  if (v.dtype == DType::Resource && v.resource) {
    const std::string text = v.resource->describe();
    Tensor bytes(DType::UInt8, Shape{static_cast<int64_t>(text.size())});
    std::copy(text.begin(), text.end(), bytes.mutable_data<uint8_t>());
    return bytes;
  }
  if (!v.owner || !v.shape || v.dtype == DType::Resource) {
    throw invalid_argument("fetch {} is a handle; it has no value", fetch);
  }
  return share(v);
}

}  // namespace

Plan::Plan(const PlanRequest& request, const PlanEnvironment& environment)
    : environment_(environment), pool_(environment.devices[environment.home].pool()) {
  const PlanOptions& options = environment_.options;
  const PassOptions& passes = options.passes;
  auto shared = std::make_shared<Ir>(build_ir(request));
  Ir& ir = *shared;
  declared_ = ir.declared;
  if (ir.is_dataflow) {
    holder_ = name_of(request);
    first_.plan = this;
    first_.number = next_fit();
    for (const FeedSpec& feed : request.feed_specs) first_.feeds.push_back(feed.shape);
    dataflow_ = std::make_unique<Dataflow>(*this, environment_, request);
    return;
  }
  PassContext context{passes, pool_, &environment_.devices};
  infer_ir(ir, context);
  place(ir, environment_.devices,
        {.allow_soft_placement = options.allow_soft_placement,
         .prefers_host = options.prefers_host,
         .home = environment_.home,
         .log = environment_.placement_log});
  rewrite(ir, context);
  if (options.direct_convolutions) direct_convolutions(ir);
  ir.sweep();
  if (passes.hoist_invariants && request.body) hoist_invariants(ir, context);
  wait_in_place(ir);
  insert_copies(ir, environment_.devices, request.fetch_to_host ? DeviceSet::kHost : environment_.home);
  holder_ = name_of(request);
  first_.plan = this;
  for (const FeedSpec& feed : request.feed_specs) first_.feeds.push_back(feed.shape);
  Builder(*this, ir, request.feeds.size()).build(options.inter_op_threads);
  if (request.body && !request.body->is_function) return;  // bodies get a plan for each shape
  refit_ = std::make_unique<Refit>(std::move(shared));
  if (refit_->is_empty()) refit_.reset();
}

std::unique_ptr<Plan> Plan::make_body_plan(const PlanRequest& request, int device) const {
  PlanEnvironment environment = environment_;
  environment.home = device;
  return std::make_unique<Plan>(request, environment);
}

std::vector<FeedSpec> Plan::loop_specs(const Flow& flow, std::vector<FeedSpec> first) const {
  PassContext context{environment_.options.passes, pool_, &environment_.devices};
  return loop_invariants(flow, std::move(first), context);
}

Plan::~Plan() = default;

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

Tensor Plan::upload(const Tensor& constant, int device) const {
  DeviceMemory& memory = *memory_of_device(device);
  if (!is_plain(constant.dtype())) return moved_between(&memory, nullptr, constant);
  Tensor there = memory.allocate(constant.dtype(), constant.shape(), holder_);
  memory.copy(there.mutable_raw(), constant.raw(), constant.bytes(), DeviceMemory::Way::FromHost);
  return there;
}

void Plan::give_back(std::unique_ptr<Frame> frame) {
  for (const auto& arena : frame->arenas) {
    if (arena) environment_.arenas.release(*arena);
  }
  std::lock_guard lock(mutex_);
  free_frames_.reserve(kMaxFreeFrames);
  if (free_frames_.size() < kMaxFreeFrames) free_frames_.push_back(std::move(frame));
}

size_t Plan::bytes() const {
  constexpr size_t kStep = 1500, kNode = 1000;  // with attributes and names
  return (steps_.size() + once_.size()) * kStep + (refit_ ? refit_->nodes() * kNode : 0);
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

void Plan::run(const Fit& fit, std::span<const Tensor* const> feed_values, std::span<Tensor> results,
               const RunControl& control, RunTrace* trace) {
  DenormalScope denormals(kFlushDenormals);
  if (dataflow_) {
    std::optional<Tracer> tracer;
    if (trace) tracer.emplace(*trace, std::chrono::steady_clock::now());
    run_dataflow(feed_values, results, control, tracer ? &*tracer : nullptr);
    return;
  }
  std::unique_ptr<Frame> frame = acquire(fit);
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
    Tracer tracer = start_trace(*trace, std::accumulate(fit.arena_bytes.begin(), fit.arena_bytes.end(), size_t{0}));
    execute(*frame, control, &tracer);
    std::stable_sort(trace->events.begin(), trace->events.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  } else {
    execute(*frame, control, nullptr);
  }
  for (size_t i = 0; i < fetch_slots_.size(); ++i) {
    results[i] = result_of(frame->slots[static_cast<size_t>(fetch_slots_[i])], i);
  }
}

void Plan::run_dataflow(std::span<const Tensor* const> feed_values, std::span<Tensor> results,
                        const RunControl& control, Tracer* tracer) {
  std::vector<Value> feeds(feed_values.size()), values(results.size());
  struct LetGo {
    std::vector<Value>&a, &b;
    ~LetGo() {
      for (Value& v : a) let_go(v);
      for (Value& v : b) let_go(v);
    }
  } let_go_at_end{feeds, values};
  for (size_t i = 0; i < feeds.size(); ++i) {
    feeds[i].dtype = feed_values[i]->dtype();
    feeds[i].own_shape = feed_values[i]->shape();
    feeds[i].shape = &feeds[i].own_shape;
    hold(feeds[i], *feed_values[i]);
    if (feeds[i].dtype == DType::Resource) feeds[i].resource = *static_cast<Resource* const*>(feeds[i].data);
  }
  dataflow_->run(feeds, values, control, tracer);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = result_of(values[i], i);
  }
}

void Plan::Call::clear() {
  for (Value& v : results_) let_go(v);
  plan_.clear(*frame_);
}

Plan::Call::~Call() {
  clear();
  plan_.give_back(std::move(frame_));
}

void Plan::Call::run(std::span<const Value> feeds, const RunControl& control, Tracer* tracer) {
  if (plan_.dataflow_) {
    results_.resize(plan_.dataflow_->fetches());
    plan_.dataflow_->run(feeds, results_, control, tracer);
    return;
  }
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
  plan_.execute(*frame_, control, tracer, std::exchange(again_, true));
}

const Value& Plan::Call::result(size_t fetch) const {
  if (plan_.dataflow_) return results_[fetch];
  return frame_->slots[static_cast<size_t>(plan_.fetch_slots_[fetch])];
}

// That a node's long wait has been told of, in this session: threads that fill queues would say so again and again.
struct Warned final : Resource {
  std::string describe() const override { return "a warning"; }
  std::atomic_flag once;
};

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
