#pragma once

#include "base/errors.h"
#include "devices/cpu/gemm.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

// One step of the LSTM that LSTMBlockCell and BlockLSTM compute, and its gradient. All matrices are [batch, units].
namespace weir::ops {

// Where each gate stands in the 4 * units columns of the weights.
struct LstmGateOrder {
  int input, candidate, forget, output;
};
inline constexpr LstmGateOrder kIcfo{0, 1, 2, 3};  // LSTMBlockCell, BlockLSTM
inline constexpr LstmGateOrder kIfco{0, 2, 1, 3};  // BlockLSTMV2

struct LstmBlockState {
  int64_t steps, batch, inputs, units;  // steps is 1 for the cell
  float forget_bias, cell_clip;
  bool peephole;
  LstmGateOrder order;
};

struct LstmPeepholes {
  const float *input = nullptr, *forget = nullptr, *output = nullptr;  // null: none
};

struct LstmStepOutputs {
  float *i, *cs, *f, *o, *ci, *co, *h;
};
// From the products of the gates, without bias, [batch, 4 * units].
void lstm_step(const LstmBlockState& state, const float* gates, const float* bias, const float* cs_prev,
               const LstmPeepholes& peepholes, const LstmStepOutputs& out, ThreadPool& pool);

struct LstmStepValues {
  const float *i, *cs, *f, *o, *ci, *co;
};
struct LstmStepGrads {
  float *cs_prev, *gates;  // written; the second [batch, 4 * units]
  float *wci, *wcf, *wco;  // added to; only with peepholes
};
void lstm_step_grad(const LstmBlockState& state, const LstmStepValues& values, const float* cs_prev,
                    const LstmPeepholes& peepholes, const float* cs_grad, const float* h_grad, const LstmStepGrads& out,
                    ThreadPool& pool);

// Checks the shapes of cs_prev, h_prev, w, wci, wcf, wco and b, which begin at input `first`, against x's, of which the
// last two dimensions are [batch, inputs]. Gives [batch, units].
Shape infer_lstm_block(InferContext& c, int x, int first);

// For operations that compute in float alone, on the CPU: Kernel::select.
template <ComputeFn Fn>
ComputeFn float_kernel(const NodeView& node) {
  return node.type() == DType::Float32 ? Fn : nullptr;
}

// c [rows, columns] = a [rows, k] * b [k, columns], to be completed with pointers.
cpu::Gemm<float> gate_product(int64_t rows, int64_t k, int64_t columns);

}  // namespace weir::ops
