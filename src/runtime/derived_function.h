#pragma once

#include <optional>

#include "runtime/session_functions.h"

namespace weir {

// A function that a session's graph does not have but that follows from what it has: the gradient of one of its
// functions, or one of the library that came with an imported graph. It stands in a graph of its own, for a session
// must not change the program's. Thread-safe.
class DerivedFunction final : public GraphFunction {
 public:
  // `gradient_types` is what GraphFunctions::find_gradient takes; none: the function itself.
  DerivedFunction(const Graph& graph, const std::string& name, std::optional<std::span<const DType>> gradient_types,
                  const PlanEnvironment& environment, std::stop_token closed);
  ~DerivedFunction() override { end(); }

  size_t arguments() const override { return function_->arguments(); }
  size_t results() const override { return function_->results(); }
  bool stateful() const override { return function_->stateful(); }
  void call(std::span<const Tensor> arguments, std::span<Tensor> results, const RunControl& control) override {
    function_->call(arguments, results, control);
  }
  // As SessionFunctions::end.
  void end();

 private:
  Graph graph_;
  SessionResources resources_;
  std::shared_ptr<SessionFunctions> runner_;
  std::shared_ptr<GraphFunctions> functions_;
  GraphFunction* function_ = nullptr;
};

}  // namespace weir
