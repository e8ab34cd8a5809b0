#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::rnn {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::expect_same;

Tensor numbers(const Shape& shape, uint32_t seed = 1) {
  return testing::converted(testing::scattered(shape, -1, 1, seed), float32);
}

std::vector<std::string> variable_names(const Graph& g) {
  std::vector<std::string> names;
  for (const Variable& variable : g.global_variables()) names.push_back(variable.name());
  return names;
}

// Every variable gets fixed numbers, so that two networks of equal variables are equal.
void fill_variables(Graph& g, Session& session) {
  uint32_t seed = 7;
  for (const Variable& variable : g.global_variables()) {
    Output value = g.placeholder(float32, variable.shape());
    session.run(assign(variable, value).op(), {{value, numbers(variable.shape(), seed++)}});
  }
}

TEST(Cells, HaveTensorFlowsVariables) {
  Graph g;
  Output x = g.constant(numbers({2, 4, 3}));
  dynamic_rnn(multi({lstm(2, {.use_peepholes = true, .num_proj = 3}), gru(4)}), x);
  EXPECT_EQ(
      variable_names(g),
      (std::vector<std::string>{
          "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel", "rnn/multi_rnn_cell/cell_0/lstm_cell/bias",
          "rnn/multi_rnn_cell/cell_0/lstm_cell/w_f_diag", "rnn/multi_rnn_cell/cell_0/lstm_cell/w_i_diag",
          "rnn/multi_rnn_cell/cell_0/lstm_cell/w_o_diag", "rnn/multi_rnn_cell/cell_0/lstm_cell/projection/kernel",
          "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel", "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias",
          "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel", "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias"}));
  EXPECT_EQ(g.global_variables()[0].shape(), (Shape{6, 8}));
}

TEST(Cells, WrappersWithoutScopeDoNotShowInNames) {
  Graph g;
  dynamic_rnn(dropout(residual(gru(3)), {.output_keep_prob = 0.5f}), g.constant(numbers({2, 4, 3})));
  EXPECT_EQ(variable_names(g)[0], "rnn/gru_cell/gates/kernel");
}

TEST(Cells, RefuseStatesOfOtherCells) {
  Graph g;
  Output x = g.constant(numbers({2, 3}));
  expect_error([&] { (*lstm(2))(x, {x}); }, Code::InvalidArgument, "the state has 1 tensors, but should have 2");
  expect_error([&] { multi({}); }, Code::InvalidArgument, "at least one cell");
  expect_error(
      [&] {
        (*gru(2))(g.placeholder(float32, {2, kUnknown}), {x});
      },
      Code::InvalidArgument, "Expected inputs.shape[-1] to be known");
}

// What it is called with, plus a weight, and how often it was called.
class Counting : public Cell {
 public:
  Counting() : Cell("counting") {}
  std::vector<Shape> state_size() const override { return {{1}}; }
  Shape output_size() const override { return {3}; }

 protected:
  void build(const Shape& inputs) override {
    bias_ = add_weight("bias", {inputs[1]}, {.initializer = ones_initializer()});
  }
  Step call(const Output& inputs, const State& state) override { return {inputs + bias_, {state[0] + 1.f}}; }

 private:
  Variable bias_;
};

TEST(Sequences, RunCellsOfOnesOwn) {
  Graph g;
  const Tensor x = numbers({2, 4, 3});
  auto [outputs, state] =
      dynamic_rnn(std::make_shared<Counting>(), g.constant(x), {.sequence_length = In(g.constant({2, 4}, int32))});
  Session session(g);
  session.run(g.global_variables_initializer());
  auto values = session.run({outputs, state[0]});
  expect_same(values[1], Tensor::from<float>({2, 4}, {2, 1}));
  for (size_t i = 0; i < 24; ++i) {
    const bool behind = i >= 6 && i < 12;  // of the first sequence
    EXPECT_FLOAT_EQ(values[0].data<float>()[i], behind ? 0 : x.data<float>()[i] + 1) << i;
  }
}

TEST(Sequences, AreTheSameAlongListsAndInLoops) {
  for (bool with_lengths : {false, true}) {
    Graph g;
    Output x = g.constant(numbers({2, 4, 3}));
    std::optional<In> lengths;
    if (with_lengths) lengths = In(g.constant({1, 3}, int32));
    auto cell = [] { return multi({basic_lstm(2), gru(3), basic_rnn(2)}); };
    Sequence loop = dynamic_rnn(cell(), x, {.sequence_length = lengths, .scope = "a"});
    Unrolled list = static_rnn(cell(), unstack(x, 4, 1), {.sequence_length = lengths, .scope = "b"});
    std::vector<Variable> variables = g.global_variables();
    Session session(g);
    const size_t half = variables.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      const Tensor value = numbers(variables[i].shape(), static_cast<uint32_t>(i));
      for (const Variable& variable : {variables[i], variables[half + i]}) {
        session.run(assign(variable, value).op());
      }
    }
    std::vector<Output> all = {loop.outputs, stack(list.outputs, 1)};
    for (size_t i = 0; i < loop.state.size(); ++i) all.insert(all.end(), {loop.state[i], list.state[i]});
    for (const Output& y : {loop.outputs, stack(list.outputs, 1)}) {
      all.push_back(gradients({reduce_sum(square(y))}, {x})[0].dense());
    }
    const auto values = session.run(all);
    for (size_t i = 0; i < values.size(); i += 2) expect_near(values[i], values[i + 1], 1e-5);
  }
}

