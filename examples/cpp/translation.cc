// Translates a made-up language with attention, and searches for the best sentence with a beam.
//
// A sentence is a number's digits, most significant first; its translation says them backwards, each as a word of its
// own language, with zeros at the beginning left out: "0 4 2" -> "deux quatre".
//
//   translation [steps]

#include <weir/weir.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace weir;

constexpr int64_t kSourceWords = 11, kTargetWords = 13, kUnits = 64, kBatch = 64, kBeam = 4;
constexpr int32_t kPad = 10, kGo = 11, kEnd = 12;
const char* const kWords[] = {"zero", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"};

struct Sentences {
  Tensor source, source_lengths, target, target_lengths;
};

// Rows of one length: shorter ones are filled up.
Tensor padded(const std::vector<std::vector<int32_t>>& rows, int32_t fill) {
  size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  Tensor result(int32, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)});
  auto* to = result.mutable_data<int32_t>();
  for (const auto& row : rows) {
    std::fill_n(std::copy(row.begin(), row.end(), to), longest - row.size(), fill);
    to += longest;
  }
  return result;
}

Sentences make_sentences(int count, std::mt19937& random) {
  std::vector<std::vector<int32_t>> sources, targets;
  std::vector<int32_t> source_lengths, target_lengths;
  for (int i = 0; i < count; ++i) {
    std::vector<int32_t> digits(2 + random() % 5);
    for (int32_t& digit : digits) digit = static_cast<int32_t>(random() % 10);
    auto first = std::find_if(digits.begin(), digits.end() - 1, [](int32_t digit) { return digit > 0; });
    std::vector<int32_t> words(first, digits.end());
    std::reverse(words.begin(), words.end());
    words.push_back(kEnd);
    source_lengths.push_back(static_cast<int32_t>(digits.size()));
    target_lengths.push_back(static_cast<int32_t>(words.size()));
    sources.push_back(digits);
    targets.push_back(words);
  }
  return {padded(sources, kPad), Tensor(source_lengths), padded(targets, kEnd), Tensor(target_lengths)};
}

rnn::CellPtr decoder_cell(const Output& memory, const Output& lengths, const rnn::State& first_state) {
  auto attention =
      std::make_shared<seq2seq::LuongAttention>(kUnits, memory, seq2seq::AttentionOptions{.lengths = lengths});
  return std::make_shared<seq2seq::AttentionWrapper>(
      rnn::gru(kUnits), attention,
      seq2seq::AttentionWrapperOptions{.attention_layer_size = kUnits, .initial_cell_state = first_state});
}

void run(int steps) {
  Graph g;
  g.set_random_seed(1);
  Output source = g.placeholder(int32, {kUnknown, kUnknown}, "source");
  Output source_lengths = g.placeholder(int32, {kUnknown}, "source_lengths");
  Output target = g.placeholder(int32, {kUnknown, kUnknown}, "target");
  Output target_lengths = g.placeholder(int32, {kUnknown}, "target_lengths");
  Output batch = subscript(shape(source), {0});

  Variable source_embedding = g.get_variable("source_embedding", {kSourceWords, kUnits});
  Variable target_embedding = g.get_variable("target_embedding", {kTargetWords, kUnits});
  auto encoded = rnn::bidirectional_dynamic_rnn(rnn::gru(kUnits / 2), rnn::gru(kUnits / 2),
                                                nn::embedding_lookup({source_embedding}, source),
                                                {.sequence_length = In(source_lengths), .scope = "bidirectional_rnn"});
  Output memory = concat({encoded.forward, encoded.backward}, 2);
  rnn::State first_state = {concat({encoded.forward_state[0], encoded.backward_state[0]}, 1)};
  seq2seq::OutputLayer projection = seq2seq::dense_layer(kTargetWords, false, "projection");
  auto embedding = [&](const Output& words) { return nn::embedding_lookup({target_embedding}, words); };
  Output go = fill(expand_dims(batch, 0), g.constant(kGo, int32));

  Output loss, best;
  {
    auto scope = g.variable_scope("decode");
    rnn::CellPtr cell = decoder_cell(memory, source_lengths, first_state);
    Output inputs = concat({expand_dims(go, 1), subscript(target, {kAll, until(-1)})}, 1);
    seq2seq::TrainingHelper helper(embedding(inputs), target_lengths);
    seq2seq::BasicDecoder decoder(cell, helper, cell->zero_state(g, batch, float32), projection);
    seq2seq::Decoded decoded = seq2seq::dynamic_decode(decoder);
    Output weights = sequence_mask(target_lengths, In(subscript(shape(target), {1})), float32);
    loss = seq2seq::sequence_loss(decoded.outputs[0], target, weights);
  }
  Operation train = train::Adam(0.005f).minimize(loss);
  {
    auto scope = g.variable_scope("decode", {.reuse = true});
    rnn::CellPtr cell = decoder_cell(seq2seq::tile_batch(memory, kBeam), seq2seq::tile_batch(source_lengths, kBeam),
                                     seq2seq::tile_batch(first_state, kBeam));
    seq2seq::BeamSearchDecoder decoder(cell, embedding, go, kEnd, cell->zero_state(g, batch * int32_t{kBeam}, float32),
                                       kBeam, {.output_layer = projection});
    seq2seq::Decoded decoded = seq2seq::dynamic_decode(decoder, {.maximum_iterations = In(10)});
    best = subscript(decoded.outputs[0], {kAll, kAll, 0});
  }

  Session session(g);
  session.run(g.global_variables_initializer());
  std::mt19937 random(1);
  for (int step = 1; step <= steps; ++step) {
    const Sentences s = make_sentences(kBatch, random);
    const Tensor value = session.run(loss,
                                     {{source, s.source},
                                      {source_lengths, s.source_lengths},
                                      {target, s.target},
                                      {target_lengths, s.target_lengths}},
                                     {train});
    if (step % 100 == 0 || step == steps) {
      std::printf("step %d  loss %.4f\n", step, static_cast<double>(value.scalar<float>()));
    }
  }
  const Sentences s = make_sentences(200, random);
  const Tensor written = session.run(best, {{source, s.source}, {source_lengths, s.source_lengths}});
  int right = 0;
  for (int64_t row = 0; row < 200; ++row) {
    const auto at = static_cast<size_t>(row);
    auto words = [&](const Tensor& t) { return t.data<int32_t>().subspan(at * static_cast<size_t>(t.shape()[1])); };
    const auto length = static_cast<size_t>(s.target_lengths.data<int32_t>()[at]);
    right += static_cast<int64_t>(length) <= written.shape()[1] &&
             std::equal(words(s.target).begin(), words(s.target).begin() + static_cast<ptrdiff_t>(length),
                        words(written).begin());
    if (row >= 5) continue;
    std::string text;
    for (int32_t i = 0; i < s.source_lengths.data<int32_t>()[at]; ++i) {
      text += std::to_string(words(s.source)[static_cast<size_t>(i)]) + " ";
    }
    text += "->";
    for (size_t i = 0; i < static_cast<size_t>(written.shape()[1]) && words(written)[i] < 10; ++i) {
      text += std::string(" ") + kWords[words(written)[i]];
    }
    std::printf("%s\n", text.c_str());
  }
  std::printf("%d of 200 sentences are right\n", right);
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 600);
  } catch (const Error& e) {
    std::fprintf(stderr, "translation: %s\n", e.what());
    return 1;
  }
}
