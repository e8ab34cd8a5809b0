#include "passes/ir.h"
#include "passes/spell_out.h"

namespace weir {

void rewrite(Ir& ir, PassContext& context) {
  const PassOptions& passes = context.options;
  if (passes.fold_constants) fold_constants(ir, context);
  if (passes.remove_identities) remove_identities(ir, context);
  if (passes.share_common_subexpressions) share_common_subexpressions(ir, context);
  prune_flow(ir);
  if (passes.fuse_elementwise) spread_late(ir, context);
  if (passes.fuse_elementwise) compute_parts(ir, context);
  if (passes.fuse_elementwise) stack_products(ir, context);
  if (passes.fuse_bias_activation) fuse_bias_activation(ir, context);
  if (passes.fuse_bias_activation) fuse_batch_norm(ir, context);
  if (passes.fuse_elementwise) spell_out(ir, context);
  if (passes.fuse_elementwise) scale_updates(ir, context);
  if (passes.fuse_elementwise) fuse_loops(ir, context);
  if (passes.fuse_elementwise) fuse_elementwise(ir, context);
}

}  // namespace weir
