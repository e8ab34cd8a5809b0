#pragma once

// Marks what the library exports; everything else is hidden.
#define WEIR_API [[gnu::visibility("default")]]
