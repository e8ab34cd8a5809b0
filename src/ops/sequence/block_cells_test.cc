#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/weir.h"

// The fused cells against the same cells made of single operations, values and gradients.
namespace weir::nn {
namespace {

using testing::expect_error;
using testing::expect_near;

constexpr int64_t kSteps = 3, kBatch = 2, kInputs = 4, kUnits = 5;

// Fixed numbers in [-0.5, 0.5).
Tensor numbers(const Shape& shape, uint32_t seed) {
  return testing::converted(testing::scattered(shape, -0.5, 0.5, seed), float32);
}

struct Cell {
  explicit Cell(Graph& g)
      : c(g.constant(numbers({kBatch, kUnits}, 2))),
        h(g.constant(numbers({kBatch, kUnits}, 3))),
        w(g.constant(numbers({kInputs + kUnits, 4 * kUnits}, 4))),
        wci(g.constant(numbers({kUnits}, 5))),
        wcf(g.constant(numbers({kUnits}, 6))),
        wco(g.constant(numbers({kUnits}, 7))),
        b(g.constant(numbers({4 * kUnits}, 8))) {}
  std::vector<Output> weights() const { return {c, h, w, wci, wcf, wco, b}; }
  LstmBlockArgs args() const { return {w, wci, wcf, wco, b}; }

  // One step of single operations: {c, h}.
  std::pair<Output, Output> step(const Output& x, const Output& c_prev, const Output& h_prev, bool peephole) const {
    std::vector<Output> gates = split(nn::bias_add(matmul(concat({x, h_prev}, 1), w), b), 4, 1);
    Output i = gates[0], f = gates[2] + 1.f, o = gates[3];
    if (peephole) i = i + c_prev * wci, f = f + c_prev * wcf;
    Output now = sigmoid(f) * c_prev + sigmoid(i) * tanh(gates[1]);
    if (peephole) o = o + now * wco;
    return {now, sigmoid(o) * tanh(now)};
  }

