#define WEIR_ISA portable
#include "devices/cpu/batch_norm.inc"
