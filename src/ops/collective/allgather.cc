#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/collective/collective.h"
#include "ops/types.h"
#include "weir/collectives.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  Shape shape = c.input(0);
  if (shape.has_rank()) shape.set_dim(0, kUnknown);
  c.set_output(0, shape);
}

// This process's rows of the sum of all gradients.
void gradient(GradContext& c) {
  const auto& group = c.attr<std::string>("group");
  const int self = collectives::require_group(group)->rank();
  Output sum = NodeBuilder("HorovodAllreduce").input(c.output_grad()).attr("group", group).output();
  Output rows = slice(shape(c.input(0)), {0}, {1});
  Output all_rows = NodeBuilder("HorovodAllgather").input(rows).attr("group", group).output();
  Output before = reduce_sum(slice(all_rows, {0}, {self}), {.axes = {0}, .keep_dims = true});
  Output rest = fill(expand_dims(rank(c.input(0)) - 1, 0), 0);
  c.set_input_grad(0, slice(sum, concat({before, rest}, 0), shape(c.input(0))));
}

void start(KernelContext& c, Completion done) {
  const auto engine = collectives::require_group(c.node().attr<std::string>("group"));
  Shape shape = c.shape(0);
  shape.set_dim(0, 0);  // may differ
  start_collective(c, done, *engine, {.kind = collectives::Kind::Gather, .shape = shape});
}

}  // namespace

OpDef horovod_allgather_op() {
  return {.name = "HorovodAllgather",
          .inputs = "tensor:T",
          .outputs = "output:T",
          .attrs = WEIR_MOVED_TYPES "; ignore_name_scope:bool=false; group:string=''",
          .flags = "stateful",
          .host = "tensor, output",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.start = start_any<start>},
          .waits = true};
}

}  // namespace weir::ops

namespace weir::distributed {

Output allgather(const In& tensor, std::string_view name, In::Where where) {
  return NodeBuilder("HorovodAllgather", name, where).input(tensor).output();
}

}  // namespace weir::distributed
