#include <algorithm>
#include <cmath>

#include "graph/grad_context.h"
#include "ops/sequence/lstm_block.h"
#include "weir/ops.h"
#include "weir/sequence_ops.h"

// One step of a GRU: r, u = sigmoid([x, h] w_ru + b_ru), c = tanh([x, r h] w_c + b_c), h' = u h + (1 - u) c.
namespace weir::ops {
namespace {

constexpr int kX = 0, kHPrev = 1, kWRu = 2, kWC = 3, kBRu = 4, kBC = 5;

Shape infer_state(InferContext& c) {
  c.require_rank(kX, 2);
  c.require_rank(kHPrev, 2);
  const Shape x = c.input(kX).merged(Shape::unknown_dims(2));
  const Shape state = c.input(kHPrev).merged({x[0], kUnknown});
  const int64_t units = state[1], inputs = x[1];
  for (int i : {kWRu, kWC}) c.require_rank(i, 2);
  for (int i : {kBRu, kBC}) c.require_rank(i, 1);
  if (units == kUnknown) return state;
  const int64_t rows = inputs == kUnknown ? kUnknown : inputs + units;
  auto need = [&](int i, const char* what, const Shape& wanted) {
    if (!c.input(i).compatible(wanted)) {
      throw invalid_argument("{} must have shape {}: {}", what, wanted.str(), c.input(i).str());
    }
  };
  need(kWRu, "w_ru", {rows, 2 * units});
  need(kWC, "w_c", {rows, units});
  need(kBRu, "b_ru", {2 * units});
  need(kBC, "b_c", {units});
  return state;
}

void infer(InferContext& c) {
  const Shape state = infer_state(c);
  for (int i = 0; i < 4; ++i) c.set_output(i, state);
}

struct State {
  int64_t batch, inputs, units;
};

size_t aligned(int64_t floats) { return (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64; }

State prepare(PrepareContext& c) {
  const State s{c.input(kX)[0], c.input(kX)[1], c.input(kHPrev)[1]};
  size_t most = 0;
  for (int64_t k : {s.inputs, s.units}) {
    for (int64_t columns : {s.units, 2 * s.units}) {
      most = std::max(most, cpu::gemm_scratch_bytes(gate_product(s.batch, k, columns), c.threads()));
    }
  }
  c.set_scratch(aligned(s.batch * 2 * s.units) + aligned(s.batch * s.units) + most);
  return s;
}

void cpu_forward(KernelContext& c) {
  const auto& s = c.state<State>();
  const int64_t n = s.units, elements = s.batch * n;
  auto* gates = static_cast<float*>(c.scratch());
  auto* reset = reinterpret_cast<float*>(static_cast<char*>(c.scratch()) + aligned(2 * elements));
  void* rest = reinterpret_cast<char*>(reset) + aligned(elements);
  // to [batch, columns] = [x, second] * w
  auto multiply = [&](const float* second, const float* w, int64_t columns, float* to) {
    auto product = gate_product(s.batch, s.inputs, columns);
    product.a = c.input<float>(kX), product.b = w, product.c = to;
    cpu::gemm(c.pool(), product, rest);
    product = gate_product(s.batch, n, columns);
    product.a = second, product.b = w + s.inputs * columns, product.c = to, product.accumulate = true;
    cpu::gemm(c.pool(), product, rest);
  };
  const float *h_prev = c.input<float>(kHPrev), *b_ru = c.input<float>(kBRu), *b_c = c.input<float>(kBC);
  float *r = c.output<float>(0), *u = c.output<float>(1), *candidate = c.output<float>(2), *h = c.output<float>(3);
  auto sigmoid = [](float x) { return 1.f / (1.f + std::exp(-x)); };
  multiply(h_prev, c.input<float>(kWRu), 2 * n, gates);
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = row * n + k;
      r[at] = sigmoid(gates[row * 2 * n + k] + b_ru[k]);
      u[at] = sigmoid(gates[row * 2 * n + n + k] + b_ru[n + k]);
      reset[at] = r[at] * h_prev[at];
    }
  }
  multiply(reset, c.input<float>(kWC), n, candidate);
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = row * n + k;
      candidate[at] = std::tanh(candidate[at] + b_c[k]);
      h[at] = u[at] * h_prev[at] + (1 - u[at]) * candidate[at];
    }
  }
}

void gradient(GradContext& c) {
  NodeBuilder builder("GRUBlockCellGrad");
  for (int i = 0; i < 6; ++i) builder.input(c.input(i));
  for (int i = 0; i < 3; ++i) builder.input(c.output(i));
  Operation op = builder.input(c.output_grad(3)).build();
  Output x = c.input(kX), h_prev = c.input(kHPrev), c_bar = op.output(2), ru_bar = op.output(3);
  Output x_h = concat({x, h_prev}, 1);
  c.set_input_grad(kX, op.output(0));
  c.set_input_grad(kHPrev, op.output(1));
  c.set_input_grad(kWRu, matmul(x_h, ru_bar, {.transpose_a = true}));
  c.set_input_grad(kBRu, reduce_sum(ru_bar, {.axes = {0}}));
  Output x_hr = concat({x, h_prev * c.output(0)}, 1);
  c.set_input_grad(kWC, matmul(x_hr, c_bar, {.transpose_a = true}));
  c.set_input_grad(kBC, reduce_sum(c_bar, {.axes = {0}}));
}

