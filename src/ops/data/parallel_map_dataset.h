#pragma once

#include "ops/data/dataset.h"

namespace weir::ops {

// What f makes of the elements, up to `calls` at a time, in their order unless `sloppy`.
DatasetPtr parallel_mapped(DatasetPtr input, CalledFunction f, int64_t calls, bool sloppy, ElementSpec spec);
// The number of calls that an input asks for; -1 asks for as many as there are processors. Throws InvalidArgument.
int64_t parallel_calls(int64_t wanted);

}  // namespace weir::ops
