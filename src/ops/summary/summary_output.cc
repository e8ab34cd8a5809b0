#include "ops/summary/summary_output.h"

namespace weir::ops {

void infer_tagged_summary(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() != 0) c.fail("tags must be scalar, not " + c.input(0).str());
  c.set_output(0, {});
}

void infer_write_summary(InferContext& c) {
  for (int i = 0; i < 3; ++i) c.require_scalar(i);
}

}  // namespace weir::ops
