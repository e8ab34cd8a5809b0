#pragma once

#include "base/errors.h"
#include "ops/kernel.h"

namespace weir::ops {

// Writes facts about shapes (sizes, counts) as int32 or int64. Throws InvalidArgument for what does not fit.
inline void write_size(KernelContext& c, int output, DType dtype, int64_t i, int64_t size) {
  if (dtype == DType::Int64) {
    c.output<int64_t>(output)[i] = size;
    return;
  }
  if (size > INT32_MAX) throw invalid_argument("the size {} does not fit int32; ask for out_type int64", size);
  c.output<int32_t>(output)[i] = static_cast<int32_t>(size);
}

}  // namespace weir::ops
