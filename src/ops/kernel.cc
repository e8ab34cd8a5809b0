#include "ops/kernel.h"

#include <cstring>

#include "base/errors.h"

namespace weir {

ResourceStore& PrepareContext::resources() const {
  if (!resources_) throw error(Code::Internal, "this operation runs in a session only");
  return *resources_;
}

void KernelContext::set_output(int index, Tensor value) {
  Value& v = out(index);
  if (v.owner) v.owner->release();
  v.own_shape = value.shape();
  v.shape = &v.own_shape;
  v.dtype = value.dtype();
  v.data = const_cast<void*>(value.raw());
  v.owner = value.buffer();
  if (v.owner) v.owner->retain();
}

Tensor KernelContext::input_tensor(int index) const {
  const Value& v = in(index);
  if (v.owner) {
    v.owner->retain();
    return Tensor(v.dtype, *v.shape, v.owner, v.data);
  }
  Tensor copy(v.dtype, *v.shape);
  if (v.dtype == DType::String) {
    const auto* from = static_cast<const std::string*>(v.data);
    std::copy(from, from + copy.elements(), copy.mutable_data<std::string>());
  } else {
    std::memcpy(copy.mutable_raw(), v.data, copy.bytes());
  }
  return copy;
}

void KernelContext::forward_ref(int input, int output) {
  Value& to = out(output);
  to.variable = in(input).variable;
}

}  // namespace weir
