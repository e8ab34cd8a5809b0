#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/control/summarize.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.require_scalar(0); }

struct State {
  int64_t summarize;
};
State prepare(PrepareContext& c) { return {c.attr<int64_t>("summarize")}; }

void cpu(KernelContext& c) {
  if (c.scalar<bool>(0)) return;
  std::string message = "assertion failed:";
  for (int i = 1; i < c.inputs(); ++i) message += " [" + summarize(c, i, c.state<State>().summarize) + "]";
  throw Error(Code::InvalidArgument, message);
}

}  // namespace

OpDef assert_op() {
  return {.name = "Assert",
          .inputs = "condition:bool; data:T",
          .attrs = "T:list(type)>=1; summarize:int=3",
          .flags = "stateful",
          .host = "condition, data",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .effect = Effect::Checks};
}

}  // namespace weir::ops

namespace weir {

Operation assert_true(const In& condition, const InList& data, const AssertOptions& options, std::string_view name) {
  Graph& graph = ops::graph_of({&condition});
  LineScope line(graph, source_line(condition.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "Assert"));
  // TensorFlow leaves a constant behind for every value among the data; node counts decide seeds.
  for (const In& value : data.values()) ops::to_output(graph, value, "Const");
  return NodeBuilder("Assert").input(condition).input(data).attr("summarize", options.summarize).build();
}

}  // namespace weir
