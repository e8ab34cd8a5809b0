#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace weir {

// How the calling thread computes with numbers too small for the full precision of their type. Many processors take a
// hundred times as long for them, and training makes many: the moments of an optimizer shrink towards zero without end.
// So runs take them for zero and give zero instead of them, as TensorFlow's do. Where a processor has no such mode all
// of this does nothing.
#if defined(__x86_64__)
using DenormalMode = uint32_t;
inline constexpr DenormalMode kFlushDenormals = 0x8040;  // results (FTZ) and operands (DAZ)
inline DenormalMode denormal_mode() { return _mm_getcsr() & kFlushDenormals; }
inline void set_denormal_mode(DenormalMode mode) { _mm_setcsr((_mm_getcsr() & ~kFlushDenormals) | mode); }
#elif defined(__aarch64__)
using DenormalMode = uint64_t;
inline constexpr DenormalMode kFlushDenormals = 1 << 24;  // FZ
inline uint64_t float_control() {
  uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline DenormalMode denormal_mode() { return float_control() & kFlushDenormals; }
inline void set_denormal_mode(DenormalMode mode) {
  asm volatile("msr fpcr, %0" : : "r"((float_control() & ~kFlushDenormals) | mode));
}
#else
using DenormalMode = uint32_t;
inline constexpr DenormalMode kFlushDenormals = 0;
inline DenormalMode denormal_mode() { return 0; }
inline void set_denormal_mode(DenormalMode) {}
#endif
inline constexpr DenormalMode kKeepDenormals = 0;

// The mode for the time that it lives; a few nanoseconds.
class DenormalScope {
 public:
  explicit DenormalScope(DenormalMode mode) : before_(denormal_mode()), changed_(before_ != mode) {
    if (changed_) set_denormal_mode(mode);
  }
  ~DenormalScope() {
    if (changed_) set_denormal_mode(before_);
  }
  DenormalScope(const DenormalScope&) = delete;
  DenormalScope& operator=(const DenormalScope&) = delete;

 private:
  DenormalMode before_;
  bool changed_;
};

}  // namespace weir
