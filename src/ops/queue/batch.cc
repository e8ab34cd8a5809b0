#include "ops/queue/batch.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kWorthKeeping = 16 << 10;  // bytes of a batch: smaller ones are quickly had from the heap

char* offset(void* data, DType dtype, int64_t elements) {
  return static_cast<char*>(data) + static_cast<size_t>(elements) * dtype_size(dtype);
}
const char* offset(const void* data, DType dtype, int64_t elements) {
  return static_cast<const char*>(data) + static_cast<size_t>(elements) * dtype_size(dtype);
}

// Elements of one tensor into the corner of a larger one of the same rank.
void copy_into_corner(DType dtype, std::span<const int64_t> from_dims, const void* from,
                      std::span<const int64_t> to_dims, void* to) {
  if (from_dims.empty()) return copy_elements(dtype, from, to, 1);
  if (from_dims.size() == 1) return copy_elements(dtype, from, to, from_dims[0]);
  int64_t from_stride = 1, to_stride = 1;
  for (size_t d = 1; d < from_dims.size(); ++d) {
    from_stride *= from_dims[d];
    to_stride *= to_dims[d];
  }
  for (int64_t i = 0; i < from_dims[0]; ++i) {
    copy_into_corner(dtype, from_dims.subspan(1), offset(from, dtype, i * from_stride), to_dims.subspan(1),
                     offset(to, dtype, i * to_stride));
  }
}

void clear(Tensor& t) {
  if (is_plain(t.dtype())) {
    std::memset(t.mutable_raw(), 0, t.bytes());
  } else {
    std::fill_n(t.mutable_data<std::string>(), t.elements(), std::string());
  }
}

}  // namespace

Tensor row_of(const Tensor& batch, int64_t index) {
  const Shape shape(batch.shape().dims().subspan(1));
  batch.buffer()->retain();
  return Tensor(batch.dtype(), shape, batch.buffer(),
                offset(const_cast<void*>(batch.raw()), batch.dtype(), index * shape.elements()));
}

Tensor detached(Tensor row) {
  const bool aligned = reinterpret_cast<uintptr_t>(row.raw()) % kAlignment == 0;
  const bool most = row.buffer()->bytes() <= 2 * std::max(row.bytes(), kAlignment);
  return most && (aligned || !is_plain(row.dtype())) ? row : row.copy();
}

Tensor RowCopies::copy(const Tensor& batch, int64_t row) {
  constexpr int64_t kRows = 16;
  Tensor view = row_of(batch, row);
  if (!is_plain(batch.dtype()) || view.bytes() == 0 || view.bytes() > kAlignment) return view.copy();
  if (!shared_.valid() || used_ == kRows) {
    Shape shape{kRows};
    for (int64_t size : view.shape().dims()) shape.append(size);
    shared_ = Tensor(batch.dtype(), shape);
    used_ = 0;
  }
  copy_elements(batch.dtype(), view.raw(), offset(shared_.mutable_raw(), batch.dtype(), used_ * view.elements()),
                view.elements());
  return row_of(shared_, used_++);
}

Tensor Batches::allocate(DType dtype, const Shape& shape) {
  const size_t bytes = static_cast<size_t>(checked_multiply(shape.elements(), static_cast<int64_t>(dtype_size(dtype))));
  if (!is_plain(dtype) || bytes < kWorthKeeping) return Tensor(dtype, shape);
  std::lock_guard lock(mutex_);
  auto free = std::find_if(kept_.begin(), kept_.end(), [&](const Tensor& t) {
    return t.dtype() == dtype && t.shape() == shape && t.buffer()->unique();
  });
  if (free != kept_.end()) return *free;
  Tensor fresh(dtype, shape);
  if (kept_.size() == kKept) kept_.erase(kept_.begin());
  kept_.push_back(fresh);
  return fresh;
}

Tensor Batches::assemble(DType dtype, const Shape& shape, std::span<const Tensor> rows, size_t stride) {
  const auto count = static_cast<int64_t>((rows.size() + stride - 1) / stride);
  Shape row_shape = shape.has_rank() ? shape : count > 0 ? rows[0].shape() : Shape{};
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dims()[static_cast<size_t>(d)] != kUnknown) continue;
    int64_t largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      largest = std::max(largest, rows[static_cast<size_t>(i) * stride].shape().dim(d));
    }
    row_shape.set_dim(d, largest);
  }
  Shape batch_shape{count};
  for (int64_t size : row_shape.dims()) batch_shape.append(size);
  Tensor batch = allocate(dtype, batch_shape);
  const int64_t width = row_shape.elements();
  if (shape.has_rank() && !shape.is_known()) clear(batch);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& row = rows[static_cast<size_t>(i) * stride];
    void* to = offset(batch.mutable_raw(), dtype, i * width);
    if (row.shape().rank() != row_shape.rank() || (!shape.has_rank() && row.shape() != row_shape)) {
      throw invalid_argument("elements of shapes {} and {} make no batch", row_shape.str(), row.shape().str());
    }
    if (row.shape() == row_shape) {
      copy_elements(dtype, row.raw(), to, width);
    } else {
      copy_into_corner(dtype, row.shape().dims(), row.raw(), row_shape.dims(), to);
    }
  }
  return batch;
}

}  // namespace weir::ops
