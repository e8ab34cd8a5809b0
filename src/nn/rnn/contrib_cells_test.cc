#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "tests/support/sine_weights.h"
#include "weir/weir.h"

// What TensorFlow 1.15.5 gives for the same weights and inputs (python/tests/reference/cells.py), to three places.
namespace weir::rnn {
namespace {

using testing::all_of;
using testing::expect_error;
using testing::expect_values;
using testing::fill_variables;
using testing::sines;

// Outputs and states of two sequences of 2 and 4 steps; gradients reach the inputs and every variable.
void expect_sequence(const CellPtr& cell, const std::vector<std::vector<float>>& expected,
                     const std::vector<std::string>& names = {}) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3}));
  const std::vector<Output> results = all_of(dynamic_rnn(cell, x, {.sequence_length = In(g.constant({2, 4}, int32))}));
  if (!names.empty()) {
    std::vector<std::string> found;
    for (const Variable& variable : g.global_variables()) found.push_back(variable.name());
    EXPECT_EQ(found, names);
  }
  std::vector<Output> wanted = {x};
  for (const Variable& variable : g.trainable_variables()) wanted.push_back(variable);
  for (const Gradient& gradient : gradients({reduce_sum(square(results[0]))}, wanted)) EXPECT_TRUE(gradient);
  Session session(g);
  fill_variables(g, session);
  expect_values(session.run(results), expected);
}

TEST(ContribCells, BlocksGiveWhatTensorFlowGives) {
  expect_sequence(std::make_shared<GRUBlockCell>(2),
                  {{0.002f, 0.022f, -0.193f, 0.094f, 0, 0, 0, 0, 0.007f, -0.12f, -0.161f, 0.077f, -0.051f, -0.134f,
                    -0.195f, 0.092f},
                   {-0.193f, 0.094f, -0.195f, 0.092f}},
                  {"rnn/gru_cell/w_ru", "rnn/gru_cell/b_ru", "rnn/gru_cell/w_c", "rnn/gru_cell/b_c"});
}

TEST(ContribCells, ASearchedCellGivesWhatTensorFlowGives) {
  expect_sequence(
      nas(3, {.num_proj = 2, .use_bias = true}),
      {{0, 0, -0.003f, -0.005f, 0, 0, 0, 0, 0.002f, 0.001f, 0, 0.008f, -0.008f, 0.005f, 0.004f, 0.013f},
       {0.021f, 0.045f, 0.034f, 0.044f, 0, 0.066f},
       {-0.003f, -0.005f, 0.004f, 0.013f}},
      {"rnn/nas_cell/recurrent_kernel", "rnn/nas_cell/kernel", "rnn/nas_cell/bias", "rnn/nas_cell/projection_weights"});
}

TEST(ContribCells, OneGateGivesWhatTensorFlowGives) {
  expect_sequence(ugrnn(2), {{-0.04f, -0.114f, -0.166f, -0.156f, 0, 0, 0, 0, -0.005f, -0.093f, -0.168f, -0.165f,
                              -0.122f, -0.216f, -0.258f, -0.237f},
                             {-0.166f, -0.156f, -0.258f, -0.237f}});
  expect_sequence(std::make_shared<SRUCell>(2), {{-0.336f, -0.258f, 0.428f, 0.218f, 0, 0, 0, 0, -0.415f, -0.178f,
                                                  0.525f, 0.073f, -0.27f, -0.108f, 0.543f, -0.007f},
                                                 {0.253f, 0.092f, 0.43f, -0.066f}});
}

TEST(ContribCells, IndependentUnitsGiveWhatTensorFlowGives) {
  expect_sequence(ind_rnn(2), {{-0.709f, -0.55f, -0.245f, -0.379f, 0, 0, 0, 0, -0.77f, -0.43f, -0.188f, -0.497f,
                                -0.803f, -0.417f, -0.229f, -0.555f},
                               {-0.245f, -0.379f, -0.229f, -0.555f}});
  expect_sequence(
      std::make_shared<IndyGRUCell>(2),
      {{0.221f, 0.036f, -0.039f, -0.216f, 0, 0, 0, 0, 0.246f, 0.021f, -0.13f, -0.225f, 0.15f, -0.177f, -0.17f, -0.309f},
       {-0.039f, -0.216f, -0.17f, -0.309f}},
      {"rnn/indy_gru_cell/gates/kernel_w", "rnn/indy_gru_cell/gates/kernel_u", "rnn/indy_gru_cell/gates/bias",
       "rnn/indy_gru_cell/candidate/kernel", "rnn/indy_gru_cell/candidate/kernel_u",
       "rnn/indy_gru_cell/candidate/bias"});
  expect_sequence(std::make_shared<IndyLSTMCell>(2), {{0.158f, 0.048f, 0.124f, 0.071f, 0, 0, 0, 0, 0.203f, -0.129f,
                                                       0.129f, 0.03f, 0.279f, -0.162f, 0.16f, 0.032f},
                                                      {0.296f, 0.169f, 0.534f, 0.084f},
                                                      {0.124f, 0.071f, 0.16f, 0.032f}});
}

