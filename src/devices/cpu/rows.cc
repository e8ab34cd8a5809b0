#include "devices/cpu/rows.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/rows_table.h"

namespace weir::cpu {
namespace {

const RowsTable& table() {
#if defined(__x86_64__)
  static const RowsTable& chosen = isa() == Isa::Avx512 ? avx512::kRowsTable
                                   : isa() == Isa::Avx2 ? avx2::kRowsTable
                                                        : portable::kRowsTable;
  return chosen;
#else
  return portable::kRowsTable;
#endif
}

// Rows per task, so that it holds about `floats` elements.
int64_t grain(int64_t floats, int64_t cols) { return std::max<int64_t>(1, floats / std::max<int64_t>(1, cols)); }
constexpr int64_t kExpTask = 8192, kAddTask = 32768;

template <class Label, class Kernel>
int64_t sparse(Kernel kernel, const float* logits, const Label* labels, int64_t rows, int64_t classes, float* loss,
               float* backprop, ThreadPool& pool) {
  for (int64_t r = 0; r < rows; ++r)
    if (labels[r] < 0 || labels[r] >= classes) return r;
  pool.parallel_for(rows, grain(kExpTask, classes), [&](int64_t begin, int64_t end) {
    kernel(logits + begin * classes, labels + begin, end - begin, classes, loss + begin, backprop + begin * classes);
  });
  return -1;
}

}  // namespace

void softmax(const float* x, float* y, int64_t rows, int64_t classes, ThreadPool& pool) {
  pool.parallel_for(rows, grain(kExpTask, classes), [&, f = table().softmax](int64_t begin, int64_t end) {
    f(x + begin * classes, y + begin * classes, end - begin, classes);
  });
}

void log_softmax(const float* x, float* y, int64_t rows, int64_t classes, ThreadPool& pool) {
  pool.parallel_for(rows, grain(kExpTask, classes), [&, f = table().log_softmax](int64_t begin, int64_t end) {
    f(x + begin * classes, y + begin * classes, end - begin, classes);
  });
}

void softmax_cross_entropy(const float* logits, const float* labels, int64_t rows, int64_t classes, float* loss,
                           float* backprop, ThreadPool& pool) {
  pool.parallel_for(rows, grain(kExpTask, classes), [&, f = table().cross_entropy](int64_t begin, int64_t end) {
    const int64_t at = begin * classes;
    f(logits + at, labels + at, end - begin, classes, loss + begin, backprop + at);
  });
}

int64_t sparse_softmax_cross_entropy(const float* logits, const int32_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop, ThreadPool& pool) {
  return sparse(table().sparse_cross_entropy_int32, logits, labels, rows, classes, loss, backprop, pool);
}

int64_t sparse_softmax_cross_entropy(const float* logits, const int64_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop, ThreadPool& pool) {
  return sparse(table().sparse_cross_entropy_int64, logits, labels, rows, classes, loss, backprop, pool);
}

void add_bias(const float* x, const float* bias, float* y, int64_t rows, int64_t channels, RowActivation activation,
              ThreadPool& pool) {
  pool.parallel_for(rows, grain(kAddTask, channels), [&, f = table().add_bias](int64_t begin, int64_t end) {
    f(x + begin * channels, bias, y + begin * channels, end - begin, channels, activation);
  });
}

}  // namespace weir::cpu
