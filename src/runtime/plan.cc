#include "runtime/plan.h"

#include <algorithm>
#include <numeric>

#include "base/denormals.h"
#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "ops/evaluate.h"
#include "ops/run_control.h"
#include "runtime/dataflow.h"
#include "runtime/flow.h"
#include "runtime/plan_builder.h"
#include "runtime/values.h"
#include "tensor/elements.h"

namespace weir {
namespace {

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

Tensor Plan::upload(const Tensor& constant, int device) const {
  DeviceMemory& memory = *memory_of_device(device);
  if (!is_plain(constant.dtype())) return moved_between(&memory, nullptr, constant);
  Tensor there = memory.allocate(constant.dtype(), constant.shape(), holder_);
  memory.copy(there.mutable_raw(), constant.raw(), constant.bytes(), DeviceMemory::Way::FromHost);
  return there;
}

size_t Plan::bytes() const {
  constexpr size_t kStep = 1500, kNode = 1000;  // with attributes and names
  return (steps_.size() + once_.size()) * kStep + (refit_ ? refit_->nodes() * kNode : 0);
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

}  // namespace weir
