#include "ops/kernel.h"

#include "base/errors.h"
#include "tensor/elements.h"

namespace weir {

void RunControl::end() const {
  if (closed && closed->load()) throw Error(Code::Cancelled, "the session was closed");
  if (token && token->load()) throw Error(Code::Cancelled, "the run was cancelled");
  throw Error(Code::DeadlineExceeded, "the run took longer than its timeout allows");
}

ResourceStore& PrepareContext::resources() const {
  if (!resources_) throw error(Code::Internal, "this operation runs in a session only");
  return *resources_;
}

void KernelContext::set_output(int index, Tensor value) {
  Value& v = out(index);
  if (v.shape && v.shape != &v.own_shape) {
    // The plan laid memory out for this shape.
    if (*v.shape != value.shape()) {
      fail(fmt::format("a value of shape {} came where the graph says {}", value.shape().str(), v.shape->str()));
    }
  } else {
    v.own_shape = value.shape();
    v.shape = &v.own_shape;
  }
  if (v.data && !v.owner) {  // a place in the arena: fill it
    copy_elements(v.dtype, value.raw(), v.data, value.elements());
    return;
  }
  if (v.owner) v.owner->release();
  v.dtype = value.dtype();
  v.data = const_cast<void*>(value.raw());
  v.owner = value.buffer();
  if (v.owner) v.owner->retain();
}

Tensor KernelContext::input_tensor(int index) const {
  const Value& v = in(index);
  if (!v.data || !v.shape) throw invalid_argument("input {} has no value that could be kept: it is a handle", index);
  if (v.owner) {
    v.owner->retain();
    return Tensor(v.dtype, *v.shape, v.owner, v.data);
  }
  Tensor copy(v.dtype, *v.shape);
  copy_elements(v.dtype, v.data, copy.mutable_raw(), copy.elements());
  return copy;
}

VariableState& KernelContext::variable(int index) const {
  VariableState* variable = in(index).variable;
  if (!variable) throw invalid_argument("input {} refers to no variable", index);
  return *variable;
}

}  // namespace weir
