#pragma once

#include "passes/ir.h"

namespace weir {

// Operations that are short formulas of elementwise functions (LeakyRelu and its gradient) become these, which loops
// take together with what stands around them. Comes before the fusions of loops, and is switched with fuse_elementwise.
void spell_out(Ir& ir, PassContext& context);

}  // namespace weir
