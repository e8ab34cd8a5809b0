#include "runtime/flow.h"

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/run_control.h"
#include "runtime/values.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// Beyond this many different shapes one plan that leaves all shapes to the run serves the rest.
constexpr size_t kMaxPlans = 16;
constexpr size_t kMaxFreeIterations = 8;

std::vector<Output> wanted_results(const FlowBody& body) {
  std::vector<Output> results;
  for (const Output& result : body.results) {
    if (result) results.push_back(result);
  }
  return results;
}

}  // namespace

struct FlowStep::Iteration {
  std::vector<Value> now, next;

  ~Iteration() { clear(); }
  void clear() {
    for (Value& v : now) let_go(v);
    for (Value& v : next) let_go(v);
  }
};

FlowStep::FlowStep(const Plan& plan, const Flow& flow, int device, std::vector<FeedSpec> inputs,
                   std::vector<bool> wanted)
    : plan_(plan),
      flow_(flow),
      device_(device),
      memory_(plan.memory_of_device(device)),
      inputs_(std::move(inputs)),
      wanted_(std::move(wanted)) {
  static_ = true;
  for (const FeedSpec& input : inputs_) static_ &= input.dtype == DType::Resource || input.shape.is_known();
  for (int b = 0; b < 2; ++b) {
    const FlowBody& body = flow_.bodies[b];
    for (size_t i = 0; i < body.results.size(); ++i) {
      if (body.results[i]) fetched_[b].push_back(flow_.is_loop && b == 0 ? 0 : flow_.outputs[i]);
    }
  }
  pools_.resize(wanted_.size());
  if (static_) plans_.push_back(make_plans(inputs_));
}

FlowStep::~FlowStep() = default;

std::unique_ptr<FlowStep::Plans> FlowStep::make_plans(std::vector<FeedSpec> inputs) const {
  auto plans = std::make_unique<Plans>();
  for (const FeedSpec& input : inputs) plans->shapes.push_back(input.shape);
  if (flow_.is_loop) inputs = loop_specs(std::move(inputs));
  for (int b = 0; b < 2; ++b) {
    if (flow_.selected >= 0 && flow_.selected != b) continue;
    const FlowBody& body = flow_.bodies[b];
    std::vector<Output> fetches = wanted_results(body);
    // The host itself looks at a loop's condition.
    const bool is_condition = flow_.is_loop && b == 0;
    try {
      plans->bodies[b] =
          plan_.make_body_plan({fetches, body.parameters, inputs, body.targets, body.body, is_condition}, device_);
    } catch (const Error&) {
      if (flow_.is_loop || flow_.selected >= 0) throw;
      plans->failed[b] = std::current_exception();
    }
  }
  return plans;
}

// What holds of the parameters in every iteration. The plan has found it out when it knows all shapes.
std::vector<FeedSpec> FlowStep::loop_specs(std::vector<FeedSpec> inputs) const {
  if (!static_) return plan_.loop_specs(flow_, std::move(inputs));
  std::vector<FeedSpec> specs = flow_.invariants;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].invariant) specs[i].value = inputs[i].value;  // rewrites may have found out more
  }
  return specs;
}

FlowStep::Plans& FlowStep::plans_for(std::span<const Value> values) {
  if (static_) return *plans_[0];
  auto fits = [&](const Plans& plans) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].shape ? plans.shapes[i] != *values[i].shape : plans.shapes[i].is_known()) return false;
    }
    return true;
  };
  std::lock_guard lock(mutex_);
  for (const auto& plans : plans_) {
    if (fits(*plans)) return *plans;
  }
  if (plans_.size() > kMaxPlans) return *plans_.back();
  std::vector<FeedSpec> specs = inputs_;
  if (plans_.size() < kMaxPlans) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (values[i].shape) specs[i].shape = *values[i].shape;
    }
  }
  plans_.push_back(make_plans(std::move(specs)));
  return *plans_.back();
}

std::unique_ptr<FlowStep::Iteration> FlowStep::acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Iteration> iteration = std::move(free_.back());
      free_.pop_back();
      return iteration;
    }
    free_.reserve(kMaxFreeIterations);
  }
  auto iteration = std::make_unique<Iteration>();
  iteration->now.resize(inputs_.size());
  iteration->next.resize(inputs_.size());
  return iteration;
}

