#if defined(__x86_64__)
#define WEIR_ISA avx2
#include "devices/cpu/pool3d.inc"
#endif
