#include <gtest/gtest.h>

#include "tests/support/sine_weights.h"
#include "weir/weir.h"

// Decoders whose inputs are mixed from what is right and what they wrote. What TensorFlow 1.15.5 gives for the same
// weights, inputs and seeds, to three places.
namespace weir::seq2seq {
namespace {

using testing::expect_values;
using testing::fill_variables;
using testing::sines;
using testing::Values;

// Outputs, samples, the last state and the lengths of a decoder of a GRU of three units, or the first of these.
void expect_decoded(Graph& g, Helper& helper, const Values& expected, OutputLayer layer = {},
                    const DecodeOptions& options = {}) {
  BasicDecoder decoder(rnn::gru(3), helper, {zeros(g, Shape{2, 3}, float32)}, std::move(layer));
  const Decoded decoded = dynamic_decode(decoder, options);
  std::vector<Output> results = {decoded.outputs[0], cast(decoded.outputs[1], float32), decoded.state[0],
                                 cast(decoded.lengths, float32)};
  ASSERT_LE(expected.size(), results.size());
  results.resize(expected.size());
  Session session(g);
  fill_variables(g, session);
  expect_values(session.run(results), expected);
}

TEST(Helpers, MixInClassesThatTheyDrew) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3})), lengths = g.constant({2, 4}, int32);
  const Output table = g.constant(sines({5, 3}));
  ScheduledEmbeddingTrainingHelper helper(x, lengths, [&](const Output& ids) { return gather(table, ids); },
                                          g.constant(Tensor(0.6f)), {.seed = 3, .scheduling_seed = 5});
  expect_decoded(g, helper,
                 {{0.455f, 0.29f,  -0.141f, -0.443f, -0.337f, 0.449f, 0.205f, -0.227f, -0.451f, -0.26f,
                   0.448f, 0.147f, -0.288f, -0.459f, -0.208f, 0.482f, 0.163f, -0.306f, -0.494f, -0.228f,
                   0.46f,  0.284f, -0.153f, -0.449f, -0.333f, 0.49f,  0.249f, -0.221f, -0.487f, -0.306f,
                   0.487f, 0.177f, -0.295f, -0.497f, -0.241f, 0.473f, 0.125f, -0.337f, -0.49f,  -0.192f},
                  {0, 2, -1, 1, -1, -1, 2, 2},
                  {0.367f, 0.204f, -0.255f, 0.414f, 0.206f, -0.291f},
                  {2, 4}},
                 dense_layer(5));
}

TEST(Helpers, MixInOutputs) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3})), lengths = g.constant({2, 4}, int32);
  ScheduledOutputTrainingHelper helper(x, lengths, g.constant(Tensor(0.6f)), {.seed = 4});
  expect_decoded(g, helper,
                 {{0.135f, 0.094f, -0.167f, 0.301f, 0.16f,  -0.162f, 0.362f, 0.188f, -0.257f, 0.384f, 0.22f,  -0.212f,
                   0.173f, 0.094f, -0.147f, 0.293f, 0.165f, -0.168f, 0.355f, 0.202f, -0.184f, 0.39f,  0.223f, -0.194f},
                  {0, 0, 0, 0, 1, 1, 1, 0},
                  {0.384f, 0.22f, -0.212f, 0.39f, 0.223f, -0.194f},
                  {2, 4}});
}

TEST(Helpers, MixInWhatAFunctionMakesOfOutputs) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3})), lengths = g.constant({2, 4}, int32);
  ScheduledOutputTrainingHelper helper(x, lengths, g.constant(Tensor(0.7f)),
                                       {.seed = 4, .next_inputs = [](const Output& y) { return y * 2.f; }});
  expect_decoded(g, helper,
                 {{0.135f, 0.094f, -0.167f, 0.301f, 0.16f,  -0.162f, 0.362f, 0.188f, -0.257f, 0.384f, 0.22f,  -0.212f,
                   0.173f, 0.094f, -0.147f, 0.288f, 0.176f, -0.151f, 0.342f, 0.213f, -0.162f, 0.372f, 0.231f, -0.17f},
                  {0, 0, 0, 0, 1, 1, 1, 0},
                  {0.384f, 0.22f, -0.212f, 0.372f, 0.231f, -0.17f},
                  {2, 4}});
}

TEST(Helpers, ReadWhatStandsBesideTheInputs) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3})), lengths = g.constant({2, 4}, int32);
  ScheduledOutputTrainingHelper helper(x, lengths, g.constant(Tensor(0.6f)),
                                       {.seed = 4, .auxiliary_inputs = g.constant(sines({2, 4, 2}, 3))});
  expect_decoded(g, helper,
                 {{0.156f, 0.233f, 0.086f,  0.315f, 0.134f, -0.02f,  0.349f, 0.141f, -0.291f, 0.363f, 0.321f, -0.077f,
                   0.256f, 0.026f, -0.192f, 0.32f,  0.028f, -0.342f, 0.37f,  0.247f, -0.056f, 0.379f, 0.197f, -0.137f},
                  {0, 0, 0, 0, 1, 1, 1, 0},
                  {0.363f, 0.321f, -0.077f, 0.379f, 0.197f, -0.137f},
                  {2, 4}});
}

TEST(Helpers, GoOnWithWhatFunctionsMakeOfOutputs) {
  Graph g;
  const Output x = g.constant(sines({2, 4, 3}));
  InferenceHelper helper({.sample = [](const Output& y) { return y * 2.f; },
                          .sample_size = {3},
                          .sample_type = float32,
                          .start_inputs = subscript(x, {kAll, 0}),
                          .ended = [](const Output& s) { return greater(reduce_sum(s, {.axes = {1}}), 1e9f); }});
  expect_decoded(g, helper,
                 {{0.135f, 0.094f, -0.167f, 0.277f, 0.194f, -0.147f, 0.337f, 0.231f, -0.154f, 0.173f, 0.094f, -0.147f,
                   0.288f, 0.176f, -0.151f, 0.342f, 0.213f, -0.162f},
                  {0.27f, 0.189f, -0.335f, 0.555f, 0.388f, -0.294f, 0.674f, 0.462f, -0.308f, 0.347f, 0.188f, -0.295f,
                   0.576f, 0.352f, -0.302f, 0.683f, 0.426f, -0.325f}},
                 {}, {.maximum_iterations = In(3)});
}

}  // namespace
}  // namespace weir::seq2seq
