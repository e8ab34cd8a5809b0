#pragma once

#include "devices/accelerator/launch.h"

namespace weir::accelerator {

// A reduction of [outer, reduced, inner] to [outer, inner], as one kernel or, where few results would leave the device
// idle, in two: parts first, which are then joined. The cut depends on the sizes alone, so results do not depend on the
// device.
struct Fold {
  const KernelDef* whole;
  const KernelDef* part;
  const KernelDef* join;
};
extern const Fold kSumFold, kMeanFold, kMaxFold, kMinFold, kProdFold, kAllFold, kAnyFold, kHalfSquaresFold;

void fold(const Fold& how, DType type, const void* x, void* y, int64_t outer, int64_t reduced, int64_t inner);

}  // namespace weir::accelerator
