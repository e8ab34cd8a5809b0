#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/kernel.h"
#include "passes/ir.h"
#include "runtime/fetch_pool.h"
#include "runtime/region.h"
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
  Place place = Place::Nowhere;
  size_t offset = 0, bytes = 0;  // Arena
  Tensor constant;
};

class FlowStep;

// One kernel call. Everything it needs is worked out; running it follows pointers only.
struct Step {
  enum class Kind { Static, Alias, Dynamic, Flow };
  Kind kind = Kind::Static;
  ComputeFn compute = nullptr;
  StepView view;
  KernelState state{nullptr, nullptr};
  size_t scratch_offset = 0, scratch_bytes = 0;
  std::vector<int> releases;  // slots whose last reader this is
  std::vector<int> slots;     // inputs, then outputs; view points into it
  const Op* op = nullptr;
  AttrMap attrs;
  std::string name;
  std::unique_ptr<NodeView> node;
  const Node* origin = nullptr;
  std::shared_ptr<FlowStep> flow;  // of kind Flow: an If or While, see flow.h
};

// A run that is being traced.
struct Tracer {
  RunTrace& trace;
  std::chrono::steady_clock::time_point begin;
};
Tracer start_trace(RunTrace& trace, size_t arena_bytes);

// The memory of one run at a time. Made for a plan, used by one run after the other.
struct Frame {
  std::vector<Value> slots;
  Tensor arena;
  std::vector<std::unique_ptr<RegionRun>> regions;
};

// What a plan is made with.
struct PlanOptions {
  PassOptions passes;
  int inter_op_threads = 1;
  bool direct_convolutions = false;
};

// How a run with certain feeds (and their shapes), fetches and targets is done. Immutable after construction but for
// its cache of frames. Thread-safe.
class Plan {
 public:
  Plan(const PlanRequest& request, const PlanOptions& options, ThreadPool& pool, ResourceStore& resources);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  bool accepts(std::span<const Tensor* const> feed_values) const;
  void run(std::span<const Tensor* const> feed_values, std::span<Tensor> results, const RunControl& control,
           RunTrace* trace);

  size_t arena_bytes() const { return arena_bytes_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Region>& regions() const { return regions_; }
  // A plan for a body of one of this plan's nodes: it has the same session, threads and options.
  std::unique_ptr<Plan> make_body_plan(const PlanRequest& request) const;
  // What its loop's parameters look like in every iteration.
  std::vector<FeedSpec> loop_specs(const Flow& flow, std::vector<FeedSpec> first) const;
  // Frees memory that no run is using; says how much.
  size_t trim();
  // Bytes of arenas that exist, in use or cached.
  size_t frame_bytes() const;

  // Runs a plan again and again on one frame, with values instead of tensors: how control flow runs its bodies.
  class Call {
   public:
    explicit Call(Plan& plan) : plan_(plan), frame_(plan.acquire()) {}
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    // The memory of `feeds` must stay until clear().
    void run(std::span<const Value> feeds, const RunControl& control, Tracer* tracer);
    // Valid until clear().
    const Value& result(size_t fetch) const;
    void clear() { plan_.clear(*frame_); }

   private:
    Plan& plan_;
    std::unique_ptr<Frame> frame_;
  };

 private:
  class Builder;
  friend class Builder;

  std::unique_ptr<Frame> acquire();
  void give_back(std::unique_ptr<Frame> frame);
  void begin(Frame& frame, std::span<const Tensor* const> feed_values) const;
  void take_fetch_buffers(Frame& frame) const;
  void execute(Frame& frame, const RunControl& control, Tracer* tracer) const;
  void execute_traced(Frame& frame, const RunControl& control, Tracer& tracer) const;
  void run_step(const Step& step, Value* slots, char* arena, const RunControl& control, Tracer* tracer = nullptr) const;
  int run_region(size_t region, Frame& frame, const RunControl& control) const;
  void run_alias(const Step& step, Value* slots) const;
  void run_dynamic(const Step& step, Value* slots, const RunControl& control) const;
  void clear(Frame& frame) const;
  [[noreturn]] void rethrow(const Step& step) const;

  PlanOptions options_;
  ThreadPool& pool_;
  ResourceStore& resources_;
  std::vector<Shape> feed_shapes_;
  std::vector<Slot> slots_;
  std::vector<Step> once_;  // when a frame is made: variables and other handles
  std::vector<Step> steps_;
  std::vector<Region> regions_;  // stretches of steps_ that run overlapped
  std::vector<int> feed_slots_, fetch_slots_, held_slots_;
  struct FetchBuffer {
    int slot;
    std::shared_ptr<FetchPool> pool;
  };
  std::vector<FetchBuffer> fetch_buffers_;
  size_t arena_bytes_ = 0;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> free_frames_;
  size_t frames_ = 0;
};

}  // namespace weir
