#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ops/kernel.h"
#include "passes/ir.h"
#include "passes/place.h"
#include "passes/refit.h"
#include "runtime/arena_pool.h"
#include "runtime/fetch_pool.h"
#include "runtime/part_run.h"
#include "runtime/region.h"
#include "runtime/waiting_run.h"
#include "weir/session.h"

namespace weir {

// Where the elements of a value are while a plan runs.
enum class Place {
  Nowhere,   // no elements: a reference, a resource handle, the output of nothing
  Arena,     // at a fixed offset
  Fetch,     // in a buffer of its own that is handed to the caller
  Held,      // wherever the producer says, by reference: feeds, reads of variables, shapes known to the run alone
  Constant,  // in the plan
};

struct Slot {
  DType dtype = DType::Invalid;
  Shape shape;
  bool known = false;  // the shape, ahead of the run
  Place place = Place::Nowhere;
  size_t offset = 0, bytes = 0;  // Arena
  int memory = 0;                // whose arena
  int constant = -1;             // Constant: its number in Fit::constants
  int upload = -1;               // Constant: the device whose memory it is put into, when that is not the host's
};
size_t bytes_of(const Slot& slot);  // of its elements; throws InvalidArgument when they are too many

class Dataflow;
class DynamicStep;
class FlowStep;
struct Tracer;
class DeviceTimes;

// Steps of another part of the same stretch that must have been done before a step begins.
struct Wait {
  int part;
  int steps;
};

// One kernel call. Everything it needs is worked out; running it follows pointers only.
struct Step {
  // Copy: between memories of which one is not the host's.
  enum class Kind { Static, Alias, Dynamic, Flow, Copy, Waiting };
  Kind kind = Kind::Static;
  ComputeFn compute = nullptr;
  StartFn start = nullptr;           // of kind Waiting; null: a flow or `compute`, which block a lane of their own
  int waiting = -1;                  // of kind Waiting: its number among the plan's
  StepView view;                     // without the kernel's state
  std::vector<int> releases;         // slots whose last reader this is
  std::vector<int> shared_releases;  // values that steps of several parts read (Plan::shared_held_), this one too
  std::vector<Wait> waits;
  bool awaited = false;              // steps of other parts wait for this one
  bool ends = false;                 // ... until it has ended; otherwise until it has been begun
  int device = 0, to = 0;            // that runs it, and whose memory its outputs are in
  int own_memory = 0;                // the number of its device's memory in the plan
  int from = 0;                      // of a copy: whose memory the input is in
  ThreadPool* pool = nullptr;        // of the device
  const Device* launcher = nullptr;  // the device, when it wraps its kernels
  bool settles = false;              // outputs that the kernel allocated go to the account of their memory, and into it
  std::vector<int> slots;            // inputs, then outputs; view points into it
  const Op* op = nullptr;
  const Kernel* kernel = nullptr;  // of the device
  AttrMap attrs;
  std::string name;
  std::unique_ptr<NodeView> node;
  const Node* origin = nullptr;
  std::shared_ptr<FlowStep> flow;  // of kind Flow, or one that waits: an If or While, see flow.h
};

// Calls a step's kernel, by way of its device when that has its own.
inline void launch(const Step& step, ComputeFn compute, KernelContext& context) {
  if (step.launcher) {
    step.launcher->launch(compute, context);
  } else {
    compute(context);
  }
}

// What of a step depends on shapes.
struct FittedStep {
  ComputeFn compute = nullptr;
  StepView view;
  std::shared_ptr<void> state;  // of the kernel; shared by the fits in which the step is the same
  size_t scratch_offset = 0, scratch_bytes = 0;
};

class Plan;

// What of a plan depends on the shapes of what is fed. Immutable when it is made; thread-safe.
struct Fit {
  Plan* plan = nullptr;
  std::shared_ptr<Plan> owner;  // of a fit that is not the plan's first
  std::vector<Shape> feeds;
  std::vector<Slot> slots;
  std::vector<Tensor> constants;
  std::vector<FittedStep> steps;
  std::vector<size_t> arena_bytes;  // for each of the plan's memories
  uint64_t number = 0;              // no other fit ever has it

