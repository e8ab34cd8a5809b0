#pragma once

#include <memory>
#include <vector>

#include "ops/net/rendezvous.h"
#include "runtime/plan.h"

namespace weir {

struct DataflowStructure;

// How a plan runs nodes of TensorFlow 1's control flow (ops/control/dataflow.h): Switch, Merge, Enter, Exit,
// NextIteration. The graph between them falls into parts whose nodes become ready, or dead, together; each part is a
// plan of its own, made for the shapes that it meets. A run passes values and dead tokens from part to part and counts
// what each still waits for, for every iteration of every loop. One thread runs it; what other tasks send comes
// meanwhile, and parts that wait go on beside it (runtime/dataflow_exchange.h). Thread-safe.
class Dataflow {
 public:
  // Throws InvalidArgument for graphs that no order of running serves: inputs from different loops, an Exit outside of
  // one. REQUIRES: the graph's lock is not held.
  Dataflow(const Plan& plan, const PlanEnvironment& environment, const PlanRequest& request);
  ~Dataflow();

  size_t fetches() const;
  // `feeds` are in the order of the request's. Throws InvalidArgument when a fetch is dead.
  void run(std::span<const Value> feeds, std::span<Value> results, const RunControl& control, Tracer* tracer);

 private:
  class Run;

  const Plan& plan_;
  const PlanEnvironment& environment_;
  ResourcePtr<ops::Rendezvous> rendezvous_;  // null: nothing goes to other tasks
  std::unique_ptr<DataflowStructure> structure_;
};

}  // namespace weir
