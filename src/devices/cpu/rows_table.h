#pragma once

#include "devices/cpu/rows.h"

namespace weir::cpu {

// The row functions of one instruction set, by one thread. Labels are valid.
struct RowsTable {
  void (*softmax)(const float* x, float* y, int64_t rows, int64_t classes);
  void (*log_softmax)(const float* x, float* y, int64_t rows, int64_t classes);
  void (*cross_entropy)(const float* logits, const float* labels, int64_t rows, int64_t classes, float* loss,
                        float* backprop);
  void (*sparse_cross_entropy_int32)(const float* logits, const int32_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop);
  void (*sparse_cross_entropy_int64)(const float* logits, const int64_t* labels, int64_t rows, int64_t classes,
                                     float* loss, float* backprop);
  void (*add_bias)(const float* x, const float* bias, float* y, int64_t rows, int64_t channels,
                   RowActivation activation);
};

namespace portable {
extern const RowsTable kRowsTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const RowsTable kRowsTable;
}
namespace avx512 {
extern const RowsTable kRowsTable;
}
#endif

}  // namespace weir::cpu
