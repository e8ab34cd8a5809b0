#define WEIR_ISA portable
#include "devices/cpu/fft.inc"
