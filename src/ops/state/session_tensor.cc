#include <mutex>
#include <unordered_map>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op.h"
#include "graph/op_def.h"
#include "ops/kernel.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Tensors that a session keeps for later runs, by their handles. Thread-safe.
class SessionTensors final : public Resource {
 public:
  std::string describe() const override { return "the tensors that a session keeps"; }

  std::string add(std::string_view name, Tensor tensor) {
    std::lock_guard lock(mutex_);
    std::string handle = fmt::format("{};{};/job:localhost/replica:0/task:0/device:CPU:0", name, made_++);
    tensors_.emplace(handle, std::move(tensor));
    return handle;
  }
  Tensor find(const std::string& handle) const {
    std::lock_guard lock(mutex_);
    auto found = tensors_.find(handle);
    if (found == tensors_.end()) {
      throw invalid_argument("The tensor with handle '{}' is not in the session store.", handle);
    }
    return found->second;
  }
  void remove(const std::string& handle) {
    std::lock_guard lock(mutex_);
    if (tensors_.erase(handle) == 0) {
      throw invalid_argument("Failed to delete a tensor with handle '{}' in the session store.", handle);
    }
  }

 private:
  mutable std::mutex mutex_;
  int64_t made_ = 0;
  std::unordered_map<std::string, Tensor> tensors_;
};

// A resource that is a tensor which a session keeps: what GetSessionHandleV2 gives.
class SessionTensor final : public Resource {
 public:
  explicit SessionTensor(std::string handle) : handle_(std::move(handle)) {}
  std::string describe() const override { return "session tensor '" + handle_ + "'"; }

 private:
  std::string handle_;
};

struct State {
  ResourcePtr<SessionTensors> tensors;
};
State prepare(PrepareContext& c) {
  return {c.resources().find_or_make<SessionTensors>({}, "_session_tensors",
                                                     [] { return make_resource<SessionTensors>(); })};
}

void keep(KernelContext& c) {
  const std::string handle = c.state<State>().tensors->add(c.node().name(), c.input_tensor(0));
  if (c.node().op().outputs[0].type == DType::String) {
    c.set_output(0, Tensor(handle));
    return;
  }
  const auto kept = make_resource<SessionTensor>(handle);
  c.set_output(0, Tensor(DType::Resource, Shape{}, Buffer::borrow(kept.get(), 0, [kept] {}), kept.get()));
  c.set_resource(0, kept.get());
}

void get(KernelContext& c) {
  Tensor tensor = c.state<State>().tensors->find(c.scalar<std::string>(0));
  const DType wanted = c.node().type("dtype");
  if (tensor.dtype() != wanted) {
    throw invalid_argument("Type mismatch: the tensor has type {}, but type {} was requested",
                           dtype_name(tensor.dtype()), dtype_name(wanted));
  }
  c.set_output(0, std::move(tensor));
}

void remove(KernelContext& c) { c.state<State>().tensors->remove(c.scalar<std::string>(0)); }

void infer_get(InferContext& c) { c.require_scalar(0); }

OpDef keep_row(std::string_view name, std::string_view outputs) {
  return {.name = name,
          .inputs = "value:T",
          .outputs = outputs,
          .attrs = "T:type",
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<keep>, .prepare = prepared<prepare>, .gives_outputs = true}};
}

}  // namespace

OpDef get_session_handle_op() { return keep_row("GetSessionHandle", "handle:string"); }
OpDef get_session_handle_v2_op() { return keep_row("GetSessionHandleV2", "handle:resource"); }

OpDef get_session_tensor_op() {
  return {.name = "GetSessionTensor",
          .inputs = "handle:string",
          .outputs = "value:dtype",
          .attrs = "dtype:type",
          .flags = "stateful",
          .host = "handle",
          .infer = infer_get,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<get>, .prepare = prepared<prepare>, .gives_outputs = true}};
}

OpDef delete_session_tensor_op() {
  return {.name = "DeleteSessionTensor",
          .inputs = "handle:string",
          .flags = "stateful",
          .host = "handle",
          .infer = infer_get,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<remove>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
