#if defined(__x86_64__)
#define WEIR_ISA avx2
#define WEIR_VECTOR_BYTES 32
#include "devices/cpu/conv_winograd.inc"
#endif
