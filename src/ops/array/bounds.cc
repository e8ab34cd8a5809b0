#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"

// Places of values in sorted rows and in histograms.
namespace weir::ops {
namespace {

void infer_bound(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  const Shape &sorted = c.input(0), &values = c.input(1);
  if (sorted.has_rank() && values.has_rank() && sorted[0] != kUnknown && values[0] != kUnknown &&
      sorted[0] != values[0]) {
    throw invalid_argument("Leading dim_size of both tensors must match: {} and {}", sorted.str(), values.str());
  }
  c.set_output(0, values);
}

template <bool kUpper>
struct Bound {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t rows = c.shape(1)[0], width = c.shape(0)[1], count = c.shape(1)[1];
    const bool wide = c.node().type("out_type") == DType::Int64;
    for (int64_t i = 0; i < rows * count; ++i) {
      const T* begin = c.input<T>(0) + i / count * width;
      const Wide<T> value(c.input<T>(1)[i]);
      const auto less = [](const auto& a, const auto& b) { return Wide<T>(a) < Wide<T>(b); };
      const T* at = kUpper ? std::upper_bound(begin, begin + width, value, less)
                           : std::lower_bound(begin, begin + width, value, less);
      if (wide) {
        c.output<int64_t>()[i] = at - begin;
      } else {
        c.output<int32_t>()[i] = static_cast<int32_t>(at - begin);
      }
    }
  }
};

OpDef bound_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "sorted_inputs:T; values:T",
          .outputs = "output:out_type",
          .attrs = "T:type; out_type:type{int32,int64}=int32",
          .infer = infer_bound,
          .gradient = not_differentiable,
          .cpu = cpu};
}

void infer_bucketize(InferContext& c) {
  const auto& boundaries = c.attr<std::vector<float>>("boundaries");
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) throw invalid_argument("Expected sorted boundaries");
  infer::unchanged(c);
}

struct Bucketize {
  template <class T>
  static void run(KernelContext& c) {
    const auto& boundaries = c.node().attr<std::vector<float>>("boundaries");
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const auto at = std::upper_bound(boundaries.begin(), boundaries.end(), c.input<T>(0)[i],
                                       [](T x, float y) { return static_cast<double>(x) < static_cast<double>(y); });
      c.output<int32_t>()[i] = static_cast<int32_t>(at - boundaries.begin());
    }
  }
};

void infer_histogram(InferContext& c) {
  const std::optional<int64_t> bins = scalar_argument(c, 2);
  if (bins && *bins <= 0) throw invalid_argument("nbins should be a positive number, but got '{}'", *bins);
  c.require_rank(1, 1);
  if (c.input(1).has_rank() && c.input(1)[0] != 2 && c.input(1)[0] != kUnknown) {
    throw invalid_argument("value_range should be a vector of 2 elements.");
  }
  c.set_output(0, Shape{bins ? *bins : kUnknown});
}

// Values outside of the range count in the first and the last bin.
struct Histogram {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t bins = c.output_shape()[0];
    const auto low = static_cast<double>(c.input<T>(1)[0]), high = static_cast<double>(c.input<T>(1)[1]);
    if (!(low < high)) {
      throw invalid_argument("value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'", low,
                             high);
    }
    std::vector<int64_t> counts(static_cast<size_t>(bins));
    const double step = (high - low) / static_cast<double>(bins);
    for (int64_t i = 0; i < c.elements(0); ++i) {
      if (std::isnan(static_cast<double>(c.input<T>(0)[i])))
        throw invalid_argument("Histogram values must not contain NaN");
      const double at = std::floor((static_cast<double>(c.input<T>(0)[i]) - low) / step);
      const double inside = at > 0 ? std::min(at, static_cast<double>(bins - 1)) : 0;
      ++counts[static_cast<size_t>(inside)];
    }
    for (int64_t i = 0; i < bins; ++i) {
      if (c.node().type("dtype") == DType::Int64) {
        c.output<int64_t>()[i] = counts[static_cast<size_t>(i)];
      } else {
        c.output<int32_t>()[i] = static_cast<int32_t>(counts[static_cast<size_t>(i)]);
      }
    }
  }
};

using BucketTypes = Types<int32_t, int64_t, float, double>;

}  // namespace

OpDef lower_bound_op() { return bound_row("LowerBound", {.select = kernel_for<RealTypes, Bound<false>>}); }
OpDef upper_bound_op() { return bound_row("UpperBound", {.select = kernel_for<RealTypes, Bound<true>>}); }

OpDef bucketize_op() {
  return {.name = "Bucketize",
          .inputs = "input:T",
          .outputs = "output:int32",
          .attrs = "T:type{int32,int64,float,double}; boundaries:list(float)",
          .infer = infer_bucketize,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BucketTypes, Bucketize>}};
}

OpDef histogram_fixed_width_op() {
  return {.name = "HistogramFixedWidth",
          .inputs = "values:T; value_range:T; nbins:int32",
          .outputs = "out:dtype",
          .attrs = "T:type{int32,int64,float,double}; dtype:type{int32,int64}=int32",
          .host = "nbins",
          .infer = infer_histogram,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BucketTypes, Histogram>}};
}

}  // namespace weir::ops
