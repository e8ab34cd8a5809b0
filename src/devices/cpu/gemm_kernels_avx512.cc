#if defined(__x86_64__)
#define WEIR_ISA avx512
#define WEIR_VECTOR_BYTES 64
#define WEIR_TILE_ROWS 8
#define WEIR_MOST_ROWS 12
#define WEIR_SLIM_ROWS 12
#define WEIR_TALL_ROWS 14
#define WEIR_PANEL_BYTES 24576
#include "devices/cpu/gemm_kernels.inc"
#endif
