#define WEIR_ISA portable
#define WEIR_VECTOR_BYTES 16
#include "devices/cpu/conv_winograd.inc"
