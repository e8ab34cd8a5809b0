#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>

#include "base/thread_pool.h"
#include "graph/op_def.h"
#include "weir/error.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir {

struct Op;
class VariableState;

// A value while a plan runs: where its elements are, and who keeps them alive. `owner` is null for memory of the arena.
struct Value {
  void* data = nullptr;
  const Shape* shape = nullptr;  // concrete
  DType dtype = DType::Invalid;
  Buffer* owner = nullptr;            // one reference, held until the last reader is done
  VariableState* variable = nullptr;  // of a Ref output or a resource handle
  Shape own_shape;                    // what `shape` points to when only the run knows it
};

// A node as kernels see it when they are chosen and prepared.
class NodeView {
 public:
  NodeView(const Op& op, const AttrMap& attrs, std::string_view name) : op_(&op), attrs_(&attrs), name_(name) {}
  const Op& op() const { return *op_; }
  const AttrMap& attrs() const { return *attrs_; }
  std::string_view name() const { return name_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return attrs_->get<T>(name);
  }
  DType type(std::string_view name = "T") const { return attrs_->get<DType>(name); }

 private:
  const Op* op_;
  const AttrMap* attrs_;
  std::string_view name_;
};

// State that belongs to a node of a session and outlives its plans: generators of random numbers, counters.
class NodeResource {
 public:
  virtual ~NodeResource() = default;
};
class ResourceStore {
 public:
  virtual ~ResourceStore() = default;
  // The node's resource; made by `make` when asked for the first time.
  virtual NodeResource& node_resource(std::string_view node, FunctionRef<std::unique_ptr<NodeResource>()> make) = 0;
  // The variable of that name; made when asked for the first time.
  virtual VariableState& variable(std::string_view name, DType dtype, const Shape& shape) = 0;
};

// Seen by Kernel::prepare when a plan is made: everything about the node, with concrete shapes.
class PrepareContext {
 public:
  PrepareContext(const NodeView& node, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs,
                 ThreadPool& pool, ResourceStore* resources)
      : node_(node), inputs_(inputs), outputs_(outputs), pool_(pool), resources_(resources) {}

  const NodeView& node() const { return node_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  const Shape& input(int index) const { return *inputs_[static_cast<size_t>(index)]; }
  // Of unknown rank when only the kernel can know (it then allocates the output itself).
  const Shape& output(int index = 0) const { return *outputs_[static_cast<size_t>(index)]; }
  int threads() const { return pool_.threads(); }

  // Scratch memory that KernelContext::scratch() gives while the kernel runs.
  void set_scratch(size_t bytes) { scratch_bytes_ = bytes; }
  size_t scratch_bytes() const { return scratch_bytes_; }
  // Throws Internal outside a session (constant folding never prepares stateful nodes).
  ResourceStore& resources() const;

 private:
  const NodeView& node_;
  std::span<const Shape*const> inputs_, outputs_;
  ThreadPool& pool_;
  ResourceStore* resources_;
  size_t scratch_bytes_ = 0;
};

// Why and when a run should end early: the session closes, a token is cancelled, or the time is up.
struct RunControl {
  const std::atomic<bool>* closed = nullptr;
  const std::atomic<bool>* token = nullptr;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  bool cancelled() const {
    return (closed && closed->load(std::memory_order_relaxed)) || (token && token->load(std::memory_order_relaxed));
  }
  bool has_deadline() const { return deadline != std::chrono::steady_clock::time_point::max(); }
  // Throws Cancelled or DeadlineExceeded. The clock is read only when there is a deadline.
  void check() const {
    if (cancelled() || (has_deadline() && std::chrono::steady_clock::now() >= deadline)) end();
  }
  [[noreturn]] void end() const;
};

// What one step of a plan needs to run its kernel; see plan.h for how steps are made.
struct StepView {
  const int* inputs = nullptr;  // slots
  const int* outputs = nullptr;
  int input_count = 0, output_count = 0;
  void* state = nullptr;
  const NodeView* node = nullptr;
};

// Seen by a kernel while it runs.
class KernelContext {
 public:
  KernelContext(const StepView& step, Value* slots, void* scratch, ThreadPool& pool, const RunControl* control)
      : step_(step), slots_(slots), scratch_(scratch), pool_(pool), control_(control) {}

  int inputs() const { return step_.input_count; }
  int outputs() const { return step_.output_count; }
  const Shape& shape(int index) const { return *in(index).shape; }
  DType dtype(int index) const { return in(index).dtype; }
  int64_t elements(int index) const { return in(index).shape->elements(); }
  const void* raw_input(int index) const { return in(index).data; }
  template <class T>
  const T* input(int index) const {
    return static_cast<const T*>(in(index).data);
  }
  template <class T>
  T scalar(int index) const {  // the first element
    return *static_cast<const T*>(in(index).data);
  }

  const Shape& output_shape(int index = 0) const { return *out(index).shape; }
  int64_t output_elements(int index = 0) const { return out(index).shape->elements(); }
  void* raw_output(int index = 0) { return out(index).data; }
  template <class T>
  T* output(int index = 0) {
    return static_cast<T*>(out(index).data);
  }
  // Gives an output its value when only the kernel knows its shape, or when the value exists already.
  void set_output(int index, Tensor value);
  // The input as a tensor that may be kept: shares the buffer when it has one, and is a copy otherwise.
  Tensor input_tensor(int index) const;
  // The variable behind a Ref or resource input; throws InvalidArgument when there is none.
  VariableState& variable(int index) const;
  // Makes a Ref or resource output refer to a variable.
  void set_variable(int index, VariableState* variable) { out(index).variable = variable; }
  // Passes the reference of an input on to a Ref output.
  void forward_ref(int input, int output) { out(output).variable = in(input).variable; }

  template <class S>
  S& state() const {
    return *static_cast<S*>(step_.state);
  }
  void* scratch() const { return scratch_; }
  ThreadPool& pool() const { return pool_; }
  const NodeView& node() const { return *step_.node; }
  // Null outside a session. Kernels that wait ask it again and again.
  const RunControl* control() const { return control_; }
  [[noreturn]] void fail(const std::string& message, Code code = Code::InvalidArgument) const {
    throw Error(code, message);  // the executor adds the node
  }

 private:
  const Value& in(int index) const { return slots_[step_.inputs[index]]; }
  Value& out(int index) const { return slots_[step_.outputs[index]]; }

  const StepView& step_;
  Value* slots_;
  void* scratch_;
  ThreadPool& pool_;
  const RunControl* control_;
};

// Wraps `S prepare(PrepareContext&)` for Kernel::prepare: .prepare = prepared<prepare>.
template <auto Fn>
KernelState prepared(PrepareContext& c) {
  using S = decltype(Fn(c));
  return KernelState(new S(Fn(c)), [](void* state) { delete static_cast<S*>(state); });
}

}  // namespace weir
