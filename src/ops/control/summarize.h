#pragma once

#include <string>

#include "ops/kernel.h"

namespace weir::ops {

// The first elements of an input as Assert and Print show them between brackets: "1 2 3...", "[1 2][3 4]". At most
// `limit` elements; less than 0: all.
std::string summarize(const KernelContext& c, int input, int64_t limit);

// The same as tf.strings.format and tf.print show it: nested brackets on lines of their own, strings in quotes, and of
// each dimension the first and the last `ends` elements; less than 0: all.
std::string summarize_nested(const KernelContext& c, int input, int64_t ends);

}  // namespace weir::ops
