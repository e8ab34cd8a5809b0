#define WEIR_ISA portable
#include "devices/cpu/update.inc"