TEST(ContribCells, HighwaysGiveWhatTensorFlowGives) {
  expect_sequence(
      highway(gru(3)),
      {{-0.117f, 0.39f,  0.499f, -0.029f, -0.612f, -0.615f, 0,      0,       0,      0,      0,       0,
        -0.392f, 0.122f, 0.544f, 0.28f,   -0.317f, -0.611f, -0.54f, -0.085f, 0.471f, 0.369f, -0.162f, -0.556f},
       {-0.252f, -0.376f, -0.173f, -0.278f, -0.421f, -0.184f}},
      {"rnn/gru_cell/gates/kernel", "rnn/gru_cell/gates/bias", "rnn/gru_cell/candidate/kernel",
       "rnn/gru_cell/candidate/bias", "rnn/carry_w", "rnn/carry_b"});
  Graph g;
  expect_error(
      [&] {
        dynamic_rnn(highway(gru(2)), g.constant(sines({2, 4, 3})));
      },
      Code::InvalidArgument, "are incompatible");
}

TEST(ContribCells, CellsThatLookBackGiveWhatTensorFlowGives) {
  expect_sequence(std::make_shared<AttentionCellWrapper>(gru(2), 3, AttentionCellOptions{.attn_vec_size = 4}),
                  {{-0.224f, 0.257f, -0.127f, 0.304f, 0, 0, 0, 0, -0.229f, 0.256f, -0.124f, 0.304f, -0.069f, 0.358f,
                    0.026f, 0.425f},
                   {0.143f, -0.031f, 0.165f, -0.082f},
                   {-0.065f, 0.075f, -0.14f, 0.307f},
                   {0, 0, -0.224f, 0.257f, -0.127f, 0.304f, -0.124f, 0.304f, -0.069f, 0.358f, 0.026f, 0.425f}});
  expect_sequence(std::make_shared<AttentionCellWrapper>(lstm(2), 2),
                  {{-0.228f, 0.234f, -0.122f, 0.266f, 0, 0, 0, 0, -0.226f, 0.239f, -0.122f, 0.265f, -0.002f, 0.348f,
                    -0.013f, 0.37f},
                   {0.258f, 0.099f, 0.444f, 0.108f},
                   {0.114f, 0.053f, 0.188f, 0.061f},
                   {-0.107f, 0.11f, -0.061f, 0.307f},
                   {-0.228f, 0.234f, -0.122f, 0.266f, -0.002f, 0.348f, -0.013f, 0.37f}});
  expect_error([] { AttentionCellWrapper(gru(2), 0); }, Code::InvalidArgument, "should be greater than zero, got 0");
}

class Through : public Cell {
 public:
  Through() : Cell("through") {}
  std::vector<Shape> state_size() const override { return {{1}}; }
  Shape output_size() const override { return {50}; }

 protected:
  Step call(const Output& inputs, const State& state) override { return {inputs, state}; }
};

TEST(DropoutWrapper, DrawsTensorFlowsNumbers) {
  Graph g;
  const Output x = g.constant(sines({2, 50}, 1)), state = zeros(g, Shape{2, 1});
  const CellPtr in = dropout(std::make_shared<Through>(), {.input_keep_prob = 0.5f, .seed = 3});
  const CellPtr out = dropout(std::make_shared<Through>(), {.output_keep_prob = 0.5f, .seed = 3});
  // The first 31 bits of the MD5 digests of "3input_0" and "3output_0".
  const std::vector<Output> results = {(*in)(x, {state}).output, nn::dropout(x, 0.5f, {.seed = 371649270}),
                                       (*out)(x, {state}).output, nn::dropout(x, 0.5f, {.seed = 787469663})};
  Session session(g);
  const std::vector<Tensor> values = session.run(results);
  testing::expect_same(values[0], values[1]);
  testing::expect_same(values[2], values[3]);
}

TEST(ContribCells, WholeSequencesInOneOperationGiveWhatTensorFlowGives) {
  for (bool with_lengths : {false, true}) {
    Graph g;
    const Output x = transpose(g.constant(sines({2, 4, 3})), {1, 0, 2});
    LSTMBlockOptions options{.name = "lstm_fused_cell"};
    if (with_lengths) {
      options.cell_clip = 0.4f;
    } else {
      options.use_peephole = true;
    }
    FusedOptions lengths;
    if (with_lengths) lengths.sequence_length = In(g.constant({2, 4}, int32));
    LSTMBlockFusedCell cell(2, options);
    const std::vector<Output> results = all_of(cell(x, lengths));
    EXPECT_EQ(g.global_variables()[0].name(), "lstm_fused_cell/kernel");
    Session session(g);
    fill_variables(g, session);
    const std::vector<std::vector<float>> peepholes = {
        {-0.219f, -0.13f, -0.317f, -0.136f, -0.131f, -0.023f, -0.117f, -0.007f, -0.387f, -0.177f, -0.435f, -0.141f,
         -0.173f, -0.041f, -0.156f, -0.009f},
        {-0.547f, -0.116f, -0.502f, -0.022f},
        {-0.173f, -0.041f, -0.156f, -0.009f}};
    const std::vector<std::vector<float>> clipped = {{-0.23f, -0.139f, -0.271f, -0.147f, -0.149f, -0.023f, -0.102f,
                                                      -0.004f, 0, 0, -0.276f, -0.148f, 0, 0, -0.088f, -0.002f},
                                                     {-0.38f, -0.068f, -0.243f, -0.004f},
                                                     {-0.149f, -0.023f, -0.088f, -0.002f}};
    expect_values(session.run(results), with_lengths ? clipped : peepholes);
  }
}

}  // namespace
}  // namespace weir::rnn
