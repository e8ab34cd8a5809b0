#define WEIR_ISA portable
#include "devices/cpu/pool3d.inc"
