#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.require_scalar(i);
  c.set_output(0, Shape{});
}

void cpu(KernelContext& c) {
  *c.output<std::string>() =
      fmt::format("{}-{:05}-of-{:05}", c.scalar<std::string>(0), c.scalar<int32_t>(1), c.scalar<int32_t>(2));
}

// The pattern that all shards match. In two parts, because "??-" in one would be a trigraph.
void cpu_spec(KernelContext& c) {
  *c.output<std::string>() = fmt::format(
      "{}-?????"
      "-of-{:05}",
      c.scalar<std::string>(0), c.scalar<int32_t>(1));
}

}  // namespace

OpDef sharded_filename_op() {
  return {.name = "ShardedFilename",
          .inputs = "basename:string; shard:int32; num_shards:int32",
          .outputs = "filename:string",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

OpDef sharded_filespec_op() {
  return {.name = "ShardedFilespec",
          .inputs = "basename:string; num_shards:int32",
          .outputs = "filename:string",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_spec>},
          .host_only = true};
}

}  // namespace weir::ops