void FlowStep::run(const StepView& step, Value* slots, const RunControl& control, Tracer* tracer) {
  std::unique_ptr<Iteration> iteration = acquire();
  struct Return {
    FlowStep& flow;
    std::unique_ptr<Iteration>& iteration;
    ~Return() {
      iteration->clear();
      std::lock_guard lock(flow.mutex_);
      if (flow.free_.size() < kMaxFreeIterations) flow.free_.push_back(std::move(iteration));
    }
  } give_back_at_end{*this, iteration};
  const int first = flow_.is_loop ? 0 : 1;  // an If has its predicate before the inputs of its branches
  for (size_t i = 0; i < inputs_.size(); ++i)
    refer(iteration->now[i], slots[step.inputs[i + static_cast<size_t>(first)]]);
  Plans& plans = plans_for(iteration->now);
  if (flow_.is_loop) {
    run_loop(plans, *iteration, step, slots, control, tracer);
  } else {
    const Value& predicate = slots[step.inputs[0]];
    bool taken =
        flow_.selected >= 0 ? flow_.selected == 0 : is_true(flow_, predicate.dtype, *predicate.shape, predicate.data);
    run_branch(plans, taken, iteration->now, step, slots, control, tracer);
  }
}

void FlowStep::run_branch(Plans& plans, bool predicate, std::span<const Value> values, const StepView& step,
                          Value* slots, const RunControl& control, Tracer* tracer) {
  const int branch = predicate ? 0 : 1;
  if (plans.failed[branch]) std::rethrow_exception(plans.failed[branch]);
  Plan::Call call(*plans.bodies[branch]);
  call.run(values, control, tracer);
  for (size_t i = 0; i < fetched_[branch].size(); ++i) give(call.result(i), fetched_[branch][i], step, slots);
}

void FlowStep::run_loop(Plans& plans, Iteration& iteration, const StepView& step, Value* slots,
                        const RunControl& control, Tracer* tracer) {
  Plan::Call condition(*plans.bodies[0]), body(*plans.bodies[1]);
  for (;;) {
    control.check();
    condition.run(iteration.now, control, tracer);
    const Value& predicate = condition.result(0);
    const bool goes_on = is_true(flow_, predicate.dtype, *predicate.shape, predicate.data);
    condition.clear();
    if (!goes_on) break;
    body.run(iteration.now, control, tracer);
    for (size_t i = 0; i < iteration.next.size(); ++i) refer(iteration.next[i], body.result(i));
    body.clear();
    for (Value& v : iteration.now) let_go(v);
    std::swap(iteration.now, iteration.next);
  }
  for (size_t i = 0; i < iteration.now.size(); ++i) give(iteration.now[i], flow_.outputs[i], step, slots);
}

void FlowStep::give(const Value& value, int output, const StepView& step, Value* slots) {
  if (!wanted_[static_cast<size_t>(output)]) return;
  Value& out = slots[step.outputs[output]];
  out.resource = value.resource;
  if (!value.data) return;  // a handle, or a value that the other branch would have given
  if (out.shape && out.shape != &out.own_shape) {
    if (*out.shape != *value.shape) {
      throw invalid_argument("a value of shape {} came where the graph says {}", value.shape->str(), out.shape->str());
    }
  } else {
    out.own_shape = *value.shape;
    out.shape = &out.own_shape;
  }
  let_go(out);
  if (value.owner) {
    out.data = value.data;
    out.owner = value.owner;
    out.owner->retain();
    return;
  }
  // An input in the arena that is passed through: its place may be used again before the output's last reader.
  if (!is_plain(value.dtype) || out.shape == &out.own_shape) {
    hold(out, copy_of(value, *value.shape, memory_));
    return;
  }
  std::shared_ptr<FetchPool> pool;
  const size_t bytes = static_cast<size_t>(value.shape->elements()) * dtype_size(value.dtype);
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<FetchPool>& kept = pools_[static_cast<size_t>(output)];
    if (!kept) kept = std::make_shared<FetchPool>(4, on_host(memory_) ? nullptr : memory_->shared_from_this());
    pool = kept;
  }
  out.owner = pool->acquire(bytes);
  out.data = out.owner->data();
  copy_between(memory_, out.data, memory_, value.data, bytes);
}

}  // namespace weir