  Output c, h, w, wci, wcf, wco, b;
};

// Expects the same values and the same gradients by all of `xs`.
void expect_equal(Graph& g, const std::vector<Output>& fused, const std::vector<Output>& plain,
                  const std::vector<Output>& xs) {
  auto loss = [](const std::vector<Output>& ys) {
    Output sum = reduce_sum(square(ys[0]));
    for (size_t i = 1; i < ys.size(); ++i) sum = sum + reduce_sum(square(ys[i]) * static_cast<float>(i + 1));
    return sum;
  };
  std::vector<Output> wanted = plain, have = fused;
  for (const auto& [ys, list] : {std::pair(&plain, &wanted), std::pair(&fused, &have)}) {
    for (const Gradient& grad : gradients({loss(*ys)}, xs)) {
      if (grad) list->push_back(grad.dense());
    }
  }
  ASSERT_EQ(have.size(), wanted.size());
  Session session(g);
  const auto a = session.run(have), b = session.run(wanted);
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(a[i], b[i], 2e-5);
  }
}

TEST(LSTMBlockCell, EqualsTheCellOfSingleOperations) {
  for (bool peephole : {false, true}) {
    Graph g;
    Cell cell(g);
    Output x = g.constant(numbers({kBatch, kInputs}, 1));
    LstmBlockOutputs fused =
        lstm_block_cell(x, cell.c, cell.h, cell.args(), {.cell_clip = 0, .use_peephole = peephole});
    auto [c, h] = cell.step(x, cell.c, cell.h, peephole);
    std::vector<Output> xs = {x, cell.c, cell.h, cell.w, cell.b};
    if (peephole) xs.insert(xs.end(), {cell.wci, cell.wcf, cell.wco});
    expect_equal(g, {fused.cs, fused.h}, {c, h}, xs);
  }
}

TEST(LSTMBlockCell, ClipsItsMemoryAndChecksShapes) {
  Graph g;
  Cell cell(g);
  Output x = g.constant(numbers({kBatch, kInputs}, 1));
  Output clipped = lstm_block_cell(x, cell.c, cell.h, cell.args(), {.cell_clip = 0.01f}).cs;
  EXPECT_LE(Session(g).run(reduce_max(abs(clipped))).scalar<float>(), 0.01f);
  expect_error(
      [&] {
        lstm_block_cell(g.constant(numbers({kBatch, 3}, 1)), cell.c, cell.h, cell.args());
      },
      Code::InvalidArgument, "w.shape");
}

TEST(BlockLSTM, EqualsTheCellStepByStep) {
  for (bool peephole : {false, true}) {
    Graph g;
    Cell cell(g);
    Output x = g.constant(numbers({kSteps, kBatch, kInputs}, 1));
    LstmBlockOutputs fused = block_lstm(g.constant(kSteps, int64), x, cell.c, cell.h, cell.args(),
                                        {.cell_clip = 0, .use_peephole = peephole});
    std::vector<Output> cs, hs;
    Output c = cell.c, h = cell.h;
    for (const Output& step : unstack(x, kSteps, 0)) {
      std::tie(c, h) = cell.step(step, c, h, peephole);
      cs.push_back(c);
      hs.push_back(h);
    }
    std::vector<Output> xs = {x, cell.c, cell.h, cell.w, cell.b};
    if (peephole) xs.insert(xs.end(), {cell.wci, cell.wcf, cell.wco});
    expect_equal(g, {fused.cs, fused.h}, {stack(cs, 0), stack(hs, 0)}, xs);
  }
}

TEST(BlockLSTM, GivesZerosBehindTheLongestSequence) {
  Graph g;
  Cell cell(g);
  Output x = g.constant(numbers({kSteps, kBatch, kInputs}, 1)), last = g.placeholder(int64, {});
  Output h = block_lstm(last, x, cell.c, cell.h, cell.args()).h;
  Output grad = gradients({reduce_sum(h)}, {x})[0].dense();
  Session session(g);
  for (int64_t steps : {0, 2, 7}) {
    auto values = session.run({h, grad}, {{last, Tensor(steps)}});
    for (const Tensor& value : values) {
      const int64_t size = value.elements() / kSteps;
      for (int64_t t = 0; t < kSteps; ++t) {
        EXPECT_EQ(value.data<float>()[static_cast<size_t>(t * size)] == 0, t >= steps) << steps << " " << t;
      }
    }
  }
}

TEST(BlockLSTMV2, KeepsItsGatesInAnotherOrder) {
  Graph g;
  Cell cell(g);
  Output x = g.constant(numbers({kSteps, kBatch, kInputs}, 1));
  auto reorder = [](const Output& weights, int axis) {
    std::vector<Output> gates = split(weights, 4, axis);
    return concat({gates[0], gates[2], gates[1], gates[3]}, axis);
  };
  Output last = g.constant(kSteps, int64);
  Output h = block_lstm(last, x, cell.c, cell.h, cell.args(), {.forget_bias = 0, .cell_clip = 0}).h;
  Output h2 = NodeBuilder("BlockLSTMV2")
                  .input(last)
                  .input(x)
                  .input(cell.c)
                  .input(cell.h)
                  .input(reorder(cell.w, 1))
                  .input(cell.wci)
                  .input(cell.wcf)
                  .input(cell.wco)
                  .input(reorder(cell.b, 0))
                  .output(6);
  expect_equal(g, {h2}, {h}, {x, cell.c, cell.h, cell.w, cell.b});
}

TEST(GRUBlockCell, EqualsTheCellOfSingleOperations) {
  Graph g;
  Output x = g.constant(numbers({kBatch, kInputs}, 1)), h = g.constant(numbers({kBatch, kUnits}, 2));
  Output w_ru = g.constant(numbers({kInputs + kUnits, 2 * kUnits}, 3)), b_ru = g.constant(numbers({2 * kUnits}, 4));
  Output w_c = g.constant(numbers({kInputs + kUnits, kUnits}, 5)), b_c = g.constant(numbers({kUnits}, 6));
  Output fused = gru_block_cell(x, h, w_ru, w_c, b_ru, b_c).h;
  std::vector<Output> gates = split(sigmoid(nn::bias_add(matmul(concat({x, h}, 1), w_ru), b_ru)), 2, 1);
  Output candidate = tanh(nn::bias_add(matmul(concat({x, gates[0] * h}, 1), w_c), b_c));
  Output plain = gates[1] * h + (1.f - gates[1]) * candidate;
  expect_equal(g, {fused}, {plain}, {x, h, w_ru, w_c, b_ru, b_c});
  expect_error([&] { gru_block_cell(x, h, w_c, w_c, b_ru, b_c); }, Code::InvalidArgument, "w_ru");
}

}  // namespace
}  // namespace weir::nn
