#pragma once

// Marks what the library exports; everything else is hidden.
#define WEIR_API __attribute__((visibility("default")))
