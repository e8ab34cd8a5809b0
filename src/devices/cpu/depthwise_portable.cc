#define WEIR_ISA portable
#include "devices/cpu/depthwise.inc"
