#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/collective/collective.h"
#include "ops/types.h"
#include "weir/collectives.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

ReduceOp reduce_op(const AttrMap& attrs) { return static_cast<ReduceOp>(attrs.get<int64_t>("reduce_op")); }

void infer(InferContext& c) {
  const auto op = c.attr<int64_t>("reduce_op");
  if (op < 0 || op > static_cast<int64_t>(ReduceOp::Product) || op == static_cast<int64_t>(ReduceOp::Adasum)) {
    c.fail(fmt::format("reduce_op {} is none of 0 (average), 1 (sum), 3 (min), 4 (max), 5 (product)", op));
  }
  c.set_output(0, c.input(0));
}

// Every process's loss depends on this process's tensor as it does on its own.
void gradient(GradContext& c) {
  const ReduceOp op = reduce_op(c.op().attrs());
  if (op != ReduceOp::Average && op != ReduceOp::Sum) {
    throw error(Code::Unimplemented, "only averages and sums over processes have gradients");
  }
  c.set_input_grad(0, NodeBuilder("HorovodAllreduce")
                          .input(c.output_grad())
                          .attr("reduce_op", static_cast<int64_t>(op))
                          .attr("prescale_factor", c.attr<float>("prescale_factor"))
                          .attr("postscale_factor", c.attr<float>("postscale_factor"))
                          .attr("group", c.attr<std::string>("group"))
                          .output());
}

collectives::Combine combine_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::Min:
      return collectives::Combine::Min;
    case ReduceOp::Max:
      return collectives::Combine::Max;
    case ReduceOp::Product:
      return collectives::Combine::Product;
    default:
      return collectives::Combine::Sum;
  }
}

void start(KernelContext& c, Completion done) {
  const AttrMap& attrs = c.node().attrs();
  const auto engine = collectives::require_group(attrs.get<std::string>("group"));
  double scale = double{attrs.get<float>("prescale_factor")} * double{attrs.get<float>("postscale_factor")};
  const ReduceOp op = reduce_op(attrs);
  if (op == ReduceOp::Average) scale /= engine->size();
  start_collective(c, done, *engine,
                   {.kind = collectives::Kind::Reduce, .shape = c.shape(0), .combine = combine_of(op), .scale = scale});
}

}  // namespace

OpDef horovod_allreduce_op() {
  return {.name = "HorovodAllreduce",
          .inputs = "tensor:T",
          .outputs = "sum:T",
          .attrs = WEIR_REDUCED_TYPES
          "; reduce_op:int=1; prescale_factor:float=1; postscale_factor:float=1; ignore_name_scope:bool=false; "
          "group:string=''",
          .flags = "stateful",
          .host = "tensor, sum",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.start = start_any<start>},
          .waits = true};
}

}  // namespace weir::ops

namespace weir::distributed {

Output allreduce(const In& tensor, const AllreduceOptions& options, In::Where where) {
  constexpr ops::ReduceOp kOps[] = {ops::ReduceOp::Average, ops::ReduceOp::Sum, ops::ReduceOp::Min, ops::ReduceOp::Max,
                                    ops::ReduceOp::Product};
  ops::ReduceOp op = kOps[static_cast<size_t>(options.reduction)];
  // A whole number times 1/size would be nothing.
  const bool whole = tensor.output() && is_integer(tensor.output().dtype()) && op == ops::ReduceOp::Average;
  if (whole) op = ops::ReduceOp::Sum;
  Output sum = NodeBuilder("HorovodAllreduce", options.name, where)
                   .input(tensor)
                   .attr("reduce_op", static_cast<int64_t>(op))
                   .attr("group", std::string(options.group))
                   .output();
  if (!whole) return sum;
  return floordiv(sum, collectives::require_group(options.group)->size());
}

Gradient allreduce_gradient(const Gradient& gradient, const AllreduceOptions& options, In::Where where) {
  if (gradient.none()) return gradient;
  if (!gradient.sparse()) return allreduce(gradient.dense(), options, where);
  if (options.reduction != Reduction::Average && options.reduction != Reduction::Sum) {
    throw error(Code::Unimplemented, "sparse tensors can be averaged or summed over processes, nothing else");
  }
  const IndexedSlices& slices = gradient.slices();
  Graph& graph = slices.values.graph();
  Scope scope = graph.name_scope(options.name.empty() ? "allreduce_sparse" : std::string(options.name));
  auto gather = [&](const Output& part, std::string_view name) {
    return NodeBuilder("HorovodAllgather", name, where).input(part).attr("group", std::string(options.group)).output();
  };
  Output values = gather(slices.values, "values");
  const Output indices = gather(slices.indices, "indices");
  if (options.reduction == Reduction::Average) {
    values = values / static_cast<double>(collectives::require_group(options.group)->size());
  }
  return IndexedSlices{values, indices, slices.dense_shape};
}

}  // namespace weir::distributed
