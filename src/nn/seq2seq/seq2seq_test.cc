#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/weir.h"

namespace weir::seq2seq {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::expect_same;

Tensor numbers(const Shape& shape, uint32_t seed = 1) {
  return testing::converted(testing::scattered(shape, -1, 1, seed), float32);
}

void fill_variables(Graph& g, Session& session) {
  uint32_t seed = 7;
  for (const Variable& variable : g.global_variables()) {
    session.run(assign(variable, numbers(variable.shape(), seed++)).op());
  }
}

TEST(Attention, MasksWhatIsBehindTheLengths) {
  Graph g;
  Output memory = g.constant(numbers({2, 4, 3})), query = g.constant(numbers({2, 5}, 2)),
         lengths = g.constant({2, 4}, int32);
  for (bool luong : {true, false}) {
    auto scope = g.variable_scope(luong ? "luong" : "bahdanau");
    AttentionPtr attention;
    if (luong) {
      attention = std::make_shared<LuongAttention>(5, memory, AttentionOptions{.lengths = lengths, .scale = true});
    } else {
      attention =
          std::make_shared<BahdanauAttention>(5, memory, AttentionOptions{.lengths = lengths, .normalize = true});
    }
    Output weights = (*attention)(query, Output());
    Session session(g);
    fill_variables(g, session);
    auto values = session.run({reduce_sum(weights, {1}), subscript(weights, {0, from(2)})});
    expect_near(values[0], Tensor(std::vector<float>{1, 1}), 1e-5);
    expect_same(values[1], Tensor(std::vector<float>{0, 0}));
  }
  expect_error([&] { luong_score(query, memory); }, Code::InvalidArgument, "Incompatible or unknown inner dimensions");
}

TEST(Attention, MonotonicModesAgree) {
  Graph g;
  Output p = g.constant({{0.1, 0.5, 0.9}}, float32), before = g.constant({{0.3, 0.4, 0.3}}, float32);
  Session session(g);
  // TensorFlow 1.15's numbers.
  expect_near(session.run(monotonic_attention(p, before, "recursive")),
              Tensor::from<float>({0.03f, 0.335f, 0.5715f}, {1, 3}), 1e-4);
  expect_near(session.run(monotonic_attention(p, before, "parallel")),
              Tensor::from<float>({0.03f, 0.335f, 0.5715f}, {1, 3}), 1e-4);
  expect_error([&] { monotonic_attention(p, before, "other"); }, Code::InvalidArgument, "mode must be");
}

// Adds one to its input class: a cell whose best word is always the next.
class Counting : public rnn::Cell {
 public:
  Counting() : Cell("counting") {}
  std::vector<Shape> state_size() const override { return {{1}}; }
  Shape output_size() const override { return {5}; }

