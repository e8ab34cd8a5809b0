#include <mutex>
#include <vector>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/list/run_handle.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// A stack of tensors of a run: where TensorFlow 1's loops keep what their gradients need. Thread-safe.
class StackState final : public Resource {
 public:
  StackState(std::string name, DType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}
  std::string describe() const override { return "stack '" + name_ + "'"; }

  void push(Tensor value) {
    std::lock_guard lock(mutex_);
    require_open();
    if (value.dtype() != dtype_) {
      throw invalid_argument("Must have type {} but got {}", dtype_name(dtype_), dtype_name(value.dtype()));
    }
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      throw invalid_argument("Stack[{}] overflowed its max_size ({})", name_, max_size_);
    }
    values_.push_back(std::move(value));
  }
  Tensor pop(DType dtype) {
    std::lock_guard lock(mutex_);
    require_open();
    if (values_.empty()) throw invalid_argument("Stack[{}] is empty when calling Pop().", name_);
    if (dtype != dtype_) {
      throw invalid_argument("Must have type {} but got {}", dtype_name(dtype_), dtype_name(dtype));
    }
    Tensor value = std::move(values_.back());
    values_.pop_back();
    return value;
  }
  void close() {
    std::lock_guard lock(mutex_);
    require_open();
    closed_ = true;
    values_.clear();
  }

 private:
  void require_open() const {
    if (closed_) throw invalid_argument("Stack[{}] has already been closed.", name_);
  }

  const std::string name_;
  const DType dtype_;
  const int64_t max_size_;  // negative: any
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<Tensor> values_;
};

ResourcePtr<StackState> stack(const KernelContext& c) {
  const ResourcePtr<Resource> found = run_handle(c);
  auto* state = dynamic_cast<StackState*>(found.get());
  if (!state) throw invalid_argument("the handle is not that of a stack: it is {}", found->describe());
  return ResourcePtr<StackState>(state);
}

void infer_make(InferContext& c) {
  if (c.inputs() > 0) c.require_scalar(0);
  c.set_output(0, Shape{2});
}
void infer_pop(InferContext&) {}  // whatever was pushed
void infer_push(InferContext& c) { c.set_output(0, c.input(1)); }

void make(KernelContext& c) {
  const auto& prefix = c.node().attr<std::string>("stack_name");
  const std::string name = c.state<RunHandlesState>().handles->unique_name(prefix.empty() ? c.node().name() : prefix);
  const int64_t max_size = c.inputs() > 0 ? c.scalar<int32_t>(0) : -1;
  give_run_handle(c, "_stacks", name, make_resource<StackState>(name, c.node().type("elem_type"), max_size));
}
void push(KernelContext& c) {
  Tensor value = c.input_tensor(1);
  stack(c)->push(value);
  c.set_output(0, std::move(value));
}
void pop(KernelContext& c) { c.set_output(0, stack(c)->pop(c.node().type("elem_type"))); }
void close(KernelContext& c) { stack(c)->close(); }

OpDef make_row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view host) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .attrs = "elem_type:type; stack_name:string=''",
          .flags = "stateful",
          .host = host,
          .infer = infer_make,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<make>, .prepare = prepared<prepare_run_handles>, .gives_outputs = true},
          .effect = Effect::Other};
}
OpDef push_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "output:T",
          .attrs = "T:type; swap_memory:bool=False",
          .flags = flags,
          .infer = infer_push,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<push>, .prepare = prepared<prepare_run_handles>, .gives_outputs = true}};
}
OpDef pop_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "elem:elem_type",
          .attrs = "elem_type:type",
          .flags = flags,
          .infer = infer_pop,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<pop>, .prepare = prepared<prepare_run_handles>, .gives_outputs = true}};
}
OpDef close_row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .flags = flags,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<close>, .prepare = prepared<prepare_run_handles>}};
}

}  // namespace

OpDef stack_op() { return make_row("Stack", "", "handle:Ref(string)", ""); }
OpDef stack_v2_op() { return make_row("StackV2", "max_size:int32", "handle:resource", "max_size"); }
OpDef stack_push_op() { return push_row("StackPush", "handle:Ref(string); elem:T", ""); }
OpDef stack_push_v2_op() { return push_row("StackPushV2", "handle:resource; elem:T", "stateful"); }
OpDef stack_pop_op() { return pop_row("StackPop", "handle:Ref(string)", ""); }
OpDef stack_pop_v2_op() { return pop_row("StackPopV2", "handle:resource", "stateful"); }
OpDef stack_close_op() { return close_row("StackClose", "handle:Ref(string)", ""); }
OpDef stack_close_v2_op() { return close_row("StackCloseV2", "handle:resource", "stateful"); }

}  // namespace weir::ops