  bool accepts(std::span<const Tensor* const> feed_values) const;
  size_t bytes() const;  // of its own, roughly
};

// What one device does in a stretch: its steps in order, on a lane of their own.
struct Part {
  int memory = 0;          // its device's arena, which is also the part's number
  int begin = 0, end = 0;  // steps [begin, end)
};

// Steps that run in a fixed order once what they wait for has ended (WaitingGraph): all steps of a plan in which
// nothing waits. Side by side on several devices, or on one with overlapping regions.
struct Stretch {
  std::vector<Part> parts;  // those that have steps; the home device's first, which the caller's thread runs
  int first_region = 0;     // of its regions, which follow each other
};

// A step that waits, while it is under way.
struct StartedStep {
  const Step& step;
  Value* slots;
  KernelContext context;
  const RunControl& control;
  Tracer* tracer;
  Completion done;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  // Runs a kernel that blocks, or control flow whose bodies wait; for a lane. `done` is the last that it touches.
  void operator()() const;
};

// The memory of one run at a time. Made for a plan, used by one run after the other.
struct Frame {
  const Fit* fit = nullptr;  // that it is bound to; of fits that are gone the number tells
  uint64_t bound = 0;        // the fit's number
  std::vector<Value> slots;
  std::vector<std::shared_ptr<Arena>> arenas;  // one for each memory; null: no value is there
  // What Plan::once_ found, and the manager's generation then: a frame of an older one is not used again.
  std::vector<KernelState> handles;
  uint64_t generation = 0;
  std::vector<std::unique_ptr<RegionRun>> regions;
  // Of a plan in several parts:
  std::unique_ptr<PartRun> parts;
  std::unique_ptr<std::atomic<int>[]> readers;  // steps that still read each of Plan::shared_held_
  // Of a plan with steps that wait:
  std::unique_ptr<WaitingRun> waiting;
  std::vector<std::optional<StartedStep>> started;  // by number
  // Of a plan with steps whose shapes only the run knows: what each of them did last.
  std::vector<DynamicStep> dynamic;
  Frame();
  ~Frame();

  char* arena(int memory) {
    Arena* arena = arenas[static_cast<size_t>(memory)].get();
    return arena ? arena->data() : nullptr;
  }
};

// A run that is being traced. Thread-safe.
struct Tracer {
  RunTrace& trace;
  std::chrono::steady_clock::time_point begin;
  std::mutex mutex = {};

  int64_t since_begin(std::chrono::steady_clock::time_point when) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when - begin).count();
  }
  void add(RunTrace::Event event) {
    std::lock_guard lock(mutex);
    trace.events.push_back(std::move(event));
  }
};
Tracer start_trace(RunTrace& trace, size_t arena_bytes);

// What a plan is made with.
struct PlanOptions {
  PassOptions passes;
  int inter_op_threads = 1;
  bool direct_convolutions = false;
  bool allow_soft_placement = false;
  bool prefers_host = false;  // what may run on any kind of device runs on the host
};

// Where a plan is made: in a session, or inside the plan whose control flow runs it. Outlives the plan.
struct PlanEnvironment {
  const DeviceSet& devices;
  LanePool& lanes;
  SessionResources& resources;
  ArenaPool& arenas;
  PlanOptions options;
  PlacementLog* placement_log = nullptr;
  int home = 0;  // the device that feeds come from, fetches go to and whose part the caller's thread runs
};

// How a run with certain feeds, fetches and targets is done. It is made for certain shapes of the feeds (its first fit)
// and fitted to others where what it was made by holds for them too. Immutable after construction but for its cache of
// frames. Thread-safe.
class Plan {
 public:
  Plan(const PlanRequest& request, const PlanEnvironment& environment);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Fit& first_fit() const { return first_; }
  // The plan for feeds of other shapes; null when another plan has to be made for them. With `any_size` also when they
  // are so much larger or smaller that another plan would run them better.
  static std::shared_ptr<const Fit> fit(const std::shared_ptr<Plan>& plan, std::span<const Shape* const> feeds,
                                        bool any_size);
  // REQUIRES: the fit accepts the values.
  void run(const Fit& fit, std::span<const Tensor* const> feed_values, std::span<Tensor> results,
           const RunControl& control, RunTrace* trace);

