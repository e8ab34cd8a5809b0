#pragma once

#include "ops/data/dataset.h"

namespace weir::ops {

// `size` elements at a time, stacked; fewer at the end unless they are dropped.
DatasetPtr batched(DatasetPtr input, int64_t size, bool drop_remainder, ElementSpec spec);

}  // namespace weir::ops
