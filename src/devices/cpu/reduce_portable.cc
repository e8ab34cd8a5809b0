#define WEIR_ISA portable
#include "devices/cpu/reduce.inc"
