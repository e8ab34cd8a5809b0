#include <cstdio>

#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/control/summarize.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

// How often the node has printed in this session.
struct Calls final : Resource {
  std::string describe() const override { return "a counter of lines"; }
  std::atomic<int64_t> count{0};
};

struct State {
  std::string message;
  int64_t first_n, summarize;
  ResourcePtr<Calls> calls;  // null when there is no limit
};

State prepare(PrepareContext& c) {
  State state{c.attr<std::string>("message"), c.attr<int64_t>("first_n"), c.attr<int64_t>("summarize"), {}};
  if (state.first_n >= 0) state.calls = c.node_resource<Calls>([] { return make_resource<Calls>(); });
  return state;
}

void cpu(KernelContext& c) {
  const State& state = c.state<State>();
  if (c.raw_output() != c.raw_input(0)) {
    copy_elements(c.dtype(0), c.raw_output(), c.raw_input(0), c.elements(0), c.pool());
  }
  if (state.calls && state.calls->count.fetch_add(1, std::memory_order_relaxed) >= state.first_n) return;
  std::string text = state.message;
  for (int i = 1; i < c.inputs(); ++i) text += "[" + summarize(c, i, state.summarize) + "]";
  text += '\n';
  // One call, so that lines of several threads do not mix.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

OpDef print_op() {
  return {.name = "Print",
          .inputs = "input:T; data:U",
          .outputs = "output:T",
          .attrs = "T:type; U:list(type)>=0; message:string=''; first_n:int=-1; summarize:int=3",
          .flags = "stateful",
          .host = "data",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

Output print(const In& input, const InList& data, const PrintOptions& options, std::string_view name) {
  return NodeBuilder("Print", name)
      .input(input)
      .input(data)
      .attr("message", std::string(options.message))
      .attr("first_n", options.first_n)
      .attr("summarize", options.summarize)
      .output();
}

}  // namespace weir