  // What the graph says of the shapes of the feeds.
  const std::vector<Shape>& declared() const { return declared_; }
  size_t bytes() const;  // without fits and arenas, roughly
  const std::vector<Stretch>& stretches() const { return stretches_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Region>& regions() const { return regions_; }
  // Where values of that device lie; null: in the host's own memory.
  DeviceMemory* memory_of_device(int device) const { return environment_.devices[device].memory(); }
  // A plan for a body of one of this plan's nodes, which stands on `device`: it has the same session and options.
  std::unique_ptr<Plan> make_body_plan(const PlanRequest& request, int device) const;
  // What its loop's parameters look like in every iteration.
  std::vector<FeedSpec> loop_specs(const Flow& flow, std::vector<FeedSpec> first) const;

  // Runs a plan again and again on one frame, with values instead of tensors: how control flow runs its bodies.
  class Call {
   public:
    explicit Call(Plan& plan) : plan_(plan), frame_(plan.acquire(plan.first_)) {}
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    // The memory of `feeds` must stay until clear().
    void run(std::span<const Value> feeds, const RunControl& control, Tracer* tracer);
    // Valid until clear().
    const Value& result(size_t fetch) const;
    void clear();

   private:
    Plan& plan_;
    std::unique_ptr<Frame> frame_;
    bool again_ = false;          // what is the same in all runs has been computed
    std::vector<Value> results_;  // of a plan of raw control flow
  };

 private:
  class Builder;
  friend class Builder;
  class Layout;
  friend class Layout;

  static uint64_t next_fit();
  // Has a step's kernel prepared for the shapes of a fit.
  void prepare(size_t step, Fit& fit) const;
  std::unique_ptr<Frame> acquire(const Fit& fit);
  std::unique_ptr<Frame> make_frame() const;
  bool take_arenas(Frame& frame, const Fit& fit) const;
  void bind(Frame& frame, const Fit& fit) const;
  void give_back(std::unique_ptr<Frame> frame);
  void look_up_handles(Frame& frame) const;
  Tensor upload(const Tensor& constant, int device) const;
  void begin(Frame& frame, std::span<const Tensor* const> feed_values) const;
  void take_fetch_buffers(Frame& frame) const;
  class Waits;
  class Abandoned;
  // `again`: after another run on the same frame, whose invariants are still there.
  void execute(Frame& frame, const RunControl& control, Tracer* tracer, bool again = false) const;
  void run_stretch(const Stretch& stretch, Frame& frame, const RunControl& control, Tracer* tracer) const;
  void run_alone(const Stretch& stretch, Frame& frame, const RunControl& control) const;
  // `others` is null for the only part of a stretch.
  void run_part(const Part& part, PartRun* others, Frame& frame, const RunControl& control, Tracer* tracer) const;
  void run_traced(const Step& step, Frame& frame, char* arena, const RunControl& control, Tracer& tracer,
                  DeviceTimes& times) const;
  void run_step(const Step& step, Frame& frame, char* arena, const RunControl& control, Tracer* tracer) const;
  void start(const Step& step, Frame& frame, const RunControl& control, Tracer* tracer) const;
  void release_inputs(const Step& step, Frame& frame) const;
  int run_region(size_t region, int memory, Frame& frame, const RunControl& control) const;
  void run_alias(const Step& step, Frame& frame) const;
  void run_dynamic(const Step& step, Frame& frame, const RunControl& control) const;
  void view_dynamic(const Step& step, const Shape& shape, Value* slots) const;
  void run_copy(const Step& step, Value* slots) const;
  void settle_outputs(const Step& step, Value* slots) const;
  // Of a value that a step gives; null: the host's own.
  DeviceMemory* memory_of_slot(int slot) const {
    return device_memories_[static_cast<size_t>(first_.slots[static_cast<size_t>(slot)].memory)];
  }
  // Buffers for a value that only the run knows the size of.
  FetchPool& values_for(int slot) const {
    return *values_[static_cast<size_t>(first_.slots[static_cast<size_t>(slot)].memory)];
  }
  // Waits until what a part's device has begun has ended.
  void finish(const Part& part) const {
    if (DeviceMemory* memory = device_memories_[static_cast<size_t>(part.memory)]) memory->finish();
  }
  // Its run has failed.
  void abandon(const Part& part) const noexcept {
    if (DeviceMemory* memory = device_memories_[static_cast<size_t>(part.memory)]) memory->abandon();
  }
  void clear(Frame& frame) const;
  [[noreturn]] void rethrow(const Step& step) const;
  RunTrace::Event trace_event(const Step& step) const;  // without its times

  void run_dataflow(std::span<const Tensor* const> feed_values, std::span<Tensor> results, const RunControl& control,
                    Tracer* tracer);

  const PlanEnvironment environment_;
  ThreadPool& pool_;
  std::vector<Shape> declared_;
  std::unique_ptr<Dataflow> dataflow_;  // null: there is no raw control flow, and the rest is empty otherwise
  std::unique_ptr<Refit> refit_;        // null: no shape can be another
  std::unique_ptr<Layout> layout_;      // for further fits
  std::vector<IrEdge> slot_edges_;      // the Ir's name of each slot
  Fit first_;
  std::vector<Step> once_;  // when a frame is made: variables and other handles
  std::vector<Step> steps_;
  std::vector<Stretch> stretches_;
  std::vector<Region> regions_;                 // steps of a stretch that run overlapped
  std::vector<int> memories_;                   // devices that values live on
  std::vector<DeviceMemory*> device_memories_;  // theirs; null: the host's own
  WaitingGraph waiting_;
  std::vector<int> waiting_steps_;  // by their numbers
  bool in_parts_ = false;           // some stretch has several
  bool has_invariants_ = false;     // of a loop's body: stretch 0 is what all iterations share
  std::vector<int> feed_slots_, fetch_slots_, held_slots_;
  struct SharedHeld {
    int slot;
    int readers;
  };
  std::vector<SharedHeld> shared_held_;
  struct FetchBuffer {
    int slot;
    std::shared_ptr<FetchPool> pool;
  };
  std::vector<FetchBuffer> fetch_buffers_;
  bool dynamic_steps_ = false;                      // there are some
  std::vector<std::shared_ptr<FetchPool>> values_;  // for their outputs, one for each memory
  std::string holder_;                              // as accounts of memory name it

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> free_frames_;
};

}  // namespace weir
