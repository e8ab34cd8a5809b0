#pragma once

#include "devices/cpu/pool2d.h"

namespace weir::cpu {

// The pooling loops of one instruction set, by one thread.
struct Pool2dTable {
  // Output rows [begin, end) of the batch * out_height rows.
  void (*max_pool)(const float* x, float* y, const Pool2dShape& shape, int64_t begin, int64_t end);
  void (*avg_pool)(const float* x, float* y, const Pool2dShape& shape, int64_t begin, int64_t end);
  // Channels [begin, end) of one image.
  void (*max_pool_grad)(const float* x, const float* y, const float* dy, float* dx, const Pool2dShape& shape,
                        int64_t image, int64_t begin, int64_t end);
  void (*avg_pool_grad)(const float* dy, float* dx, const Pool2dShape& shape, int64_t image, int64_t begin,
                        int64_t end);
};

namespace portable {
extern const Pool2dTable kPool2dTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Pool2dTable kPool2dTable;
}
namespace avx512 {
extern const Pool2dTable kPool2dTable;
}
#endif

}  // namespace weir::cpu
