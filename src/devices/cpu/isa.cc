#include "devices/cpu/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weir::cpu {
namespace {

// Each level needs everything that its files are compiled with. The compiler's run-time test includes the operating
// system's support for the wide registers.
Isa detect() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::Portable;
  // f16c came with Ivy Bridge and is on every processor with avx2; the compilers at hand cannot ask for it by name.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Isa::Avx512;
  }
  return Isa::Avx2;
#else
  return Isa::Portable;
#endif
}

bool detect_whole_avx512() {
#if defined(__x86_64__)
  if (isa() != Isa::Avx512) return false;
  // AMD's processors name the width of their units; all others have 512 bits where they have the instructions. Virtual
  // machines may hide that bit, but not the one of units of 256 bits.
  constexpr unsigned kIdentification = 0x8000001a, k256Bits = 1u << 2, k512Bits = 1u << 3;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__builtin_cpu_is("amd") || !__get_cpuid(kIdentification, &a, &b, &c, &d)) return true;
  return (a & k512Bits) != 0 || (a & k256Bits) == 0;
#else
  return false;
#endif
}

}  // namespace

Isa isa() {
  static const Isa level = detect();
  return level;
}

bool has_whole_avx512() {
  static const bool whole = detect_whole_avx512();
  return whole;
}

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::Portable:
      return "portable";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace weir::cpu
