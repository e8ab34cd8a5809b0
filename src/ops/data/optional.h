#pragma once

#include "ops/data/dataset.h"

namespace weir::ops {

// A variant that is an element or nothing.
Tensor optional_tensor(bool has_value, Element element);

}  // namespace weir::ops
