#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "weir/dtype.h"
#include "weir/shape.h"

namespace weir::ops {

constexpr int kMaxRank = 32;  // of the operations that move elements about

// A box of elements and where it lies in two arrays: what most array operations come down to. Dimensions are added from
// the outermost to the innermost one; those that can be walked as one are joined on the way. Strides count elements,
// and may be 0 (repetition) in the source or negative.
class StridedBox {
 public:
  // Throws Unimplemented past kMaxRank dimensions that do not join.
  void add(int64_t size, int64_t to_stride, int64_t from_stride);

  struct Dim {
    int64_t size, to, from;
  };
  int rank() const { return rank_; }
  int64_t elements() const { return elements_; }
  const Dim& operator[](int i) const { return dims_[i]; }

 private:
  int rank_ = 0;
  int64_t elements_ = 1;
  Dim dims_[kMaxRank];
};

// Copies the box from one array to another. They do not overlap.
void copy_box(DType dtype, const StridedBox& box, void* to, const void* from, ThreadPool& pool);
// Copies n consecutive elements.
void copy_elements(DType dtype, void* to, const void* from, int64_t n, ThreadPool& pool);
// Sets n elements to one value.
void fill_elements(DType dtype, void* to, int64_t n, const void* value, ThreadPool& pool);
// Sets n elements to zero (false, "").
void zero_elements(DType dtype, void* to, int64_t n, ThreadPool& pool);

// The elements to step over for one step in each dimension of a row-major array. Throws Unimplemented past kMaxRank.
struct Strides {
  explicit Strides(const Shape& shape);
  int64_t operator[](int i) const { return values[i]; }
  int64_t values[kMaxRank];
};

// The address of an element; `dtype` says how wide they are.
inline void* offset(DType dtype, void* base, int64_t elements) {
  return static_cast<char*>(base) + elements * static_cast<int64_t>(dtype_size(dtype));
}
inline const void* offset(DType dtype, const void* base, int64_t elements) {
  return static_cast<const char*>(base) + elements * static_cast<int64_t>(dtype_size(dtype));
}

}  // namespace weir::ops
