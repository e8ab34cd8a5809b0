#define WEIR_ISA portable
#include "devices/cpu/pool2d.inc"
