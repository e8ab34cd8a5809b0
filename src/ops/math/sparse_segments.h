#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/math/segments.h"

// Reductions of chosen rows: row indices[i] (input 1) of the data (input 0) belongs to segment ids[i] (input 2); ids
// are sorted. As a lookup followed by SegmentSum or SegmentMean, without the rows in between. There are as many
// segments as the last id says, or as input 3 does in the spelling "WithNumSegments".
namespace weir::ops {

enum class SegmentScale { Sum, Mean, SqrtN };  // the sum, divided by the number of rows or by its root

inline double segment_scale(SegmentScale scale, int64_t rows) {
  if (scale == SegmentScale::Sum) return 1;
  const auto n = static_cast<double>(rows);
  return scale == SegmentScale::Mean ? 1 / n : 1 / std::sqrt(n);
}

void infer_sparse_segments(InferContext& c);
// The gradient (input 0) of the rows; input 3 is how many rows the data have.
void infer_sparse_segments_grad(InferContext& c);
// The index of place i, checked against the number of rows.
int64_t sparse_row(const KernelContext& c, int64_t i, int64_t rows);
// The same for a gradient, and whether the last id belongs to one of its segments: in TensorFlow's words for it.
int64_t sparse_grad_row(const KernelContext& c, int64_t i, int64_t rows);
void check_last_segment(const KernelContext& c, int64_t segments);
// One past the last place of the segment that begins at place `begin`. Ids are checked.
int64_t segment_end(const KernelContext& c, int64_t begin, int64_t segments);

template <SegmentScale kScale>
struct SparseSegments {
  template <class T>
  static void run(KernelContext& c) {
    constexpr int64_t kBlock = 64;  // columns that are summed at once, in a wider type where T is narrow
    const int64_t count = c.elements(1), rows = c.shape(0)[0], segments = c.output_shape()[0];
    const int64_t width = segments > 0 ? c.output_elements() / segments : 0;
    const T* data = c.input<T>(0);
    T* out = c.output<T>();
    std::fill_n(out, c.output_elements(), T());
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
      end = segment_end(c, begin, segments);
      for (int64_t i = begin; i < end; ++i) sparse_row(c, i, rows);
      T* to = out + int_at(c, 2, begin) * width;
      const auto scale = static_cast<Wide<T>>(segment_scale(kScale, end - begin));
      for (int64_t first = 0; first < width; first += kBlock) {
        const int64_t columns = std::min(kBlock, width - first);
        Wide<T> sums[kBlock] = {};
        for (int64_t i = begin; i < end; ++i) {
          const T* from = data + int_at(c, 1, i) * width + first;
          for (int64_t k = 0; k < columns; ++k) sums[k] = wrapping_add(sums[k], static_cast<Wide<T>>(from[k]));
        }
        for (int64_t k = 0; k < columns; ++k) to[first + k] = static_cast<T>(wrapping_mul(sums[k], scale));
      }
    }
  }
};

template <SegmentScale kScale>
struct SparseSegmentsGrad {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t count = c.elements(1), segments = c.shape(0)[0], rows = c.output_shape()[0];
    const int64_t width = rows > 0 ? c.output_elements() / rows : 0;
    T* out = c.output<T>();
    std::fill_n(out, c.output_elements(), T());
    check_last_segment(c, segments);
    for (int64_t begin = 0, end = 0; begin < count; begin = end) {
      end = segment_end(c, begin, segments);
      const T* grad = c.input<T>(0) + int_at(c, 2, begin) * width;
      const auto scale = static_cast<T>(segment_scale(kScale, end - begin));
      for (int64_t i = begin; i < end; ++i) {
        T* to = out + sparse_grad_row(c, i, rows) * width;
        for (int64_t k = 0; k < width; ++k) to[k] += grad[k] * scale;
      }
    }
  }
};

inline constexpr std::string_view kSparseSegmentInputs = "data:T; indices:Tidx; segment_ids:int32";
inline constexpr std::string_view kCountedSegmentInputs =
    "data:T; indices:Tidx; segment_ids:int32; num_segments:Tnumsegments";
inline constexpr std::string_view kSparseSegmentAttrs = "T:type{float,double}; Tidx:type{int32,int64}=int32";
inline constexpr std::string_view kCountedSegmentAttrs =
    "T:type{float,double}; Tidx:type{int32,int64}=int32; Tnumsegments:type{int32,int64}=int32";

// The rows of a mean and its like in both spellings, and of the operation of their gradient.
template <SegmentScale kScale>
OpDef sparse_segment_row(std::string_view name, void (*gradient)(GradContext&)) {
  const bool counted = name.ends_with("WithNumSegments");
  return {.name = name,
          .inputs = counted ? kCountedSegmentInputs : kSparseSegmentInputs,
          .outputs = "output:T",
          .attrs = counted ? kCountedSegmentAttrs : kSparseSegmentAttrs,
          .host = counted ? "segment_ids, num_segments" : "segment_ids",
          .infer = infer_sparse_segments,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<float, double>, SparseSegments<kScale>>}};
}
template <SegmentScale kScale>
OpDef sparse_segment_grad_row(std::string_view name) {
  return {.name = name,
          .inputs = "grad:T; indices:Tidx; segment_ids:int32; output_dim0:int32",
          .outputs = "output:T",
          .attrs = kSparseSegmentAttrs,
          .host = "output_dim0",
          .infer = infer_sparse_segments_grad,
          .cpu = {.select = kernel_for<Types<float, double>, SparseSegmentsGrad<kScale>>}};
}
// The gradient of the data through the operation `op`.
void sparse_segment_gradient(GradContext& c, std::string_view op);

// A node of the operation `op`, or of its spelling with a number of segments if there is one.
Output sparse_segments(const std::string& op, const In& data, const In& indices, const In& segment_ids,
                       const std::optional<In>& num_segments, std::string_view name);

}  // namespace weir::ops
