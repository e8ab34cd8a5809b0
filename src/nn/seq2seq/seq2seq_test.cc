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
