#include <algorithm>

#include "graph/grad_context.h"
#include "ops/sequence/lstm_block.h"
#include "weir/ops.h"
#include "weir/sequence_ops.h"

// An LSTM along a whole sequence. The products with the inputs are one product for all steps, and so are, backwards,
// the gradients of inputs and weights: only what depends on the step before is computed step by step.
namespace weir::ops {
namespace {

constexpr int kX = 1, kCsPrev = 2, kHPrev = 3, kW = 4, kPeepholes = 5, kB = 8;

Shape infer_sequence(InferContext& c) {
  c.require_scalar(0);
  c.require_rank(kX, 3);
  const Shape state = infer_lstm_block(c, kX, kCsPrev);
  const Shape x = c.input(kX).merged(Shape::unknown_dims(3));
  return {x[0], state[0], state[1]};
}

void infer(InferContext& c) {
  const Shape output = infer_sequence(c);
  for (int i = 0; i < 7; ++i) c.set_output(i, output);
}

LstmBlockState sizes(PrepareContext& c, LstmGateOrder order) {
  const Shape& x = c.input(kX);
  return {.steps = x[0],
          .batch = x[1],
          .inputs = x[2],
          .units = c.input(kCsPrev)[1],
          .forget_bias = 0,
          .cell_clip = 0,
          .peephole = c.attr<bool>("use_peephole"),
          .order = order};
}

size_t aligned(int64_t floats) { return (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64; }

LstmBlockState prepare_forward(PrepareContext& c, LstmGateOrder order, float forget_bias) {
  LstmBlockState s = sizes(c, order);
  s.forget_bias = forget_bias, s.cell_clip = c.attr<float>("cell_clip");
  c.set_scratch(aligned(s.steps * s.batch * 4 * s.units) +
                std::max(cpu::gemm_scratch_bytes(gate_product(s.steps * s.batch, s.inputs, 4 * s.units), c.threads()),
                         cpu::gemm_scratch_bytes(gate_product(s.batch, s.units, 4 * s.units), c.threads())));
  return s;
}

LstmBlockState prepare(PrepareContext& c) { return prepare_forward(c, kIcfo, c.attr<float>("forget_bias")); }
LstmBlockState prepare_v2(PrepareContext& c) { return prepare_forward(c, kIfco, 0); }

LstmPeepholes peepholes(const KernelContext& c, bool wanted) {
  if (!wanted) return {};
  return {c.input<float>(kPeepholes), c.input<float>(kPeepholes + 1), c.input<float>(kPeepholes + 2)};
}

// How many steps there are to compute.
int64_t steps_to_run(const KernelContext& c, const LstmBlockState& s) {
  return std::clamp<int64_t>(c.scalar<int64_t>(0), 0, s.steps);
}

void cpu_forward(KernelContext& c) {
  const auto& s = c.state<LstmBlockState>();
  const int64_t steps = steps_to_run(c, s), step = s.batch * s.units, gate_step = 4 * step;
  auto* gates = static_cast<float*>(c.scratch());
  void* rest = static_cast<char*>(c.scratch()) + aligned(s.steps * gate_step);
  const auto* w = c.input<float>(kW);
  if (steps > 0) {
    auto product = gate_product(steps * s.batch, s.inputs, 4 * s.units);
    product.a = c.input<float>(kX), product.b = w, product.c = gates;
    cpu::gemm(c.pool(), product, rest);
  }
  const float *cs_prev = c.input<float>(kCsPrev), *h_prev = c.input<float>(kHPrev);
  auto out = [&](int i, int64_t t) { return c.output<float>(i) + t * step; };
  for (int64_t t = 0; t < steps; ++t) {
    auto product = gate_product(s.batch, s.units, 4 * s.units);
    product.a = h_prev, product.b = w + s.inputs * 4 * s.units, product.c = gates + t * gate_step;
    product.accumulate = true;
    cpu::gemm(c.pool(), product, rest);
    lstm_step(s, gates + t * gate_step, c.input<float>(kB), cs_prev, peepholes(c, s.peephole),
              {out(0, t), out(1, t), out(2, t), out(3, t), out(4, t), out(5, t), out(6, t)}, c.pool());
    cs_prev = out(1, t), h_prev = out(6, t);
  }
  for (int i = 0; i < 7; ++i) std::fill_n(out(i, steps), (s.steps - steps) * step, 0.f);
}

void build_gradient(GradContext& c, std::string_view grad_op) {
  NodeBuilder builder(grad_op);
  for (int i = 0; i < 9; ++i) builder.input(c.input(i));
  for (int i = 0; i < 7; ++i) builder.input(c.output(i));
  Operation op = builder.input(c.output_grad(1))
                     .input(c.output_grad(6))
                     .attr("use_peephole", c.attr<bool>("use_peephole"))
                     .build();
  for (int i = 0; i < 8; ++i) c.set_input_grad(i + 1, op.output(i));
}

void gradient(GradContext& c) { build_gradient(c, "BlockLSTMGrad"); }
void gradient_v2(GradContext& c) { build_gradient(c, "BlockLSTMGradV2"); }

void infer_grad(InferContext& c) {
  (void)infer_sequence(c);
  for (int i = 0; i < 8; ++i) c.set_output(i, c.input(i + 1));
}

// Scratch memory: the gradients of all gates, those of c and h at a step, and what products need.
struct GradScratch {
  float *gates, *cs_grad, *h_grad;
  void* rest;
};
GradScratch grad_scratch(const LstmBlockState& s, void* scratch) {
  auto* bytes = static_cast<char*>(scratch);
  const size_t gates = aligned(s.steps * s.batch * 4 * s.units), state = aligned(s.batch * s.units);
  return {reinterpret_cast<float*>(bytes), reinterpret_cast<float*>(bytes + gates),
          reinterpret_cast<float*>(bytes + gates + state), bytes + gates + 2 * state};
}

struct GradProducts {
  cpu::Gemm<float> h_prev, x, w_x, w_h, w_h_first;
};
// `steps` of the sequence count.
GradProducts grad_products(const LstmBlockState& s, int64_t steps) {
  const int64_t rows = steps * s.batch, gates = 4 * s.units;
  auto back = [&](int64_t m, int64_t n) {  // [m, n] = gates [m, 4 units] * w [n, 4 units]^T
    auto product = gate_product(m, gates, n);
    product.transpose_b = true, product.ldb = gates;
    return product;
  };
  auto weights = [&](int64_t m, int64_t k) {  // [m, 4 units] = a [k, m]^T * gates [k, 4 units]
    auto product = gate_product(m, k, gates);
    product.transpose_a = true, product.lda = m;
    return product;
  };
  return {back(s.batch, s.units), back(rows, s.inputs), weights(s.inputs, rows),
          weights(s.units, std::max<int64_t>(steps - 1, 0) * s.batch), weights(s.units, s.batch)};
}

LstmBlockState prepare_gradient(PrepareContext& c, LstmGateOrder order) {
  const LstmBlockState s = sizes(c, order);
  const GradProducts products = grad_products(s, s.steps);
  size_t most = 0;
  for (const auto* product : {&products.h_prev, &products.x, &products.w_x, &products.w_h, &products.w_h_first}) {
    most = std::max(most, cpu::gemm_scratch_bytes(*product, c.threads()));
  }
  c.set_scratch(aligned(s.steps * s.batch * 4 * s.units) + 2 * aligned(s.batch * s.units) + most);
  return s;
}

LstmBlockState prepare_grad(PrepareContext& c) { return prepare_gradient(c, kIcfo); }
LstmBlockState prepare_grad_v2(PrepareContext& c) { return prepare_gradient(c, kIfco); }

void cpu_grad(KernelContext& c) {
  const auto& s = c.state<LstmBlockState>();
  const int64_t steps = steps_to_run(c, s), step = s.batch * s.units, gate_step = 4 * step;
  const GradScratch scratch = grad_scratch(s, c.scratch());
  const auto* w_h = c.input<float>(kW) + s.inputs * 4 * s.units;
  auto value = [&](int i, int64_t t) { return c.input<float>(9 + i) + t * step; };
  float *cs_prev_grad = c.output<float>(1), *h_prev_grad = c.output<float>(2);
  std::fill_n(cs_prev_grad, step, 0.f);
  std::fill_n(h_prev_grad, step, 0.f);
  for (int i = 4; i < 7; ++i) std::fill_n(c.output<float>(i), s.units, 0.f);
  GradProducts products = grad_products(s, steps);
  for (int64_t t = steps - 1; t >= 0; --t) {
    // What came from outside and what the step behind it gave.
    const float *cs_outside = c.input<float>(16) + t * step, *h_outside = c.input<float>(17) + t * step;
    for (int64_t i = 0; i < step; ++i) {
      scratch.cs_grad[i] = cs_outside[i] + cs_prev_grad[i];
      scratch.h_grad[i] = h_outside[i] + h_prev_grad[i];
    }
    const float* cs_before = t > 0 ? value(1, t - 1) : c.input<float>(kCsPrev);
    float* gates = scratch.gates + t * gate_step;
    lstm_step_grad(s, {value(0, t), value(1, t), value(2, t), value(3, t), value(4, t), value(5, t)}, cs_before,
                   peepholes(c, s.peephole), scratch.cs_grad, scratch.h_grad,
                   {cs_prev_grad, gates, c.output<float>(4), c.output<float>(5), c.output<float>(6)}, c.pool());
    products.h_prev.a = gates, products.h_prev.b = w_h, products.h_prev.c = h_prev_grad;
    cpu::gemm(c.pool(), products.h_prev, scratch.rest);
  }
  float *x_grad = c.output<float>(0), *w_grad = c.output<float>(3), *b_grad = c.output<float>(7);
  std::fill_n(b_grad, 4 * s.units, 0.f);
  std::fill_n(x_grad + steps * s.batch * s.inputs, (s.steps - steps) * s.batch * s.inputs, 0.f);
  if (steps == 0) return std::fill_n(w_grad, (s.inputs + s.units) * 4 * s.units, 0.f), void();
  auto run = [&](cpu::Gemm<float>& product, const float* a, const float* b, float* to) {
    product.a = a, product.b = b, product.c = to;
    cpu::gemm(c.pool(), product, scratch.rest);
  };
  run(products.x, scratch.gates, c.input<float>(kW), x_grad);
  run(products.w_x, c.input<float>(kX), scratch.gates, w_grad);
  float* w_h_grad = w_grad + s.inputs * 4 * s.units;
  run(products.w_h_first, c.input<float>(kHPrev), scratch.gates, w_h_grad);
  if (steps > 1) {
    products.w_h.accumulate = true;
    run(products.w_h, value(6, 0), scratch.gates + gate_step, w_h_grad);
  }
  for (int64_t row = 0; row < steps * s.batch; ++row) {
    for (int64_t k = 0; k < 4 * s.units; ++k) b_grad[k] += scratch.gates[row * 4 * s.units + k];
  }
}

constexpr std::string_view kInputs = "seq_len_max:int64; x:T; cs_prev:T; h_prev:T; w:T; wci:T; wcf:T; wco:T; b:T";
constexpr std::string_view kGradInputs =
    "seq_len_max:int64; x:T; cs_prev:T; h_prev:T; w:T; wci:T; wcf:T; wco:T; b:T; i:T; cs:T; f:T; o:T; ci:T; co:T; h:T; "
    "cs_grad:T; h_grad:T";
constexpr std::string_view kGradOutputs =
    "x_grad:T; cs_prev_grad:T; h_prev_grad:T; w_grad:T; wci_grad:T; wcf_grad:T; wco_grad:T; b_grad:T";

OpDef forward_row(std::string_view name, std::string_view attrs, void (*gradient_fn)(GradContext&),
                  KernelState (*prepare_fn)(PrepareContext&)) {
  return {.name = name,
          .inputs = kInputs,
          .outputs = "i:T; cs:T; f:T; o:T; ci:T; co:T; h:T",
          .attrs = attrs,
          .host = "seq_len_max",
          .infer = infer,
          .gradient = gradient_fn,
          .cpu = {.select = float_kernel<cpu_forward>, .prepare = prepare_fn}};
}

OpDef grad_row(std::string_view name, KernelState (*prepare_fn)(PrepareContext&)) {
  return {.name = name,
          .inputs = kGradInputs,
          .outputs = kGradOutputs,
          .attrs = "use_peephole:bool; T:type{half,float}",
          .host = "seq_len_max",
          .infer = infer_grad,
          .cpu = {.select = float_kernel<cpu_grad>, .prepare = prepare_fn}};
}

}  // namespace

OpDef block_lstm_op() {
  return forward_row("BlockLSTM",
                     "forget_bias:float=1.0; cell_clip:float=3.0; use_peephole:bool=False; T:type{half,float}",
                     gradient, prepared<prepare>);
}
OpDef block_lstm_v2_op() {
  return forward_row("BlockLSTMV2", "cell_clip:float=0.0; use_peephole:bool=False; T:type{half,float}", gradient_v2,
                     prepared<prepare_v2>);
}
OpDef block_lstm_grad_op() { return grad_row("BlockLSTMGrad", prepared<prepare_grad>); }
OpDef block_lstm_grad_v2_op() { return grad_row("BlockLSTMGradV2", prepared<prepare_grad_v2>); }

}  // namespace weir::ops

namespace weir::nn {

LstmBlockOutputs block_lstm(const In& seq_len_max, const In& x, const In& cs_prev, const In& h_prev,
                            const LstmBlockArgs& args, const LstmBlockOptions& options, std::string_view name) {
  Operation op = NodeBuilder("BlockLSTM", name, x.where())
                     .input(seq_len_max)
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
