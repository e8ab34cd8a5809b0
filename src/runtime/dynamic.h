#pragma once

#include <vector>

#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir {

// What a step whose shapes only the run knows worked out the last time. When the same shapes come again, and the same
// values of the inputs that its shape function looked at, nothing has to be worked out anew. Belongs to a frame.
class DynamicStep {
 public:
  bool matches(const StepView& step, const Value* slots) const;
  // Runs the shape function.
  void infer(const Op& op, const AttrMap& attrs, const StepView& step, const Value* slots);
  // Has the kernel prepared for the shapes that were inferred.
  void prepare(const NodeView& node, const Kernel& kernel, ThreadPool& pool, SessionResources& resources);

  const std::vector<Shape>& outputs() const { return outputs_; }
  bool computes_nothing() const { return nothing_; }
  void* state() const { return state_.get(); }
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  class Asked;
  // An input whose value or, of a handle, whose variable's shape the shape function asked for.
  struct Seen {
    int input = 0;
    std::vector<char> elements;
    Shape handle;
    bool is_handle = false;
  };

  bool valid_ = false;
  std::vector<Shape> inputs_, outputs_;
  std::vector<Seen> seen_;
  KernelState state_{nullptr, [](void*) {}};
  size_t scratch_bytes_ = 0;
  bool nothing_ = false;
};

}  // namespace weir
