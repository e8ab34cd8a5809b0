#pragma once

#include <stdint.h>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Functions of the rows of float32 matrices [rows, cols]. A row's result depends on that row only.

// Along each row. y may be x. A row that holds NaN or +inf, or nothing but -inf, becomes NaN, as in TensorFlow.
void softmax(const float* x, float* y, int64_t rows, int64_t classes, ThreadPool& pool);
void log_softmax(const float* x, float* y, int64_t rows, int64_t classes, ThreadPool& pool);

// loss[row] = -sum(labels * log_softmax(logits)); backprop = softmax(logits) - labels, which is the gradient of the
// loss when a row of labels sums to 1. backprop may be logits.
void softmax_cross_entropy(const float* logits, const float* labels, int64_t rows, int64_t classes, float* loss,
                           float* backprop, ThreadPool& pool);

// The same with one class number per row. Returns -1, or without writing anything the first row whose label lies
// outside [0, classes).
int64_t sparse_softmax_cross_entropy(const float* logits, const int32_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop, ThreadPool& pool);
int64_t sparse_softmax_cross_entropy(const float* logits, const int64_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop, ThreadPool& pool);

// y = x + bias in every row, negative values replaced by 0 if asked. y may be x.
enum class RowActivation : uint8_t { None, Relu };
void add_bias(const float* x, const float* bias, float* y, int64_t rows, int64_t channels, RowActivation activation,
              ThreadPool& pool);

}  // namespace weir::cpu
