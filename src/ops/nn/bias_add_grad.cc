#include "devices/cpu/reduce.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 2);
  const bool nchw = c.attr<std::string>("data_format") == "NCHW";
  c.set_output(0, c.input(0).has_rank() ? Shape{c.input(0)[nchw ? 1 : -1]} : Shape::unknown_dims(1));
}

void gradient(GradContext& c) {
  Output sizes = shape(c.input(0)), grad = c.output_grad(), channels = shape(grad);
  Output expanded, multiples;
  if (c.attr<std::string>("data_format") == "NCHW") {
    Output before = subscript(sizes, {until(1)}), after = subscript(sizes, {from(2)});
    expanded = concat({ones_like(before), channels, ones_like(after)}, 0);
    multiples = concat({before, {1}, after}, 0);
  } else {
    Output before = subscript(sizes, {until(-1)});
    expanded = concat({ones_like(before), channels}, 0);
    multiples = concat({before, {1}}, 0);
  }
  c.set_input_grad(0, tile(reshape(grad, expanded), multiples));
}

// The gradient as [outer, channels, inner].
struct State {
  int64_t outer = 1, channels, inner = 1;
};

State prepare(PrepareContext& c) {
  const Shape& shape = c.input(0);
  const bool nchw = c.attr<std::string>("data_format") == "NCHW";
  State state;
  const int channel = nchw ? 1 : shape.rank() - 1;
  for (int d = 0; d < channel; ++d) state.outer *= shape[d];
  state.channels = shape[channel];
  for (int d = channel + 1; d < shape.rank(); ++d) state.inner *= shape[d];
  if (state.inner == 0) state.outer = 0;  // nothing to add, however often
  if (state.inner == 1) {
    c.set_scratch(static_cast<size_t>(cpu::reduce_scratch_bytes({1, state.outer, state.channels})));
  }
  return state;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const State& s = c.state<State>();
    const T* dy = c.input<T>(0);
    T* db = c.output<T>();
    if constexpr (std::is_same_v<T, float>) {
      if (s.inner == 1) {
        cpu::reduce(ReduceFn::Sum, dy, {1, s.outer, s.channels}, db, c.scratch(), c.pool());
        return;
      }
    }
    const int64_t work = std::max<int64_t>(1, s.outer * s.inner);
    c.pool().parallel_for(s.channels, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
      for (int64_t channel = begin; channel < end; ++channel) {
        Wide<T> total = 0;
        for (int64_t o = 0; o < s.outer; ++o) {
          // Summed run by run, so that the error of many small terms stays small.
          Wide<T> run = 0;
          const T* from = dy + (o * s.channels + channel) * s.inner;
          for (int64_t i = 0; i < s.inner; ++i) run = wrapping_add<Wide<T>>(run, from[i]);
          total = wrapping_add(total, run);
        }
        db[channel] = static_cast<T>(total);
      }
    });
  }
};

}  // namespace

OpDef bias_add_grad_op() {
  return {.name = "BiasAddGrad",
          .inputs = "out_backprop:T",
          .outputs = "output:T",
          .attrs = "T:numbertype; data_format:string{NHWC,NCHW}='NHWC'",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .prepare = prepared<prepare>},
          .loop = {LoopPart::Kind::ReduceRows, ReduceFn::Sum}};
}

}  // namespace weir::ops

namespace weir::nn {

Output bias_add_grad(const In& out_backprop, const BiasAddOptions& options, std::string_view name) {
  return NodeBuilder("BiasAddGrad", name).input(out_backprop).attr("data_format", options.data_format).output();
}

}  // namespace weir::nn