void infer_grad(InferContext& c) {
  const Shape state = infer_state(c);
  for (int i = 6; i < 10; ++i) (void)state.merged(c.input(i));
  c.set_output(0, c.input(kX));
  c.set_output(1, state);
  c.set_output(2, state);
  c.set_output(3, {state[0], state[1] == kUnknown ? kUnknown : 2 * state[1]});
}

cpu::Gemm<float> back_product(int64_t rows, int64_t gates, int64_t columns) {
  auto product = gate_product(rows, gates, columns);
  product.transpose_b = true, product.ldb = gates;
  return product;
}

State prepare_grad(PrepareContext& c) {
  const State s{c.input(kX)[0], c.input(kX)[1], c.input(kHPrev)[1]};
  size_t most = 0;
  for (int64_t columns : {s.inputs, s.units}) {
    for (int64_t gates : {s.units, 2 * s.units}) {
      most = std::max(most, cpu::gemm_scratch_bytes(back_product(s.batch, gates, columns), c.threads()));
    }
  }
  c.set_scratch(aligned(s.batch * s.units) + most);
  return s;
}

void cpu_grad(KernelContext& c) {
  const auto& s = c.state<State>();
  const int64_t n = s.units;
  auto* reset_grad = static_cast<float*>(c.scratch());
  void* rest = static_cast<char*>(c.scratch()) + aligned(s.batch * n);
  const float *h_prev = c.input<float>(kHPrev), *r = c.input<float>(6), *u = c.input<float>(7),
              *candidate = c.input<float>(8), *h_grad = c.input<float>(9);
  float *x_grad = c.output<float>(0), *h_prev_grad = c.output<float>(1), *c_bar = c.output<float>(2),
        *ru_bar = c.output<float>(3);
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = row * n + k;
      c_bar[at] = h_grad[at] * (1 - u[at]) * (1 - candidate[at] * candidate[at]);
      ru_bar[row * 2 * n + n + k] = h_grad[at] * (h_prev[at] - candidate[at]) * u[at] * (1 - u[at]);
    }
  }
  auto multiply = [&](const float* a, int64_t gates, const float* w, int64_t columns, float* to, bool accumulate) {
    auto product = back_product(s.batch, gates, columns);
    product.a = a, product.b = w, product.c = to, product.accumulate = accumulate;
    cpu::gemm(c.pool(), product, rest);
  };
  const float *w_c = c.input<float>(kWC), *w_ru = c.input<float>(kWRu);
  multiply(c_bar, n, w_c + s.inputs * n, n, reset_grad, false);
  for (int64_t row = 0; row < s.batch; ++row) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = row * n + k;
      ru_bar[row * 2 * n + k] = reset_grad[at] * h_prev[at] * r[at] * (1 - r[at]);
    }
  }
  multiply(c_bar, n, w_c, s.inputs, x_grad, false);
  multiply(ru_bar, 2 * n, w_ru, s.inputs, x_grad, true);
  multiply(ru_bar, 2 * n, w_ru + s.inputs * 2 * n, n, h_prev_grad, false);
  for (int64_t at = 0; at < s.batch * n; ++at) h_prev_grad[at] += reset_grad[at] * r[at] + h_grad[at] * u[at];
}

}  // namespace

OpDef gru_block_cell_op() {
  return {.name = "GRUBlockCell",
          .inputs = "x:T; h_prev:T; w_ru:T; w_c:T; b_ru:T; b_c:T",
          .outputs = "r:T; u:T; c:T; h:T",
          .attrs = "T:type{float}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = float_kernel<cpu_forward>, .prepare = prepared<prepare>}};
}

OpDef gru_block_cell_grad_op() {
  return {.name = "GRUBlockCellGrad",
          .inputs = "x:T; h_prev:T; w_ru:T; w_c:T; b_ru:T; b_c:T; r:T; u:T; c:T; d_h:T",
          .outputs = "d_x:T; d_h_prev:T; d_c_bar:T; d_r_bar_u_bar:T",
          .attrs = "T:type{float}",
          .infer = infer_grad,
          .cpu = {.select = float_kernel<cpu_grad>, .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops

namespace weir::nn {

GruBlockOutputs gru_block_cell(const In& x, const In& h_prev, const In& w_ru, const In& w_c, const In& b_ru,
                               const In& b_c, std::string_view name) {
  Operation op = NodeBuilder("GRUBlockCell", name, x.where())
                     .input(x)
                     .input(h_prev)
                     .input(w_ru)
                     .input(w_c)
                     .input(b_ru)
                     .input(b_c)
                     .build();
  return {op.output(0), op.output(1), op.output(2), op.output(3)};
}

}  // namespace weir::nn
