#define WEIR_ISA portable
#include "devices/cpu/tile.inc"
