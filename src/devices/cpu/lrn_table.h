#pragma once

#include "devices/cpu/lrn.h"

namespace weir::cpu {

// The normalisation of one instruction set, by one thread. depth_radius is at most kLargestLrnRadius.
constexpr int64_t kLargestLrnRadius = 64;
struct LrnTable {
  void (*forward)(const float* x, float* y, int64_t pixels, int64_t channels, const LrnOptions& options);
  void (*backward)(const float* dy, const float* x, const float* y, float* dx, int64_t pixels, int64_t channels,
                   const LrnOptions& options);
};

namespace portable {
extern const LrnTable kLrnTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const LrnTable kLrnTable;
}
namespace avx512 {
extern const LrnTable kLrnTable;
}
#endif

}  // namespace weir::cpu
