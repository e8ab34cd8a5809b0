#include "ops/sequence/lstm_block.h"

#include <algorithm>

#include "graph/grad_context.h"
#include "weir/ops.h"
#include "weir/sequence_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kArguments = "x:T; cs_prev:T; h_prev:T; w:T; wci:T; wcf:T; wco:T; b:T";

void infer(InferContext& c) {
  c.require_rank(0, 2);
  const Shape state = infer_lstm_block(c, 0, 1);
  for (int i = 0; i < 7; ++i) c.set_output(i, state);
}

LstmBlockState sizes(PrepareContext& c) {
  return {.steps = 1,
          .batch = c.input(0)[0],
          .inputs = c.input(0)[1],
          .units = c.input(1)[1],
          .forget_bias = 0,
          .cell_clip = 0,
          .peephole = c.attr<bool>("use_peephole"),
          .order = kIcfo};
}

// The gates, and behind them what the products need.
size_t gate_bytes(const LstmBlockState& s) {
  return (static_cast<size_t>(s.batch * 4 * s.units) * sizeof(float) + 63) / 64 * 64;
}

LstmBlockState prepare(PrepareContext& c) {
  LstmBlockState s = sizes(c);
  s.forget_bias = c.attr<float>("forget_bias"), s.cell_clip = c.attr<float>("cell_clip");
  c.set_scratch(gate_bytes(s) +
                std::max(cpu::gemm_scratch_bytes(gate_product(s.batch, s.inputs, 4 * s.units), c.threads()),
                         cpu::gemm_scratch_bytes(gate_product(s.batch, s.units, 4 * s.units), c.threads())));
  return s;
}

LstmPeepholes peepholes(const KernelContext& c, int first, bool wanted) {
  if (!wanted) return {};
  return {c.input<float>(first), c.input<float>(first + 1), c.input<float>(first + 2)};
}

void cpu_forward(KernelContext& c) {
  const auto& s = c.state<LstmBlockState>();
  auto* gates = static_cast<float*>(c.scratch());
  void* rest = static_cast<char*>(c.scratch()) + gate_bytes(s);
  const auto* w = c.input<float>(3);
  auto product = gate_product(s.batch, s.inputs, 4 * s.units);
  product.a = c.input<float>(0), product.b = w, product.c = gates;
  cpu::gemm(c.pool(), product, rest);
  product = gate_product(s.batch, s.units, 4 * s.units);
  product.a = c.input<float>(2), product.b = w + s.inputs * 4 * s.units, product.c = gates, product.accumulate = true;
  cpu::gemm(c.pool(), product, rest);
  lstm_step(s, gates, c.input<float>(7), c.input<float>(1), peepholes(c, 4, s.peephole),
            {c.output<float>(0), c.output<float>(1), c.output<float>(2), c.output<float>(3), c.output<float>(4),
             c.output<float>(5), c.output<float>(6)},
            c.pool());
}

// As TensorFlow has it: the operation gives the gradients of the gates, the products are nodes of their own.
void gradient(GradContext& c) {
  NodeBuilder builder("LSTMBlockCellGrad");
  for (int i = 0; i < 8; ++i) builder.input(c.input(i));
  for (int i = 0; i < 6; ++i) builder.input(c.output(i));
  Operation op = builder.input(c.output_grad(1))
                     .input(c.output_grad(6))
                     .attr("use_peephole", c.attr<bool>("use_peephole"))
                     .build();
  Output x = c.input(0), h_prev = c.input(2), gates = op.output(1);
  Output xh_grad = matmul(gates, c.input(3), {.transpose_b = true});
  Output inputs = slice(shape(x), {1}, {1}), units = slice(shape(h_prev), {1}, {1});
  std::vector<Output> parts = split_v(xh_grad, concat({inputs, units}, 0), 1, 2);
  parts[0].set_shape(x.shape());
  parts[1].set_shape(h_prev.shape());
  Output xh = concat({x, h_prev}, 1);
  c.set_input_grad(0, parts[0]);
  c.set_input_grad(1, op.output(0));
  c.set_input_grad(2, parts[1]);
  c.set_input_grad(3, matmul(xh, gates, {.transpose_a = true}));
  for (int i = 0; i < 3; ++i) c.set_input_grad(4 + i, op.output(2 + i));
  c.set_input_grad(7, reduce_sum(gates, {.axes = {0}}));
}

void infer_grad(InferContext& c) {
  c.require_rank(0, 2);
  const Shape state = infer_lstm_block(c, 0, 1);
  for (int i = 8; i < 16; ++i) (void)state.merged(c.input(i));
  c.set_output(0, state);
  c.set_output(1, {state[0], state[1] == kUnknown ? kUnknown : 4 * state[1]});
  for (int i = 0; i < 3; ++i) c.set_output(2 + i, c.input(4 + i).merged({state[1]}));
}

LstmBlockState prepare_grad(PrepareContext& c) { return sizes(c); }

void cpu_grad(KernelContext& c) {
  const auto& s = c.state<LstmBlockState>();
  for (int i = 2; i < 5; ++i) std::fill_n(c.output<float>(i), s.units, 0.f);
  lstm_step_grad(s,
                 {c.input<float>(8), c.input<float>(9), c.input<float>(10), c.input<float>(11), c.input<float>(12),
                  c.input<float>(13)},
                 c.input<float>(1), peepholes(c, 4, s.peephole), c.input<float>(14), c.input<float>(15),
                 {c.output<float>(0), c.output<float>(1), c.output<float>(2), c.output<float>(3), c.output<float>(4)},
                 c.pool());
}

}  // namespace

OpDef lstm_block_cell_op() {
  return {.name = "LSTMBlockCell",
          .inputs = kArguments,
          .outputs = "i:T; cs:T; f:T; o:T; ci:T; co:T; h:T",
          .attrs = "forget_bias:float=1.0; cell_clip:float=3.0; use_peephole:bool=False; T:type{half,float}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = float_kernel<cpu_forward>, .prepare = prepared<prepare>}};
}

OpDef lstm_block_cell_grad_op() {
  return {.name = "LSTMBlockCellGrad",
          .inputs =
              "x:T; cs_prev:T; h_prev:T; w:T; wci:T; wcf:T; wco:T; b:T; i:T; cs:T; f:T; o:T; ci:T; co:T; cs_grad:T; "
              "h_grad:T",
          .outputs = "cs_prev_grad:T; dicfo:T; wci_grad:T; wcf_grad:T; wco_grad:T",
          .attrs = "use_peephole:bool; T:type{half,float}",
          .infer = infer_grad,
          .cpu = {.select = float_kernel<cpu_grad>, .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops

namespace weir::nn {

LstmBlockOutputs lstm_block_cell(const In& x, const In& cs_prev, const In& h_prev, const LstmBlockArgs& args,
                                 const LstmBlockOptions& options, std::string_view name) {
  Operation op = NodeBuilder("LSTMBlockCell", name, x.where())
                     .input(x)
                     .input(cs_prev)
                     .input(h_prev)
                     .input(args.w)
                     .input(args.wci)
                     .input(args.wcf)
                     .input(args.wco)
                     .input(args.b)
                     .attr("forget_bias", options.forget_bias)
                     .attr("cell_clip", options.cell_clip)
                     .attr("use_peephole", options.use_peephole)
                     .build();
  return {op.output(0), op.output(1), op.output(2), op.output(3), op.output(4), op.output(5), op.output(6)};
}

}  // namespace weir::nn
