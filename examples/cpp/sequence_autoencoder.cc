// Reads a sequence of symbols and writes it down again from memory: an encoder, a vector of 100 numbers, a decoder.
//
//   sequence_autoencoder [steps]

#include <weir/weir.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace weir;

constexpr int kLength = 5, kSymbols = 7, kEmbedding = 50, kMemory = 100, kBatch = 64;

// Different symbols in each sequence; one tensor a step.
std::vector<Tensor> sequences(int count, std::mt19937& random) {
  std::vector<std::vector<int32_t>> steps(kLength, std::vector<int32_t>(static_cast<size_t>(count)));
  std::vector<int32_t> symbols(kSymbols);
  std::iota(symbols.begin(), symbols.end(), 0);
  for (size_t row = 0; row < static_cast<size_t>(count); ++row) {
    std::shuffle(symbols.begin(), symbols.end(), random);
    for (size_t t = 0; t < kLength; ++t) steps[t][row] = symbols[t];
  }
  return {steps.begin(), steps.end()};
}

void run(int steps) {
  Graph g;
  g.set_random_seed(1);
  std::vector<Output> inputs, labels, weights;
  for (int t = 0; t < kLength; ++t) {
    inputs.push_back(g.placeholder(int32, {kUnknown}, "input" + std::to_string(t)));
    labels.push_back(g.placeholder(int32, {kUnknown}, "label" + std::to_string(t)));
    weights.push_back(ones_like(labels.back(), float32));
  }
  std::vector<Output> decoder_inputs = {zeros_like(inputs[0])};
  decoder_inputs.insert(decoder_inputs.end(), inputs.begin(), inputs.end() - 1);

  auto [outputs, state] = seq2seq::embedding_rnn_seq2seq(
      inputs, decoder_inputs, rnn::gru(kMemory), rnn::gru(kMemory),
      {.num_encoder_symbols = kSymbols, .num_decoder_symbols = kSymbols, .embedding_size = kEmbedding});
  Output loss = seq2seq::sequence_loss(outputs, labels, weights);
  Operation train = train::Momentum(0.05f, 0.9f).minimize(loss);
  std::vector<Output> written;
  for (const Output& logits : outputs) written.push_back(argmax(logits, 1, int32));

  Session session(g);
  session.run(g.global_variables_initializer());
  std::mt19937 random(1);
  for (int step = 1; step <= steps; ++step) {
    const std::vector<Tensor> batch = sequences(kBatch, random);
    std::vector<Feed> feeds;
    for (size_t t = 0; t < kLength; ++t)
      feeds.insert(feeds.end(), {Feed{inputs[t], batch[t]}, Feed{labels[t], batch[t]}});
    const Tensor value = session.run(loss, feeds, {train});
    if (step % 100 == 0 || step == steps) {
      std::printf("step %d  loss %.3f\n", step, static_cast<double>(value.scalar<float>()));
    }
  }
  const std::vector<Tensor> batch = sequences(10, random);
  std::vector<Feed> feeds;
  for (size_t t = 0; t < kLength; ++t) feeds.push_back({inputs[t], batch[t]});
  const std::vector<Tensor> wrote = session.run(written, feeds);
  int right = 0;
  for (size_t row = 0; row < 10; ++row) {
    std::string before, after;
    for (size_t t = 0; t < kLength; ++t) {
      before += std::to_string(batch[t].data<int32_t>()[row]) + " ";
      after += " " + std::to_string(wrote[t].data<int32_t>()[row]);
    }
    std::printf("%s->%s\n", before.c_str(), after.c_str());
    right += before.substr(0, before.size() - 1) == after.substr(1);
  }
  std::printf("%d of 10 sequences are right\n", right);
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 500);
  } catch (const Error& e) {
    std::fprintf(stderr, "sequence_autoencoder: %s\n", e.what());
    return 1;
  }
}
