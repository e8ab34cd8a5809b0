#pragma once

#include "devices/cpu/philox.h"
#include "ops/kernel.h"

namespace weir::ops {

// The stream of random numbers that a variable holds behind handle input 0 (three int64: the counter and the key), as
// it stands; the variable moves on by `outputs` outputs, for each of which TensorFlow sets 256 blocks aside. Throws
// InvalidArgument for a state that is none, and for any algorithm but Philox, 1. `tagged`: the variable begins with the
// number of the algorithm.
cpu::Philox take_stream(const KernelContext& c, int64_t algorithm, int64_t outputs, bool tagged = false);

}  // namespace weir::ops