TEST(Sequences, RunBothWaysFromTheirOwnEnds) {
  Graph g;
  Output x = g.constant(numbers({2, 4, 3})), lengths = g.constant({2, 4}, int32);
  BothWays both = bidirectional_dynamic_rnn(gru(2), gru(2), x, {.sequence_length = In(lengths), .scope = "both"});
  // Backwards, the first step is the last of the other direction.
  Output first = gather_nd(both.backward, g.constant({{0, 0}, {1, 0}}, int32));
  StackedBothWays stacked = stack_bidirectional_dynamic_rnn({gru(2), gru(3)}, {gru(2), gru(3)}, x);
  UnrolledBothWays list = static_bidirectional_rnn(gru(2), gru(2), unstack(x, 4, 1));
  Session session(g);
  fill_variables(g, session);
  auto values = session.run({first, both.backward_state[0]});
  expect_near(values[0], values[1], 1e-6);
  EXPECT_EQ(stacked.outputs.shape(), (Shape{2, 4, 6}));
  EXPECT_EQ(list.outputs.size(), 4u);
  EXPECT_EQ(list.outputs[0].shape(), (Shape{2, 4}));
}

TEST(Sequences, RawLoopsEndWhereTheFunctionSays) {
  Graph g;
  Output x = g.constant(numbers({4, 2, 3})), lengths = g.constant({2, 4}, int32);
  auto cell = gru(3);
  const TensorArray steps = TensorArray::of_rows(x);
  auto loop = [&](const Output& time, const Output& output, const State& state) -> RawStep {
    const Output finished = greater_equal(time, lengths);
    if (!output) return {finished, steps.read(time), cell->zero_state(g, 2)};
    const Output input = cond(
        reduce_all(finished),
        [&] {
          return zeros(g, Shape{2, 3});
        },
        [&] { return steps.read(time); });
    return {finished, input, state};
  };
  Sequence raw = raw_rnn(g, cell, loop);
  Sequence usual = dynamic_rnn(gru(3), x, {.sequence_length = In(lengths), .time_major = true, .scope = "usual"});
  Session session(g);
  const std::vector<Variable> variables = g.global_variables();
  ASSERT_EQ(variables.size(), 8u);
  for (size_t i = 0; i < 4; ++i) {
    const Tensor value = numbers(variables[i].shape(), static_cast<uint32_t>(i));
    for (const Variable& variable : {variables[i], variables[4 + i]}) session.run(assign(variable, value).op());
  }
  auto values = session.run({raw.outputs, usual.outputs, raw.state[0], usual.state[0]});
  expect_near(values[0], values[1], 1e-6);
  expect_near(values[2], values[3], 1e-6);
}

// By the shapes of a plan, or by the check itself where only the run knows them.
TEST(Sequences, CheckLengthsWhenTheyAreRun) {
  Graph g;
  Output lengths = g.placeholder(int32, {kUnknown});
  Output y = dynamic_rnn(gru(2), g.constant(numbers({2, 4, 3})), {.sequence_length = In(lengths)}).outputs;
  Session session(g);
  session.run(g.global_variables_initializer());
  expect_error([&] { session.run(y, {{lengths, Tensor(std::vector<int32_t>{1})}}); }, Code::InvalidArgument, "");
}

TEST(Functional, MapsScansAndFolds) {
  Graph g;
  Output x = g.constant({{1, 2}, {3, 4}, {5, 6}}, float32);
  Output squares = map_fn([](const Output& row) { return reduce_sum(square(row)); }, x);
  auto add = [](const Outputs& now, const Outputs& each) { return Outputs{now[0] * 2.f + each[0]}; };
  Session session(g);
  expect_same(session.run(squares), Tensor(std::vector<float>{5, 25, 61}));
  expect_same(session.run(foldl(add, {x})[0]), Tensor(std::vector<float>{15, 22}));
  expect_same(session.run(foldr(add, {x})[0]), Tensor(std::vector<float>{27, 34}));
  const Output start = g.constant({1, 1}, float32);
  expect_same(session.run(scan(add, {x}, {start})[0]), Tensor::from<float>({3, 4, 9, 12, 23, 30}, {3, 2}));
  expect_same(session.run(scan(add, {x}, {}, {.reverse = true})[0]),
              Tensor::from<float>({27, 34, 13, 16, 5, 6}, {3, 2}));
  Output grad = gradients({reduce_sum(squares)}, {x})[0].dense();
  expect_same(session.run(grad), Tensor::from<float>({2, 4, 6, 8, 10, 12}, {3, 2}));
  expect_error([&] { map_fn([](const Output& e) { return e; }, g.constant(1, float32)); }, Code::InvalidArgument,
               "not a scalar");
}

TEST(TensorArray, GivesWhatWasWritten) {
  Graph g;
  TensorArray array(g, float32, {.size = 2});
  TensorArray written = array.write(0, g.constant({1, 2}, float32)).write(1, g.constant({3, 4}, float32));
  TensorArray grown(g, float32, {.dynamic_size = true});
  Session session(g);
  expect_same(session.run(written.stack()), Tensor::from<float>({1, 2, 3, 4}, {2, 2}));
  expect_same(session.run(written.read(1)), Tensor(std::vector<float>{3, 4}));
  expect_same(session.run(written.concat()), Tensor(std::vector<float>{1, 2, 3, 4}));
  expect_same(session.run(written.gather(std::vector<int32_t>{1})), Tensor::from<float>({3, 4}, {1, 2}));
  expect_same(session.run(grown.write(2, g.constant(5, float32)).size()), Tensor(3));
  expect_same(session.run(array.unstack(g.constant({{1, 2}, {3, 4}}, float32)).read(0)),
              Tensor(std::vector<float>{1, 2}));
  expect_error([&] { written.write(0, g.constant({1}, float32)); }, Code::InvalidArgument, "Inconsistent shapes");
  expect_error(
      [&] {
        written.write(0, g.constant({1, 2}, int32));
      },
      Code::InvalidArgument, "but expected dtype float32");
}

}  // namespace
}  // namespace weir::rnn
