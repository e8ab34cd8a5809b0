#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/plan.h"

namespace weir {

// How a plan runs an If or a While: by plans of the bodies. Inputs and results pass by reference. When the shapes of
// the inputs are known, the plans are made at once; otherwise when the run knows them, and kept for some shapes.
// Thread-safe.
class FlowStep {
 public:
  // `device` is where the node stands, `inputs` says what is known of the bodies' parameters, `wanted` which outputs of
  // the node are read.
  FlowStep(const Plan& plan, const Flow& flow, int device, std::vector<FeedSpec> inputs, std::vector<bool> wanted);
  ~FlowStep();

  void run(const StepView& step, Value* slots, const RunControl& control, Tracer* tracer);

 private:
  // The bodies' plans for certain shapes of the parameters.
  struct Plans {
    std::vector<Shape> shapes;
    std::unique_ptr<Plan> bodies[2];
    std::exception_ptr failed[2];  // of a branch that cannot be run with these shapes, which matters if it is taken
  };
  // The values of a loop's variables, in this iteration and the next.
  struct Iteration;

  std::unique_ptr<Plans> make_plans(std::vector<FeedSpec> inputs) const;
  std::vector<FeedSpec> loop_specs(std::vector<FeedSpec> inputs) const;
  Plans& plans_for(std::span<const Value> values);
  void run_branch(Plans& plans, bool predicate, std::span<const Value> values, const StepView& step, Value* slots,
                  const RunControl& control, Tracer* tracer);
  void run_loop(Plans& plans, Iteration& iteration, const StepView& step, Value* slots, const RunControl& control,
                Tracer* tracer);
  void give(const Value& value, int output, const StepView& step, Value* slots);
  std::unique_ptr<Iteration> acquire();

  const Plan& plan_;
  Flow flow_;
  const int device_;  // where inputs are and outputs go
  DeviceMemory* const memory_;
  std::vector<FeedSpec> inputs_;
  std::vector<bool> wanted_;
  bool static_ = false;                            // all shapes are known ahead
  std::vector<int> fetched_[2];                    // of each branch: the outputs that its plan's fetches are
  std::vector<std::shared_ptr<FetchPool>> pools_;  // for outputs that are an input passed through

  std::mutex mutex_;
  std::vector<std::unique_ptr<Plans>> plans_;  // never dropped: values may refer to their shapes
  std::vector<std::unique_ptr<Iteration>> free_;
};

}  // namespace weir
