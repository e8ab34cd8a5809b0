#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>

#include "base/resource_manager.h"
#include "base/thread_pool.h"
#include "graph/op_def.h"
#include "weir/error.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir {

struct Op;
struct RunControl;
class VariableState;

// A value while a plan runs: where its elements are, and who keeps them alive. `owner` is null for memory of the arena.
struct Value {
  void* data = nullptr;
  const Shape* shape = nullptr;  // concrete
  DType dtype = DType::Invalid;
  Buffer* owner = nullptr;       // one reference, held until the last reader is done
  Resource* resource = nullptr;  // of a Ref output or a resource handle; the frame of the run keeps it alive
  Shape own_shape;               // what `shape` points to when only the run knows it
};

// A node as kernels see it when they are chosen and prepared.
class NodeView {
 public:
  NodeView(const Op& op, const AttrMap& attrs, std::string_view name);
  const Op& op() const { return *op_; }
  const AttrMap& attrs() const { return *attrs_; }
  std::string_view name() const { return name_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return attrs_->get<T>(name);
  }
  DType type(std::string_view name = "T") const;
  // What the attribute use_locking says, if there is one. Costs no look-up.
  std::optional<bool> use_locking() const { return use_locking_; }

 private:
  const Op* op_;
  const AttrMap* attrs_;
  std::string_view name_;
  std::optional<bool> use_locking_;
};

// Seen by Kernel::prepare when a plan is made: everything about the node, with concrete shapes.
class PrepareContext {
 public:
  PrepareContext(const NodeView& node, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs,
                 ThreadPool& pool, SessionResources* resources)
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
  // Both throw Internal outside a session (constant folding never prepares stateful nodes).
  ResourceManager& resources() const;
  std::shared_ptr<ResourceManager> shared_resources() const;
  // How functions of the graph are called. Throws Internal outside a session.
  std::shared_ptr<FunctionRunner> functions() const;
  // The resource that the node names by its attributes `container` and `shared_name`, or else by its own name. Throws
  // InvalidArgument for names that are none.
  template <class R>
  ResourcePtr<R> named_resource(FunctionRef<ResourcePtr<R>(const std::string& name)> make) const {
    const std::string name = resource_name();
    return resources().find_or_make<R>(resource_container(), name, [&] { return make(name); });
  }
  // State that belongs to the node of this session and outlives its plans: a generator of random numbers, a counter.
  template <class R>
  ResourcePtr<R> node_resource(FunctionRef<ResourcePtr<R>()> make) const {
    return session_resources().of_nodes.find_or_make<R>({}, node_.name(), make);
  }

 private:
  SessionResources& session_resources() const;
  std::string resource_container() const;
  std::string resource_name() const;

  const NodeView& node_;
  std::span<const Shape*const> inputs_, outputs_;
  ThreadPool& pool_;
  SessionResources* resources_;
  size_t scratch_bytes_ = 0;
};

// How an operation that waits says that it has ended: called once, from any thread, perhaps before Kernel::start has
// returned. The outputs are set before. The context and what it points to are gone afterwards.
class Completion {
 public:
  class Receiver {
   public:
    virtual void complete(int step, std::exception_ptr error) noexcept = 0;

   protected:
    ~Receiver() = default;
  };
  Completion(Receiver& receiver, int step) : receiver_(&receiver), step_(step) {}
  void operator()(std::exception_ptr error = nullptr) const noexcept { receiver_->complete(step_, std::move(error)); }

 private:
  Receiver* receiver_;
  int step_;
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
  // The input as a tensor that may be kept: shares the buffer when nobody will change it, and is a copy otherwise.
  Tensor input_tensor(int index) const;
  // The input as a tensor for the time of this call.
  Tensor input_view(int index) const;
  // The resource behind a Ref or handle input; throws InvalidArgument when there is none, or one of another kind.
  template <class R>
  R& resource(int index) const {
    Resource* resource = in(index).resource;
    if (!resource) fail_without_resource(index);
    if (typeid(*resource) == typeid(R)) return *static_cast<R*>(resource);
    R* derived = dynamic_cast<R*>(resource);
    if (!derived) fail_other_resource(*resource, typeid(R));
    return *derived;
  }
  VariableState& variable(int index) const;  // resource<VariableState>(index)
  // Makes a Ref or handle output refer to a resource, which the kernel's state keeps alive.
  void set_resource(int index, Resource* resource) { out(index).resource = resource; }
  // Passes the reference of an input on to a Ref output.
  void forward_ref(int input, int output) { out(output).resource = in(input).resource; }

  template <class S>
  S& state() const {
    return *static_cast<S*>(step_.state);
  }
  void* scratch() const { return scratch_; }
  ThreadPool& pool() const { return pool_; }
  const NodeView& node() const { return *step_.node; }
  // Null outside a session. Kernels of unknown length ask it again and again.
  const RunControl* control() const { return control_; }
  [[noreturn]] void fail(const std::string& message, Code code = Code::InvalidArgument) const {
    throw Error(code, message);  // the executor adds the node
  }

 private:
  [[noreturn]] static void fail_without_resource(int index);
  [[noreturn]] static void fail_other_resource(const Resource& resource, const std::type_info& wanted);
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