 protected:
  rnn::Step call(const Output& inputs, const rnn::State& state) override {
    return {concat({subscript(inputs, {kAll, from(4)}), subscript(inputs, {kAll, until(4)})}, 1) * 3.f,
            {state[0] + 1.f}};
  }
};

Embedding one_hot_words() {
  return [](const Output& ids) { return one_hot(ids, 5); };
}

TEST(Decoding, IsGreedyUntilTheEnd) {
  Graph g;
  auto cell = std::make_shared<Counting>();
  GreedyEmbeddingHelper helper(one_hot_words(), Tensor(std::vector<int32_t>{0, 2}), 4, g);
  BasicDecoder decoder(cell, helper, cell->zero_state(g, 2));
  Decoded done = dynamic_decode(decoder, {.impute_finished = true});
  Session session(g);
  auto values = session.run({done.outputs[1], done.lengths, done.state[0]});
  expect_same(values[0], Tensor::from<int32_t>({1, 2, 3, 4, 3, 4, 0, 0}, {2, 4}));
  expect_same(values[1], Tensor(std::vector<int32_t>{4, 2}));
  expect_same(values[2], Tensor::from<float>({4, 2}, {2, 1}));
}

TEST(Decoding, StopsAfterAsManyStepsAsItMay) {
  Graph g;
  auto cell = std::make_shared<Counting>();
  SampleEmbeddingHelper helper(one_hot_words(), Tensor(std::vector<int32_t>{0}), 9, g, 0.01f, 3);
  BasicDecoder decoder(cell, helper, cell->zero_state(g, 1));
  Decoded done = dynamic_decode(decoder, {.maximum_iterations = In(3)});
  expect_same(Session(g).run(done.outputs[1]), Tensor::from<int32_t>({1, 2, 3}, {1, 3}));
}

TEST(Decoding, ReadsTheRightInputsInTraining) {
  Graph g;
  Output x = one_hot(g.constant({{0, 3, 1}, {2, 2, 2}}, int32), 5);
  auto cell = std::make_shared<Counting>();
  TrainingHelper helper(x, g.constant({3, 1}, int32));
  BasicDecoder decoder(cell, helper, cell->zero_state(g, 2));
  Decoded done = dynamic_decode(decoder, {.impute_finished = true});
  auto values = Session(g).run({done.outputs[1], done.lengths});
  expect_same(values[0], Tensor::from<int32_t>({1, 4, 2, 3, 0, 0}, {2, 3}));
  expect_same(values[1], Tensor(std::vector<int32_t>{3, 1}));
}

TEST(BeamSearch, FindsWhatTheGreedyWayMisses) {
  Graph g;
  auto cell = std::make_shared<Counting>();
  rnn::State state = tile_batch(cell->zero_state(g, 2), 3);
  BeamSearchDecoder decoder(cell, one_hot_words(), g.constant({0, 2}, int32), 4, state, 3,
                            {.length_penalty_weight = 0.5f});
  Decoded done = dynamic_decode(decoder, {.maximum_iterations = In(6)});
  Session session(g);
  auto values = session.run({subscript(done.outputs[0], {kAll, until(4), 0}), done.outputs[1]});
  expect_same(values[0], Tensor::from<int32_t>({1, 2, 3, 4, 3, 4, 4, 4}, {2, 4}));
  expect_error([&] { BeamSearchDecoder(cell, one_hot_words(), g.constant({0}, int32), 4, state, 0); },
               Code::InvalidArgument, "beam_width");
}

TEST(AttentionWrapper, LooksAtItsMemoryInALoop) {
  Graph g;
  Output memory = g.constant(numbers({2, 4, 3})), x = g.constant(numbers({2, 5, 2}, 3));
  auto attention = std::make_shared<LuongAttention>(6, memory);
  auto cell =
      std::make_shared<AttentionWrapper>(rnn::lstm(6), attention, AttentionWrapperOptions{.attention_layer_size = 7});
  TrainingHelper helper(x, g.constant({5, 2}, int32));
  BasicDecoder decoder(cell, helper, cell->zero_state(g, 2), dense_layer(3));
  Decoded done = dynamic_decode(decoder);
  EXPECT_EQ(g.global_variables()[0].name(), "memory_layer/kernel");
  EXPECT_EQ(g.global_variables()[1].name(), "decoder/attention_wrapper/lstm_cell/kernel");
  EXPECT_EQ(g.global_variables()[3].name(), "decoder/attention_wrapper/attention_layer/kernel");
  EXPECT_EQ(g.global_variables()[4].name(), "decoder/dense/kernel");
  Output loss = sequence_loss(done.outputs[0], zeros(g, Shape{2, 5}, int32), ones(g, Shape{2, 5}));
  Operation train = train::GradientDescent(0.5f).minimize(loss);
  Session session(g);
  session.run(g.global_variables_initializer());
  const float before = session.run(loss).scalar<float>();
  for (int i = 0; i < 20; ++i) session.run(train);
  EXPECT_LT(session.run(loss).scalar<float>(), before / 2);
}

TEST(MonotonicAttention, OnlyGoesOn) {
  for (const std::string mode : {"parallel", "recursive", "hard"}) {
    Graph g;
    Output memory = g.constant(numbers({2, 4, 3})), x = g.constant(numbers({2, 5, 2}, 3));
    AttentionPtr attention;
    if (mode == "recursive") {
      attention =
          std::make_shared<BahdanauMonotonicAttention>(6, memory, MonotonicOptions{.normalize = true, .mode = mode});
    } else {
      attention = std::make_shared<LuongMonotonicAttention>(6, memory,
                                                            MonotonicOptions{.score_bias_init = -0.5f, .mode = mode});
    }
    auto cell = std::make_shared<AttentionWrapper>(rnn::gru(6), attention);
    rnn::Sequence run = rnn::dynamic_rnn(cell, x, {.initial_state = cell->zero_state(g, 2)});
    EXPECT_EQ(g.global_variables().back().name(),
              mode == "recursive" ? "rnn/attention_wrapper/bahdanau_monotonic_attention/attention_score_bias"
                                  : "rnn/attention_wrapper/luong_monotonic_attention/attention_score_bias");
    Session session(g);
    session.run(g.global_variables_initializer());
    auto [first, last] = session.run({attention->initial_alignments(2, float32), run.state.back()});
    expect_same(first, Tensor::from<float>({1, 0, 0, 0, 1, 0, 0, 0}, {2, 4}));
    for (int row = 0; row < 2; ++row) {
      float sum = 0;
      for (int place = 0; place < 4; ++place) sum += last.data<float>()[static_cast<size_t>(4 * row + place)];
      EXPECT_LE(sum, 1.0001f) << mode;  // what has gone beyond the end looks at nothing
    }
  }
  Graph g;
  Output memory = g.constant(numbers({2, 4, 3}));
  expect_error([&] { LuongMonotonicAttention(6, memory, {.mode = "soft"}); }, Code::InvalidArgument, "mode must be");
}

TEST(SequenceLoss, CountsWeights) {
  Graph g;
  Output logits = zeros(g, Shape{2, 3, 4}), targets = zeros(g, Shape{2, 3}, int32);
  Output weights = g.constant({{1, 1, 0}, {1, 0, 0}}, float32);
  Session session(g);
  const float each = std::log(4.f);
  expect_near(session.run(sequence_loss(logits, targets, weights)), Tensor(each), 1e-6);
  expect_near(session.run(sequence_loss(logits, targets, weights,
                                        {.average_across_timesteps = false, .average_across_batch = false})),
              Tensor::from<float>({each, each, 0, each, 0, 0}, {2, 3}), 1e-6);
  expect_error([&] { sequence_loss(targets, targets, weights); }, Code::InvalidArgument, "Logits must be");
}

TEST(Legacy, AttentiveModelsLearn) {
  Graph g;
  std::vector<Output> inputs;
  for (int t = 0; t < 3; ++t) inputs.push_back(g.constant(Tensor(std::vector<int32_t>{t, 2 - t})));
  std::vector<Output> weights(3, ones(g, Shape{2}));
  EmbeddingSeq2seqOptions options{.num_encoder_symbols = 3, .num_decoder_symbols = 3, .embedding_size = 4};
  for (bool attentive : {false, true}) {
    auto scope = g.variable_scope(attentive ? "with" : "without");
    auto model = attentive ? embedding_attention_seq2seq : embedding_rnn_seq2seq;
    rnn::Unrolled trained = model(inputs, inputs, rnn::gru(6), rnn::gru(6), options);
    scope.reuse_variables();
    EmbeddingSeq2seqOptions feeding = options;
    feeding.feed_previous = true;
    rnn::Unrolled used = model(inputs, inputs, rnn::gru(6), rnn::gru(6), feeding);
    Output loss = sequence_loss(trained.outputs, inputs, weights);
    Operation train = train::Adam(0.05f).minimize(loss);
    Session session(g);
    session.run(g.global_variables_initializer());
    for (int i = 0; i < 200; ++i) session.run(train);
    EXPECT_LT(session.run(loss).scalar<float>(), 0.1f);
    EXPECT_EQ(used.outputs[2].shape(), (Shape{2, 3}));
    session.run(used.outputs);
  }
}

std::vector<std::string> variable_names(const Graph& g) {
  std::vector<std::string> names;
  for (const Variable& variable : g.global_variables()) names.push_back(variable.name());
  return names;
}

TEST(Legacy, OneSetOfWeightsReadsAndWrites) {
  Graph g;
  std::vector<Output> inputs;
  for (int t = 0; t < 3; ++t) inputs.push_back(g.constant(Tensor(std::vector<int32_t>{t, 2 - t})));
  rnn::Unrolled tied = embedding_tied_rnn_seq2seq(
      inputs, inputs, rnn::gru(6), {.num_encoder_symbols = 5, .embedding_size = 4, .feed_previous = true});
  const std::string inner =
      "embedding_tied_rnn_seq2seq/combined_tied_rnn_seq2seq/tied_rnn_seq2seq/output_projection_wrapper/";
  EXPECT_EQ(variable_names(g),
            (std::vector<std::string>{"embedding_tied_rnn_seq2seq/embedding", inner + "gru_cell/gates/kernel",
                                      inner + "gru_cell/gates/bias", inner + "gru_cell/candidate/kernel",
                                      inner + "gru_cell/candidate/bias", inner + "kernel", inner + "bias"}));
  EXPECT_EQ(tied.outputs[2].shape(), (Shape{2, 5}));
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(tied.outputs);
}

TEST(Legacy, OneEncoderServesManyDecoders) {
  Graph g;
  std::vector<Output> inputs;
  for (int t = 0; t < 3; ++t) inputs.push_back(g.constant(Tensor(std::vector<int32_t>{t, 2 - t})));
  auto written = one2many_rnn_seq2seq(inputs, {{"a", {inputs, rnn::gru(6), 3}}, {"b", {{inputs[0]}, rnn::gru(6), 4}}},
                                      rnn::gru(6), {.num_encoder_symbols = 3, .embedding_size = 4});
  EXPECT_EQ(written.at("a").outputs.size(), 3u);
  EXPECT_EQ(written.at("b").outputs[0].shape(), (Shape{2, 4}));
  const std::vector<std::string> names = variable_names(g);
  EXPECT_EQ(names[0], "one2many_rnn_seq2seq/rnn/embedding_wrapper/embedding");
  EXPECT_EQ(names[5], "one2many_rnn_seq2seq/one2many_decoder_a/embedding_rnn_decoder/embedding");
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run({written.at("a").outputs[2], written.at("b").outputs[0]});
}

TEST(Legacy, BucketsShareTheirWeights) {
  Graph g;
  std::vector<Output> inputs;
  for (int t = 0; t < 4; ++t) inputs.push_back(g.constant(Tensor(std::vector<int32_t>{t % 3, 2 - t % 3})));
  const std::vector<Output> weights(4, ones(g, Shape{2}));
  auto model = [](const std::vector<Output>& e, const std::vector<Output>& d) {
    return embedding_rnn_seq2seq(e, d, rnn::gru(6), rnn::gru(6),
                                 {.num_encoder_symbols = 3, .num_decoder_symbols = 3, .embedding_size = 4})
        .outputs;
  };
  const auto models = model_with_buckets(inputs, inputs, inputs, weights, {{2, 2}, {4, 3}}, model);
  const auto each =
      model_with_buckets(inputs, inputs, inputs, weights, {{2, 2}},
                         [&](const auto&, const auto&) { return models[0].outputs; }, {.per_example_loss = true});
  EXPECT_EQ(g.global_variables().size(), 12u);
  EXPECT_EQ(models[1].outputs.size(), 3u);
  Session session(g);
  session.run(g.global_variables_initializer());
  auto [mean, rows] = session.run({models[0].loss, each[0].loss});
  EXPECT_NEAR(mean.scalar<float>(), (rows.data<float>()[0] + rows.data<float>()[1]) / 2, 1e-5);
  expect_error(
      [&] {
        model_with_buckets(inputs, inputs, inputs, weights, {{5, 2}}, model);
      },
      Code::InvalidArgument, "Length of encoder_inputs (4) must be at least that of last bucket (5).");
}

TEST(Crf, SumsOverAllSequencesOfTags) {
  Graph g;
  Output x = g.constant(numbers({1, 3, 2})), transitions = g.constant(numbers({2, 2}, 5)), n = g.constant({3}, int32);
  std::vector<Output> scores;
  for (int i = 0; i < 8; ++i) {
    Output tags = g.constant({{i & 1, i >> 1 & 1, i >> 2 & 1}}, int32);
    scores.push_back(crf::sequence_score(x, tags, n, transitions));
  }
  Output all = stack(scores, 1);
  crf::Decoding best = crf::decode(x, transitions, n);
  Session session(g);
  expect_near(session.run(crf::log_norm(x, n, transitions)), session.run(reduce_logsumexp(all, {.axes = {1}})), 1e-5);
  expect_near(session.run(best.scores), session.run(reduce_max(all, {1})), 1e-5);
  expect_near(session.run(crf::sequence_score(x, best.tags, n, transitions)), session.run(best.scores), 1e-5);
  Output single = slice(x, {0, 0, 0}, {-1, 1, -1});
  expect_near(session.run(crf::log_norm(single, n, transitions)),
              session.run(reduce_logsumexp(single, {.axes = {1, 2}})), 1e-5);
  expect_error([&] { crf::log_norm(transitions, n, transitions); }, Code::InvalidArgument, "inputs must be");
}

}  // namespace
}  // namespace weir::seq2seq
