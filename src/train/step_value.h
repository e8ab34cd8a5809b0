#pragma once

#include "weir/session.h"

namespace weir::train {

// The value of a global step, which programs make int32 as well as int64.
inline int64_t step_value(const Tensor& step) {
  return step.dtype() == DType::Int32 ? int64_t{step.scalar<int32_t>()} : step.scalar<int64_t>();
}
inline int64_t step_value(Session& session, const Variable& step) { return step_value(session.run(step)); }

}  // namespace weir::train
