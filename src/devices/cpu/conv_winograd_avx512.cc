#if defined(__x86_64__)
#define WEIR_ISA avx512
#define WEIR_VECTOR_BYTES 64
#include "devices/cpu/conv_winograd.inc"
#endif
