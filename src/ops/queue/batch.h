#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "weir/tensor.h"

namespace weir::ops {

// Row `index` of a batch: a view that shares its memory.
Tensor row_of(const Tensor& batch, int64_t index);

// The same value without more memory than it needs: a copy when it is a small part of what it shares, or does not lie
// as kernels like it.
Tensor detached(Tensor row);

// Copies of rows of a batch that may live much longer than each other. Small rows share memory, a few of them, because
// having memory costs more than copying them.
class RowCopies {
 public:
  Tensor copy(const Tensor& batch, int64_t row);

 private:
  Tensor shared_;  // rows
  int64_t used_ = 0;
};

// Puts rows of tensors together into batches. Memory that its last users have left is used again, because a batch that
// is new to the system costs more than the copying. Thread-safe.
class Batches {
 public:
  // `shape` is that of a row; sizes that are unknown become those of the largest row, the others being filled up with
  // zeros (PaddingFIFOQueue). The row of element i is rows[i * stride].
  Tensor assemble(DType dtype, const Shape& shape, std::span<const Tensor> rows, size_t stride);

 private:
  Tensor allocate(DType dtype, const Shape& shape);

  static constexpr size_t kKept = 8;
  std::mutex mutex_;
  std::vector<Tensor> kept_;  // the oldest first
};

}  // namespace weir::ops
