#pragma once

#include "devices/cpu/pool3d.h"

namespace weir::cpu {

// What one thread does of a gradient: output planes [first_plane, last_plane) of a volume, with the input planes that
// no earlier or later ones see, and channels [begin, end).
struct Pool3dPart {
  int64_t volume;
  int64_t first_plane, last_plane;
  int64_t begin, end;
};

// The loops of one instruction set, by one thread.
struct Pool3dTable {
  // Output rows [begin, end) of the batch * depth * height rows.
  void (*max_pool)(const float* x, float* y, const Pool3dShape& shape, int64_t begin, int64_t end);
  void (*avg_pool)(const float* x, float* y, const Pool3dShape& shape, int64_t begin, int64_t end);
  void (*max_pool_grad)(const float* x, const float* dy, float* dx, const Pool3dShape& shape, const Pool3dPart& part);
  void (*avg_pool_grad)(const float* dy, float* dx, const Pool3dShape& shape, const Pool3dPart& part);
};

namespace portable {
extern const Pool3dTable kPool3dTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Pool3dTable kPool3dTable;
}
namespace avx512 {
extern const Pool3dTable kPool3dTable;
}
#endif

}  // namespace weir::cpu
