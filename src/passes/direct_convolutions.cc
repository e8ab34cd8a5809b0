#include "passes/ir.h"

namespace weir {

void direct_convolutions(Ir& ir) {
  for (IrNode& node : ir.nodes) {
    const bool convolves = node.is("Conv2D") || node.is("_FusedConv2D") || node.is("Conv2DBackpropInput") ||
                           node.is("Conv2DBackpropFilter");
    if (convolves && !node.dead) node.attrs.set("_direct", true);
  }
}

}  // namespace weir
