#define WEIR_ISA portable
#include "devices/cpu/lrn.inc"
