#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/check_op.h"
#include "tests/support/sine_weights.h"
#include "weir/weir.h"

// What TensorFlow 1.15.5 gives for the same weights, inputs and seeds, to three places.
namespace weir::rnn {
namespace {

using testing::all_of;
using testing::expect_error;
using testing::expect_values;
using testing::fill_variables;
using testing::sines;
using testing::Values;

void expect_results(Graph& g, const std::vector<Output>& results, const Values& expected) {
  Session session(g);
  fill_variables(g, session);
  expect_values(session.run(results), expected);
}

// Outputs and states along x, of sequences of 2 and 4 steps unless `whole`; gradients reach every variable.
struct Along {
  Tensor x = sines({2, 4, 3});
  bool whole = false;
};
void expect_sequence(const CellPtr& cell, const Values& expected, const std::vector<std::string>& names,
                     const Along& along = {}) {
  Graph g;
  DynamicRnnOptions options;
  if (!along.whole) options.sequence_length = In(g.constant({2, 4}, int32));
  const std::vector<Output> results = all_of(dynamic_rnn(cell, g.constant(along.x), options));
  std::vector<std::string> found;
  for (const Variable& variable : g.global_variables()) found.push_back(variable.name());
  EXPECT_EQ(found, names);
  std::vector<Output> wanted;
  for (const Variable& variable : g.trainable_variables()) wanted.push_back(variable);
  std::vector<Output> squares;
  for (const Output& result : results) squares.push_back(reduce_sum(square(result)));
  size_t reached = 0;
  for (const Gradient& gradient : gradients({add_n(squares)}, wanted)) reached += gradient ? 1 : 0;
  EXPECT_GE(reached + 1, wanted.size());  // with normalised gates TensorFlow makes a bias that it does not use
  expect_results(g, results, expected);
}

TEST(GatedCells, TakeInAsMuchAsTheyForget) {
  expect_sequence(
      coupled_lstm(2),
      {{0.003f, 0.05f, -0.12f, 0.031f, 0, 0, 0, 0, -0.016f, 0.027f, -0.079f, 0.006f, -0.089f, 0.013f, -0.104f, 0.006f},
       {-0.175f, 0.059f, -0.201f, 0.013f},
       {-0.12f, 0.031f, -0.104f, 0.006f}},
      {"rnn/coupled_input_forget_gate_lstm_cell/W_0", "rnn/coupled_input_forget_gate_lstm_cell/B"});
  expect_sequence(
      coupled_lstm(4, {.use_peepholes = true,
                       .num_proj = 2,
                       .proj_clip = 0.6f,
                       .num_unit_shards = 2,
                       .layer_norm = true,
                       .norm_shift = 0.1f}),
      {{-0.124f, -0.102f, 0.014f, -0.05f, 0, 0, 0, 0, -0.13f, -0.109f, 0.048f, -0.003f, -0.117f, -0.202f, 0.032f,
        0.004f},
       {0.769f, 0.085f, 0.356f, -0.362f, 0.73f, 0.044f, 0.462f, -0.432f},
       {0.014f, -0.05f, 0.032f, 0.004f}},
      {"rnn/coupled_input_forget_gate_lstm_cell/W_0", "rnn/coupled_input_forget_gate_lstm_cell/W_1",
       "rnn/coupled_input_forget_gate_lstm_cell/B", "rnn/coupled_input_forget_gate_lstm_cell/transform/gamma",
       "rnn/coupled_input_forget_gate_lstm_cell/transform/beta", "rnn/coupled_input_forget_gate_lstm_cell/forget/gamma",
       "rnn/coupled_input_forget_gate_lstm_cell/forget/beta", "rnn/coupled_input_forget_gate_lstm_cell/output/gamma",
       "rnn/coupled_input_forget_gate_lstm_cell/output/beta", "rnn/coupled_input_forget_gate_lstm_cell/W_F_diag",
       "rnn/coupled_input_forget_gate_lstm_cell/W_O_diag", "rnn/coupled_input_forget_gate_lstm_cell/state/gamma",
       "rnn/coupled_input_forget_gate_lstm_cell/state/beta", "rnn/coupled_input_forget_gate_lstm_cell/W_P_0"});
}

TEST(GatedCells, AreNormalised) {
  expect_sequence(
      layer_norm_lstm(3,
                      {.use_peepholes = true, .cell_clip = 1.f, .num_proj = 2, .layer_norm = true, .norm_gain = 0.9f}),
      {{0.092f, -0.139f, 0.132f, -0.103f, 0, 0, 0, 0, 0.111f, -0.132f, 0.119f, -0.102f, 0.056f, -0.228f, 0.043f,
        -0.188f},
       {-0.43f, 0.83f, 0.228f, -0.514f, 0.694f, 0.544f},
       {0.132f, -0.103f, 0.043f, -0.188f}},
      {"rnn/layer_norm_lstm_cell/kernel", "rnn/layer_norm_lstm_cell/bias", "rnn/layer_norm_lstm_cell/input/gamma",
       "rnn/layer_norm_lstm_cell/input/beta", "rnn/layer_norm_lstm_cell/transform/gamma",
       "rnn/layer_norm_lstm_cell/transform/beta", "rnn/layer_norm_lstm_cell/forget/gamma",
       "rnn/layer_norm_lstm_cell/forget/beta", "rnn/layer_norm_lstm_cell/output/gamma",
       "rnn/layer_norm_lstm_cell/output/beta", "rnn/layer_norm_lstm_cell/w_f_diag", "rnn/layer_norm_lstm_cell/w_i_diag",
       "rnn/layer_norm_lstm_cell/w_o_diag", "rnn/layer_norm_lstm_cell/state/gamma",
       "rnn/layer_norm_lstm_cell/state/beta", "rnn/layer_norm_lstm_cell/projection/kernel"});
  expect_sequence(std::make_shared<WeightNormLSTMCell>(3, WeightNormOptions{.use_peepholes = true, .num_proj = 2}),
                  {{-0.03f, -0.007f, 0.031f, -0.013f, 0, 0, 0, 0, 0.006f, -0.002f, 0.021f, -0.018f, 0.051f, -0.007f,
                    0.03f, -0.026f},
                   {0.307f, 0.251f, -0.053f, 0.447f, 0.438f, -0.06f},
                   {0.031f, -0.013f, 0.03f, -0.026f}},
                  {"rnn/wn_lstm_cell/wn_lstm_cell/kernel", "rnn/wn_lstm_cell/wn_lstm_cell/norm_0",
                   "rnn/wn_lstm_cell/wn_lstm_cell/norm_1", "rnn/wn_lstm_cell/wn_lstm_cell/bias",
                   "rnn/wn_lstm_cell/wn_lstm_cell/w_f_diag", "rnn/wn_lstm_cell/wn_lstm_cell/w_i_diag",
                   "rnn/wn_lstm_cell/wn_lstm_cell/w_o_diag", "rnn/wn_lstm_cell/wn_lstm_cell/projection/kernel",
                   "rnn/wn_lstm_cell/wn_lstm_cell/projection/norm_0"});
}

TEST(GatedCells, StandInGroups) {
  expect_sequence(group_lstm(6, {.num_proj = 3, .number_of_groups = 3}),
                  {{-0.05f,  -0.002f, 0.048f, 0.023f, 0.03f,  0.009f, 0,       0,      0,      0,      0,      0,
                    -0.048f, 0.001f,  0.049f, 0.016f, 0.027f, 0.014f, -0.051f, 0.021f, 0.073f, 0.025f, 0.038f, 0.016f},
                   {-0.248f, -0.24f, -0.113f, 0.305f, 0.407f, 0.008f, -0.351f, -0.263f, -0.065f, 0.66f, 0.701f, 0.046f},
                   {0.023f, 0.03f, 0.009f, 0.025f, 0.038f, 0.016f}},
                  {"rnn/glstm_cell/group0/kernel", "rnn/glstm_cell/group1/kernel", "rnn/glstm_cell/group2/kernel",
                   "rnn/glstm_cell/bias_i", "rnn/glstm_cell/bias_j", "rnn/glstm_cell/bias_f", "rnn/glstm_cell/bias_o",
                   "rnn/glstm_cell/projection/kernel"});
  expect_error([] { group_lstm(5, {.number_of_groups = 3}); }, Code::InvalidArgument, "must be divisible");
}

TEST(GatedCells, GoThroughTimeAndDepth) {
  expect_sequence(
      intersection(2, {.num_in_proj = 2}),
      {{0.626f, 0.435f, 0.142f, -0.072f, 0, 0, 0, 0, 0.873f, 0.527f, -0.027f, -0.08f, 0.931f, 0.515f, -0.089f, -0.067f},
       {0.023f, -0.109f, 0.04f, -0.169f}},
      {"rnn/intersection_rnn_cell/in_projection/kernel", "rnn/intersection_rnn_cell/in_projection/bias",
       "rnn/intersection_rnn_cell/kernel", "rnn/intersection_rnn_cell/bias"});
  Graph g;
  expect_error(
      [&] {
        dynamic_rnn(intersection(2), g.constant(sines({2, 4, 3})));
      },
      Code::InvalidArgument, "Must have input size == output size");
}

// The inputs of C++ are the time and what there is at it, side by side.
TEST(GatedCells, OpenByTheirOwnClocks) {
  Tensor x(float32, {2, 4, 4});
  const Tensor plain = sines({2, 4, 3});
  for (int64_t row = 0; row < 8; ++row) {
    float* to = x.mutable_data<float>() + row * 4;
    const auto from = plain.data<float>().subspan(static_cast<size_t>(row) * 3, 3);
    to[0] = from[0] + 5;
    std::copy(from.begin(), from.end(), to + 1);
  }
  expect_sequence(phased_lstm(2, {.use_peepholes = true, .period_init_max = 10}),
                  {{0, -0.044f, 0, -0.044f, 0, -0.044f, 0, -0.044f, 0, 0, 0, 0, 0, 0, 0, 0},
                   {0, -0.067f, 0, 0},
                   {0, -0.044f, 0, 0}},
                  {"rnn/phased_lstm_cell/mask_gates/kernel", "rnn/phased_lstm_cell/mask_gates/bias",
                   "rnn/phased_lstm_cell/new_input/kernel", "rnn/phased_lstm_cell/new_input/bias",
                   "rnn/phased_lstm_cell/output_gate/kernel", "rnn/phased_lstm_cell/output_gate/bias",
                   "rnn/phased_lstm_cell/period", "rnn/phased_lstm_cell/phase", "rnn/phased_lstm_cell/ratio_on"},
                  {.x = x, .whole = true});
  Graph g;
  dynamic_rnn(phased_lstm(3, {.period_init_min = 2, .period_init_max = 4}), g.constant(x));
  Session session(g);
  session.run(g.global_variables_initializer());
  auto value_of = [&](const char* name) {
    for (const Variable& v : g.global_variables()) {
      if (v.name().ends_with(name)) return session.run(v.value());
    }
    return Tensor();
  };
  const Tensor period = value_of("/period"), phase = value_of("/phase");
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_GE(period.data<float>()[i], 2);
    EXPECT_LE(period.data<float>()[i], 4);
    EXPECT_GE(phase.data<float>()[i], 0);
    EXPECT_LT(phase.data<float>()[i], period.data<float>()[i]);
  }
}

TEST(GridCells, GoThroughFrequencies) {
  expect_sequence(time_freq_lstm(2, 3, {.use_peepholes = true, .cell_clip = 0.7f, .feature_size = 3}),
                  {{0.051f, -0.213f, -0.203f, -0.206f, 0, 0, 0, 0, 0.02f, -0.348f, -0.162f, -0.205f, -0.087f, -0.48f,
                    -0.18f, -0.258f},
                   {-0.341f, -0.464f, -0.203f, -0.206f, -0.353f, -0.653f, -0.18f, -0.258f}},
                  {"rnn/time_freq_lstm_cell/W_0", "rnn/time_freq_lstm_cell/B", "rnn/time_freq_lstm_cell/W_F_diag",
                   "rnn/time_freq_lstm_cell/W_I_diag", "rnn/time_freq_lstm_cell/W_O_diag"});
  expect_sequence(
      grid_lstm(2, {.use_peepholes = true, .cell_clip = 0.6f, .feature_size = 2, .num_frequency_blocks = {2}}),
      {{0.056f,  0.022f,  0.056f,  0.022f,  -0.041f, -0.011f, 0.008f,  0.004f,  0.033f, -0.247f, -0.012f,
        -0.264f, 0.088f,  -0.322f, 0.105f,  -0.386f, 0,       0,       0,       0,      0,       0,
        0,       0,       0,       0,       0,       0,       0,       0,       0,      0,       0.1f,
        -0.008f, 0.1f,    -0.008f, 0.008f,  0.016f,  0.084f,  0.011f,  0.017f,  -0.19f, -0.072f, -0.185f,
        0.049f,  -0.306f, 0.005f,  -0.379f, 0.124f,  -0.121f, 0.117f,  -0.005f, 0.062f, -0.093f, 0.117f,
        0.054f,  0.05f,   -0.2f,   -0.066f, -0.124f, 0.075f,  -0.344f, -0.018f, -0.355f},
       {0.05f, -0.39f, 0.082f, -0.374f},
       {0.033f, -0.247f, 0.05f, -0.2f},
       {0.139f, -0.482f, 0.115f, -0.562f},
       {0.088f, -0.322f, 0.075f, -0.344f}},
      {"rnn/grid_lstm_cell/W_f_0_0", "rnn/grid_lstm_cell/B_f_0", "rnn/grid_lstm_cell/W_t_0_0",
       "rnn/grid_lstm_cell/B_t_0", "rnn/grid_lstm_cell/W_F_diag_freqf_0", "rnn/grid_lstm_cell/W_F_diag_freqt_0",
       "rnn/grid_lstm_cell/W_I_diag_freqf_0", "rnn/grid_lstm_cell/W_I_diag_freqt_0",
       "rnn/grid_lstm_cell/W_O_diag_freqf_0", "rnn/grid_lstm_cell/W_O_diag_freqt_0",
       "rnn/grid_lstm_cell/W_F_diag_timef_0", "rnn/grid_lstm_cell/W_F_diag_timet_0",
       "rnn/grid_lstm_cell/W_I_diag_timef_0", "rnn/grid_lstm_cell/W_I_diag_timet_0",
       "rnn/grid_lstm_cell/W_O_diag_timef_0", "rnn/grid_lstm_cell/W_O_diag_timet_0"});
}

TEST(GridCells, ShareAndCoupleAndComeBack) {
  expect_sequence(
      grid_lstm(2, {.use_peepholes = true,
                    .share_time_frequency_weights = true,
                    .num_frequency_blocks = {2, 1},
                    .start_freqindex_list = {0, 2},
                    .end_freqindex_list = {2, 3},
                    .couple_input_forget_gates = true}),
      {{0.029f,  -0.085f, 0.029f,  -0.085f, -0.073f, -0.124f, -0.059f, -0.169f, -0.088f, -0.137f, -0.088f, -0.137f,
        0.032f,  -0.118f, 0.02f,   -0.085f, 0.067f,  -0.042f, 0.093f,  -0.037f, 0.07f,   -0.036f, 0.091f,  -0.011f,
        0,       0,       0,       0,       0,       0,       0,       0,       0,       0,       0,       0,
        0,       0,       0,       0,       0,       0,       0,       0,       0,       0,       0,       0,
        0.068f,  -0.054f, 0.068f,  -0.054f, -0.02f,  -0.11f,  0.017f,  -0.138f, -0.1f,   -0.142f, -0.1f,   -0.142f,
        -0.012f, -0.152f, -0.05f,  -0.121f, 0.064f,  -0.064f, 0.055f,  -0.066f, 0.068f,  -0.035f, 0.092f,  -0.01f,
        0.08f,   -0.059f, 0.083f,  -0.025f, 0.038f,  -0.127f, 0.054f,  -0.11f,  -0.044f, -0.165f, -0.089f, -0.138f,
        -0.026f, -0.172f, -0.076f, -0.132f, 0.066f,  -0.091f, 0.023f,  -0.086f, 0.076f,  -0.049f, 0.087f,  -0.017f},
       {0.086f, -0.272f, -0.057f, -0.332f},
       {0.032f, -0.118f, -0.026f, -0.172f},
       {0.233f, -0.127f, 0.18f, -0.227f},
       {0.067f, -0.042f, 0.066f, -0.091f},
       {0.26f, -0.117f, 0.276f, -0.153f},
       {0.07f, -0.036f, 0.076f, -0.049f}},
      {"rnn/grid_lstm_cell/W_f_0_0", "rnn/grid_lstm_cell/B_f_0", "rnn/grid_lstm_cell/W_I_diag_freqf_0",
       "rnn/grid_lstm_cell/W_I_diag_freqt_0", "rnn/grid_lstm_cell/W_O_diag_freqf_0",
       "rnn/grid_lstm_cell/W_O_diag_freqt_0", "rnn/grid_lstm_cell/W_f_1_0", "rnn/grid_lstm_cell/B_f_1",
       "rnn/grid_lstm_cell/W_I_diag_freqf_1", "rnn/grid_lstm_cell/W_I_diag_freqt_1",
       "rnn/grid_lstm_cell/W_O_diag_freqf_1", "rnn/grid_lstm_cell/W_O_diag_freqt_1"});
  expect_sequence(
      std::make_shared<BidirectionalGridLSTMCell>(
          1, GridLSTMOptions{.num_frequency_blocks = {3}, .backward_slice_offset = 1}),
      {{0.103f, 0.103f, 0.098f, 0.156f, 0.093f, 0.197f, 0.103f, 0.103f, 0.098f, 0.154f, 0.093f, 0.201f, 0.186f, 0.111f,
        0.202f, 0.196f, 0.19f,  0.241f, 0.189f, 0.11f,  0.207f, 0.193f, 0.186f, 0.228f, 0,      0,      0,      0,
        0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,
        0,      0,      0,      0,      0,      0,      0.095f, 0.095f, 0.097f, 0.153f, 0.093f, 0.182f, 0.103f, 0.103f,
        0.098f, 0.153f, 0.09f,  0.22f,  0.165f, 0.114f, 0.184f, 0.206f, 0.193f, 0.266f, 0.189f, 0.11f,  0.21f,  0.193f,
        0.169f, 0.218f, 0.285f, 0.102f, 0.232f, 0.172f, 0.193f, 0.203f, 0.258f, 0.116f, 0.206f, 0.176f, 0.214f, 0.257f,
        0.26f,  0.127f, 0.288f, 0.226f, 0.313f, 0.297f, 0.312f, 0.121f, 0.339f, 0.209f, 0.265f, 0.232f},
       {0.388f, 0.698f},
       {0.186f, 0.26f},
       {0.341f, 0.601f},
       {0.202f, 0.288f},
       {0.306f, 0.54f},
       {0.19f, 0.313f},
       {0.379f, 0.678f},
       {0.189f, 0.312f},
       {0.336f, 0.601f},
       {0.207f, 0.339f},
       {0.311f, 0.54f},
       {0.186f, 0.265f}},
      {"rnn/bidirectional_grid_lstm_cell/fwd/W_f_0_0", "rnn/bidirectional_grid_lstm_cell/fwd/B_f_0",
       "rnn/bidirectional_grid_lstm_cell/fwd/W_t_0_0", "rnn/bidirectional_grid_lstm_cell/fwd/B_t_0",
       "rnn/bidirectional_grid_lstm_cell/bwd/W_f_0_0", "rnn/bidirectional_grid_lstm_cell/bwd/B_f_0",
       "rnn/bidirectional_grid_lstm_cell/bwd/W_t_0_0", "rnn/bidirectional_grid_lstm_cell/bwd/B_t_0"});
  Graph g;
  expect_error(
      [&] {
        dynamic_rnn(grid_lstm(2, {.num_frequency_blocks = {2}}), g.constant(sines({2, 4, 3})));
      },
      Code::InvalidArgument, "Invalid num_frequency_blocks, requires 2 but gets 3");
}

TEST(ConvCells, KeepPlaces) {
  expect_sequence(conv_lstm({3, 1}, 2, {2}),
                  {{0.006f, 0.067f, 0.016f, 0.063f, 0.038f, 0.102f, 0.083f, 0.157f, 0.109f, 0.046f, 0.046f, 0.102f,
                    0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,
                    0.003f, 0.054f, 0.011f, 0.063f, 0.037f, 0.102f, 0.053f, 0.146f, 0.106f, 0.114f, 0.046f, 0.103f,
                    0.071f, 0.146f, 0.078f, 0.116f, 0.06f,  0.146f, 0.079f, 0.176f, 0.154f, 0.188f, 0.078f, 0.153f},
                   {0.211f, 0.318f, 0.215f, 0.075f, 0.091f, 0.204f, 0.269f, 0.495f, 0.378f, 0.353f, 0.158f, 0.314f},
                   {0.083f, 0.157f, 0.109f, 0.046f, 0.046f, 0.102f, 0.079f, 0.176f, 0.154f, 0.188f, 0.078f, 0.153f}},
                  {"rnn/conv_1d_lstm_cell/kernel", "rnn/conv_1d_lstm_cell/biases"}, {.x = sines({2, 4, 3, 1})});
  expect_sequence(conv_lstm({1, 2, 2, 1}, 1, {1, 2, 2}),
                  {{0.047f, -0.073f, -0.063f, -0.052f, -0.119f, -0.023f, 0.01f, -0.112f, 0.055f, -0.061f, -0.12f, 0,
                    -0.021f, -0.091f, -0.144f, -0.068f},
                   {-0.198f, -0.054f, 0.018f, -0.162f, -0.048f, -0.152f, -0.201f, -0.099f},
                   {-0.119f, -0.023f, 0.01f, -0.112f, -0.021f, -0.091f, -0.144f, -0.068f}},
                  {"rnn/conv_3d_lstm_cell/kernel", "rnn/conv_3d_lstm_cell/biases"},
                  {.x = sines({2, 2, 1, 2, 2, 1}), .whole = true});
  expect_error([] { conv_lstm({3, 1}, 2, {2, 2}); }, Code::InvalidArgument, "Invalid input_shape");
}

TEST(DropoutWrapper, DrawsOnceForAllSteps) {
  expect_sequence(dropout(lstm(2), {.input_keep_prob = 0.7f,
                                    .output_keep_prob = 0.6f,
                                    .state_keep_prob = 0.5f,
                                    .variational_recurrent = true,
                                    .input_size = Shape{3},
                                    .seed = 11}),
                  {{0.109f, 0.083f, -0.281f, -0.433f, 0.116f, -0.155f, -0.273f, -0.564f, 0.205f, -0.049f, -0.236f,
                    -0.378f, 0.231f, -0.419f, -0.157f, -0.562f},
                   {-0.231f, -0.57f, -0.139f, -0.643f},
                   {-0.327f, -0.677f, -0.188f, -0.674f}},
                  {"rnn/lstm_cell/kernel", "rnn/lstm_cell/bias"}, {.whole = true});
  expect_error([] { dropout(lstm(2), {.input_keep_prob = 0.7f, .variational_recurrent = true}); },
               Code::InvalidArgument, "input_size must be provided");
}

TEST(DropoutWrapper, LeavesOnlyMemoriesOfLstmsAlone) {
  EXPECT_EQ(multi({gru(2), gru(2)})->memories(), std::vector<bool>({false, false}));
  EXPECT_EQ(multi({lstm(2), gru(2)})->memories(), std::vector<bool>({true, false, false}));
  EXPECT_EQ(residual(lstm(2))->memories(), std::vector<bool>({true, false}));
}

struct SavedSines : StateSaver {
  explicit SavedSines(Graph& graph) : g(graph) {}
  Output state(const std::string& name) override { return g.constant(sines({2, 2})) * static_cast<float>(name.size()); }
  Operation save_state(const std::string& name, const Output& value) override {
    saved.push_back(name);
    values.push_back(value);
    return value.op();
  }
  Graph& g;
  std::vector<std::string> saved;
  std::vector<Output> values;
};

TEST(StaticRnn, GoesOnFromASavedState) {
  Graph g;
  SavedSines saver(g);
  const std::vector<Output> steps = unstack(g.constant(sines({2, 4, 3})), 4, 1);
  const Unrolled result =
      static_state_saving_rnn(lstm(2), steps, saver, {"c", "hh"}, {.sequence_length = In(g.constant({2, 4}, int32))});
  EXPECT_EQ(saver.saved, std::vector<std::string>({"c", "hh"}));
  std::vector<Output> results = result.outputs;
  results.insert(results.end(), result.state.begin(), result.state.end());
  expect_results(g, results,
                 {{0.023f, 0.278f, 0.272f, -0.338f},
                  {-0.234f, 0.17f, -0.093f, -0.328f},
                  {0, 0, 0.2f, -0.443f},
                  {0, 0, -0.059f, -0.349f},
                  {-0.36f, 0.33f, -0.09f, -0.803f},
                  {-0.234f, 0.17f, -0.059f, -0.349f}});
  expect_error([&] { static_state_saving_rnn(lstm(2), steps, saver, {"c"}); }, Code::InvalidArgument,
               "#elems(state_name) != #elems(state_size): 1 vs. 2");
}

}  // namespace
}  // namespace weir::rnn
