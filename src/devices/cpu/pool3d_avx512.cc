#if defined(__x86_64__)
#define WEIR_ISA avx512
#include "devices/cpu/pool3d.inc"
#endif
