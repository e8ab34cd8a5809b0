#pragma once

#include "devices/memory.h"
#include "ops/kernel.h"
#include "ops/state/variable_state.h"
#include "tensor/elements.h"

namespace weir {

// How a run's values keep, share and drop the memory that they refer to.

inline void let_go(Value& v) {
  if (v.owner) v.owner->release();
  v.owner = nullptr;
  v.data = nullptr;
}

inline void hold(Value& v, const Tensor& t) {
  v.data = const_cast<void*>(t.raw());
  v.owner = t.buffer();
  if (v.owner) v.owner->retain();
}

inline Tensor share(const Value& v) {
  v.owner->retain();
  return Tensor(v.dtype, *v.shape, v.owner, v.data);
}

// The variable that a reference or handle refers to; null when it is none.
inline const VariableState* variable_behind(const Value& v) { return dynamic_cast<const VariableState*>(v.resource); }

// The elements of a value in memory of their own, under a shape of as many elements.
inline Tensor copy_of(const Value& v, const Shape& shape, DeviceMemory* memory) {
  if (on_host(memory) || !is_plain(v.dtype)) {
    Tensor copy(v.dtype, shape);
    copy_elements(v.dtype, v.data, copy.mutable_raw(), copy.elements());
    return copy;
  }
  Tensor copy = memory->place(v.dtype, shape);
  memory->copy(copy.mutable_raw(), v.data, copy.bytes(), DeviceMemory::Way::Within);
  return copy;
}

// Makes `to`, which holds nothing, the same value as `from`. What nobody owns (memory of an arena) stays its owner's.
inline void refer(Value& to, const Value& from) {
  to.data = from.data;
  to.dtype = from.dtype;
  to.resource = from.resource;
  to.owner = from.owner;
  if (to.owner) to.owner->retain();
  if (from.shape == &from.own_shape) {
    to.own_shape = from.own_shape;
    to.shape = &to.own_shape;
  } else {
    to.shape = from.shape;
  }
}

}  // namespace weir
