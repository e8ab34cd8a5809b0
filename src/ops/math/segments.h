#pragma once

#include <algorithm>
#include <limits>

#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"

// Reductions of the rows of input 0 that have equal ids (input 1).
namespace weir::ops {

// Ids are sorted and there are as many segments as the last one says.
void infer_segments(InferContext& c);
// Ids stand in any order; input 2 is the number of segments. Negative ids are dropped.
void infer_unsorted_segments(InferContext& c);

// For max and min: rows that hold the extremum share the gradient.
void segment_extremum_gradient(GradContext& c);
void unsorted_segment_extremum_gradient(GradContext& c);
// For a product: the others of the segment.
void unsorted_segment_prod_gradient(GradContext& c);

// The largest finite number of a type.
template <class T>
Wide<T> largest() {
  if constexpr (std::is_same_v<T, Half>) {
    return 65504;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return 3.38953139e38f;
  } else {
    return std::numeric_limits<T>::max();
  }
}

struct SegmentMax {
  template <class T>
  static T first() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  // What an unsorted segment without rows gives.
  template <class T>
  static Wide<T> of_nothing() {
    return std::numeric_limits<T>::is_integer ? std::numeric_limits<T>::lowest() : -largest<T>();
  }
  template <class T>
  static T combine(T a, T b) {
    return b > a ? b : a;
  }
};
struct SegmentMin {
  template <class T>
  static T first() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T>
  static Wide<T> of_nothing() {
    return largest<T>();
  }
  template <class T>
  static T combine(T a, T b) {
    return b < a ? b : a;
  }
};
struct SegmentProd {
  static constexpr cpu::BinaryFn kTile = cpu::BinaryFn::Mul;
  template <class T>
  static T first() {
    return T(1);
  }
  template <class T>
  static Wide<T> of_nothing() {
    return Wide<T>(1);
  }
  template <class T>
  static T combine(T a, T b) {
    return wrapping_mul(a, b);
  }
};
struct SegmentSum {
  static constexpr cpu::BinaryFn kTile = cpu::BinaryFn::Add;  // the same for rows of float
  template <class T>
  static T first() {
    return T(0);
  }
  template <class T>
  static T combine(T a, T b) {
    return wrapping_add(a, b);
  }
};

// Throws InvalidArgument for an id of sorted rows that is not in [0, segments) or is less than the one before it.
void check_sorted_id(int64_t id, int64_t previous, int64_t segments);
// The id of row i, checked.
int64_t sorted_id(const KernelContext& c, int64_t i, int64_t segments);
int64_t unsorted_id(const KernelContext& c, int64_t i, int64_t segments);

// Sorted ids. Segments without rows give `gap`; kMean divides by the number of rows.
template <class Op, bool kMean = false>
struct SortedSegments {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t rows = c.elements(1), segments = c.output_shape()[0], width = rows > 0 ? c.elements(0) / rows : 0;
    const Wide<T> gap = std::is_same_v<Op, SegmentProd> ? Wide<T>(1) : Wide<T>(0);
    constexpr int64_t kColumns = 256;  // that are worked on together, row by row
    Wide<T> values[kColumns];
    const T* data = c.input<T>(0);
    T* out = c.output<T>();
    int64_t row = 0;
    for (int64_t segment = 0; segment < segments; ++segment) {
      const int64_t begin = row;
      while (row < rows && sorted_id(c, row, segments) == segment) ++row;
      for (int64_t column = 0; column < width; column += kColumns) {
        const int64_t n = std::min(kColumns, width - column);
        std::fill_n(values, n, row == begin ? gap : Op::template first<Wide<T>>());
        for (int64_t i = begin; i < row; ++i) {
          const T* x = data + i * width + column;
          if constexpr (std::is_same_v<T, float> && requires { Op::kTile; }) {
            cpu::binary_tile(Op::kTile, cpu::Operands::VV)(values, x, values, n);
          } else {
            for (int64_t k = 0; k < n; ++k) values[k] = Op::combine(values[k], Wide<T>(x[k]));
          }
        }
        if constexpr (kMean) {
          for (int64_t k = 0; row > begin && k < n; ++k) {
            values[k] = wrapping_div(values[k], static_cast<Wide<T>>(row - begin));
          }
        }
        for (int64_t k = 0; k < n; ++k) out[segment * width + column + k] = static_cast<T>(values[k]);
      }
    }
  }
};

template <class Op>
struct UnsortedSegments {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t rows = c.elements(1), segments = int_at(c, 2), width = rows > 0 ? c.elements(0) / rows : 0;
    T* out = c.output<T>();
    std::fill_n(out, c.output_elements(), static_cast<T>(Op::template of_nothing<T>()));
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t id = unsorted_id(c, i, segments);
      if (id < 0) continue;
      for (int64_t k = 0; k < width; ++k) {
        T& value = out[id * width + k];
        value = static_cast<T>(Op::combine(Wide<T>(value), Wide<T>(c.input<T>(0)[i * width + k])));
      }
    }
  }
};

}  // namespace weir::ops
