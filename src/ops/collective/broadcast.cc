#include <algorithm>
#include <cctype>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/collective/collective.h"
#include "ops/types.h"
#include "weir/collectives.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (c.attr<int64_t>("root_rank") < 0) c.fail(fmt::format("root_rank {} is negative", c.attr<int64_t>("root_rank")));
  c.set_output(0, c.input(0));
}

// The root's tensor reaches all; those of the others nobody.
void gradient(GradContext& c) {
  const auto& group = c.attr<std::string>("group");
  Output sum = NodeBuilder("HorovodAllreduce").input(c.output_grad()).attr("group", group).output();
  const bool root = collectives::require_group(group)->rank() == c.attr<int64_t>("root_rank");
  c.set_input_grad(0, root ? sum : sum * 0.0);
}

void start(KernelContext& c, Completion done) {
  const auto engine = collectives::require_group(c.node().attr<std::string>("group"));
  start_collective(c, done, *engine,
                   {.kind = collectives::Kind::Broadcast,
                    .shape = c.shape(0),
                    .root = static_cast<int>(c.node().attr<int64_t>("root_rank"))});
}

}  // namespace

OpDef horovod_broadcast_op() {
  return {.name = "HorovodBroadcast",
          .inputs = "tensor:T",
          .outputs = "output:T",
          .attrs = WEIR_MOVED_TYPES "; root_rank:int; ignore_name_scope:bool=false; group:string=''",
          .flags = "stateful",
          .host = "tensor, output",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.start = start_any<start>},
          .waits = true};
}

}  // namespace weir::ops

namespace weir::distributed {
namespace {

// The name as one part of another.
std::string flat(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

}  // namespace

Output broadcast(const In& tensor, int root_rank, std::string_view name, In::Where where) {
  return NodeBuilder("HorovodBroadcast", name, where)
      .input(tensor)
      .attr("root_rank", static_cast<int64_t>(root_rank))
      .output();
}

Operation broadcast_variables(Graph& graph, const std::vector<Variable>& variables, int root_rank, In::Where where) {
  std::vector<Operation> assigned;
  for (const Variable& variable : variables) {
    const std::string name = "HorovodBroadcast_" + flat(variable.name());
    assigned.push_back(assign(variable, broadcast(read_variable(variable), root_rank, name, where)).op());
  }
  return graph.group(assigned, {}, where);
}

Operation broadcast_global_variables(Graph& graph, int root_rank, In::Where where) {
  return broadcast_variables(graph, graph.global_variables(), root_rank, where);
}

}  // namespace weir::distributed
