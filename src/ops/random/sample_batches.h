#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/shape.h"

namespace weir::ops {

// How samples are shared out among streams, as TensorFlow does it: a batch for each entry of the first dimension, or,
// when all batches have the same parameters, 100 samples each.
struct SampleBatches {
  int64_t batches, samples, total;

  SampleBatches(const Shape& shape, bool same_parameters) {
    total = shape.elements();
    batches = shape.rank() == 0 ? 1 : shape[0];
    samples = batches == 0 ? 0 : total / batches;
    if (same_parameters) {
      samples = 100;
      batches = (total + samples - 1) / samples;
    }
  }
};

}  // namespace weir::ops
