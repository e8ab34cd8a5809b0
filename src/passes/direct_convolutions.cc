#include "passes/ir.h"

namespace weir {

void direct_convolutions(Ir& ir) {
  for (IrNode& node : ir.nodes) {
    if (node.op->def->winograd && !node.dead) node.attrs.set("_direct", true);
  }
}

}  // namespace weir
