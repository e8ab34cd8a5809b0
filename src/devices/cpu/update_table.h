#pragma once

#include "devices/cpu/update.h"

namespace weir::cpu {

// The updates of one instruction set, by one thread.
struct UpdateTable {
  void (*gradient_descent)(float* var, const float* grad, int64_t n, float lr);
  void (*momentum)(float* var, float* accum, const float* grad, int64_t n, const MomentumOptions& options);
  void (*adam)(float* var, float* m, float* v, const float* grad, int64_t n, const AdamOptions& options);
  void (*adagrad)(float* var, float* accum, const float* grad, int64_t n, const AdagradOptions& options);
  void (*rms_prop)(float* var, float* ms, float* mom, const float* grad, int64_t n, const RmsPropOptions& options);
};

namespace portable {
extern const UpdateTable kUpdateTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const UpdateTable kUpdateTable;
}
namespace avx512 {
extern const UpdateTable kUpdateTable;
}
#endif

}  // namespace weir::cpu
