#if defined(__x86_64__)
#define WEIR_ISA avx2
#define WEIR_VECTOR_BYTES 32
#define WEIR_TILE_ROWS 6
#define WEIR_MOST_ROWS 6
#define WEIR_SLIM_ROWS 8
#define WEIR_PANEL_BYTES 32768
#include "devices/cpu/gemm_kernels.inc"
#endif
