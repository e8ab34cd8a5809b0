#pragma once

#include <cmath>
#include <limits>

#include "graph/infer_context.h"
#include "ops/kernel.h"

// What the operations of connectionist temporal classification share. Inputs are logits [time, batch, classes].
namespace weir::ops {

struct CtcShape {
  int64_t time, batch, classes;
};

// Checks inputs 0 (logits) and `lengths` (a vector, one for each sequence); gives what is known of their shape.
Shape infer_ctc(InferContext& c, int lengths);

// The sizes when the kernel runs. Throws InvalidArgument for a length that is not in [0, time].
CtcShape checked_ctc(const KernelContext& c, int lengths);

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b)).
inline double log_sum_exp(double a, double b) {
  if (a == kLogZero) return b;
  if (b == kLogZero) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// log(sum(exp(row))), the constant that makes logits log probabilities.
template <class T>
double log_normalizer(const T* row, int64_t n) {
  double top = kLogZero;
  for (int64_t i = 0; i < n; ++i) top = std::max(top, static_cast<double>(row[i]));
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(row[i]) - top);
  return top + std::log(sum);
}

// Sequences of labels as a sparse matrix: outputs `first` (indices), first + stride (values), first + 2 * stride
// (shape).
void set_sparse_labels(KernelContext& c, int first, int stride, const std::vector<std::vector<int64_t>>& sequences);

}  // namespace weir::ops
