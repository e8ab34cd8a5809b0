#define WEIR_ISA portable
#include "devices/cpu/rows.inc"
