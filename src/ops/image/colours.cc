#include "ops/image/colours.h"

namespace weir::ops {

void infer_colours(InferContext& c, int rank) {
  c.require_min_rank(0, rank);
  Shape shape = c.input(0);
  if (shape.has_rank()) {
    if (shape[-1] == kUnknown) {
      shape.set_dim(-1, 3);
    } else if (shape[-1] != 3) {
      c.fail("Dimension must be 3 but is " + std::to_string(shape[-1]) + ": input must have 3 channels, got shape " +
             shape.str());
    }
  }
  c.set_output(0, shape);
}

}  // namespace weir::ops
