#define WEIR_ISA portable
#define WEIR_VECTOR_BYTES 16
#define WEIR_TILE_ROWS 4
#define WEIR_MOST_ROWS 4
#define WEIR_SLIM_ROWS 8
#define WEIR_PANEL_BYTES 16384
#include "devices/cpu/gemm_kernels.inc"
