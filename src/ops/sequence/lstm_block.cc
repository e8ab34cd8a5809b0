#include "ops/sequence/lstm_block.h"

#include <algorithm>
#include <cmath>

namespace weir::ops {
namespace {

float sigmoid(float x) { return 1.f / (1.f + std::exp(-x)); }

int64_t rows_per_block(int64_t units) { return std::max<int64_t>(1, 2048 / std::max<int64_t>(units, 1)); }

}  // namespace

Shape infer_lstm_block(InferContext& c, int x, int first) {
  const Shape input = c.input(x);
  const Shape state = c.input(first).merged(c.input(first + 1)).merged(Shape::unknown_dims(2));
  const int64_t batch = input.has_rank() ? input[-2] : kUnknown, inputs = input.has_rank() ? input[-1] : kUnknown;
  const Shape result = state.merged({batch, kUnknown});
  const int64_t units = result[1];
  c.require_rank(first + 2, 2);
  const Shape w = c.input(first + 2).merged(Shape::unknown_dims(2));
  if (units != kUnknown && inputs != kUnknown && !w.compatible({inputs + units, 4 * units})) {
    throw invalid_argument("w.shape must be [{}, {}] for {} inputs and {} units: {}", inputs + units, 4 * units, inputs,
                           units, w.str());
  }
  if (units == kUnknown) return result;
  for (int i = 3; i < 6; ++i) {
    if (!c.input(first + i).compatible({units})) {
      throw invalid_argument("input {} must be a vector of {} units: {}", first + i, units, c.input(first + i).str());
    }
  }
  if (!c.input(first + 6).compatible({4 * units})) {
    throw invalid_argument("b must be a vector of {}: {}", 4 * units, c.input(first + 6).str());
  }
  return result;
}

cpu::Gemm<float> gate_product(int64_t rows, int64_t k, int64_t columns) {
  cpu::Gemm<float> gemm;
  gemm.m = rows, gemm.k = k, gemm.n = columns;
  gemm.lda = k, gemm.ldb = gemm.ldc = columns;
  return gemm;
}

void lstm_step(const LstmBlockState& state, const float* gates, const float* bias, const float* cs_prev,
               const LstmPeepholes& peepholes, const LstmStepOutputs& out, ThreadPool& pool) {
  const int64_t n = state.units;
  pool.parallel_for(state.batch, rows_per_block(n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* g = gates + row * 4 * n;
      const float *gi = g + state.order.input * n, *gc = g + state.order.candidate * n;
      const float *gf = g + state.order.forget * n, *go = g + state.order.output * n;
      const float *bi = bias + state.order.input * n, *bc = bias + state.order.candidate * n;
      const float *bf = bias + state.order.forget * n, *bo = bias + state.order.output * n;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = row * n + k;
        float i = gi[k] + bi[k], f = gf[k] + bf[k] + state.forget_bias, o = go[k] + bo[k];
        if (peepholes.input) {
          i += cs_prev[at] * peepholes.input[k];
          f += cs_prev[at] * peepholes.forget[k];
        }
        i = sigmoid(i), f = sigmoid(f);
        const float ci = std::tanh(gc[k] + bc[k]);
        float cs = ci * i + f * cs_prev[at];
        if (state.cell_clip > 0) cs = std::clamp(cs, -state.cell_clip, state.cell_clip);
        if (peepholes.output) o += cs * peepholes.output[k];
        o = sigmoid(o);
        const float co = std::tanh(cs);
        out.i[at] = i, out.f[at] = f, out.ci[at] = ci, out.cs[at] = cs, out.o[at] = o, out.co[at] = co;
        out.h[at] = o * co;
      }
    }
  });
}

void lstm_step_grad(const LstmBlockState& state, const LstmStepValues& v, const float* cs_prev,
                    const LstmPeepholes& peepholes, const float* cs_grad, const float* h_grad, const LstmStepGrads& out,
                    ThreadPool& pool) {
  const int64_t n = state.units;
  pool.parallel_for(state.batch, rows_per_block(n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* g = out.gates + row * 4 * n;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = row * n + k;
        const float i = v.i[at], f = v.f[at], o = v.o[at], ci = v.ci[at], co = v.co[at];
        const float o_grad = o * (1 - o) * h_grad[at] * co;
        float c_grad = (1 - co * co) * h_grad[at] * o + cs_grad[at];
        if (peepholes.output) c_grad += o_grad * peepholes.output[k];
        const float f_grad = f * (1 - f) * c_grad * cs_prev[at], i_grad = i * (1 - i) * c_grad * ci;
        float before = c_grad * f;
        if (peepholes.input) before += i_grad * peepholes.input[k] + f_grad * peepholes.forget[k];
        out.cs_prev[at] = before;
        g[state.order.input * n + k] = i_grad;
        g[state.order.candidate * n + k] = (1 - ci * ci) * c_grad * i;
        g[state.order.forget * n + k] = f_grad;
        g[state.order.output * n + k] = o_grad;
      }
    }
  });
  if (!peepholes.input) return;
  for (int64_t row = 0; row < state.batch; ++row) {
    const float* g = out.gates + row * 4 * n;
    for (int64_t k = 0; k < n; ++k) {
      out.wci[k] += g[state.order.input * n + k] * cs_prev[row * n + k];
      out.wcf[k] += g[state.order.forget * n + k] * cs_prev[row * n + k];
      out.wco[k] += g[state.order.output * n + k] * v.cs[row * n + k];
    }
  }
}

}  // namespace weir::ops
