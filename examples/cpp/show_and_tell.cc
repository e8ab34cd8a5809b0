// Tells what is in a picture (Vinyals et al., 2015): the output of a convolutional network is the first input of an
// LSTM, which writes the caption word by word.
//
// The pictures are composed of one or two digits of MNIST in the corners of a square, the captions of their labels and
// places: "three at the top left and seven at the bottom right".
//
//   show_and_tell [folder of the MNIST files] [steps]

#include <weir/weir.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "data/mnist.h"

using namespace weir;

constexpr int64_t kUnits = 128, kBatch = 64, kLongest = 12, kBeam = 3, kSide = 56;
const std::vector<std::string> kWords = {"zero",  "one",   "two",  "three",   "four", "five", "six",
                                         "seven", "eight", "nine", "at",      "the",  "top",  "bottom",
                                         "left",  "right", "and",  "<start>", "<end>"};
int32_t word(const std::string& text) {
  return static_cast<int32_t>(std::find(kWords.begin(), kWords.end(), text) - kWords.begin());
}
const int32_t kStart = word("<start>"), kEnd = word("<end>");

struct Captioned {
  Tensor pictures, captions, lengths;  // captions are filled up with <end>
};

Captioned compose(const data::Labelled& digits, int64_t count, std::mt19937& random) {
  Captioned result{Tensor::zeros(float32, {count, kSide, kSide, 1}), Tensor(int32, {count, kLongest}),
                   Tensor(int32, {count})};
  auto* pixels = result.pictures.mutable_data<float>();
  for (int64_t i = 0; i < count; ++i, pixels += kSide * kSide) {
    std::vector<int> corners = {0, 1, 2, 3};
    std::shuffle(corners.begin(), corners.end(), random);
    corners.resize(1 + random() % 2);
    std::sort(corners.begin(), corners.end());
    std::vector<int32_t> caption;
    for (int corner : corners) {
      const auto digit = static_cast<int64_t>(random() % static_cast<uint32_t>(digits.labels.elements()));
      const int64_t top = corner / 2 * 28, left = corner % 2 * 28;
      const float* from = digits.images.data<float>().data() + digit * 28 * 28;
      for (int64_t y = 0; y < 28; ++y) std::copy_n(from + y * 28, 28, pixels + (top + y) * kSide + left);
      if (!caption.empty()) caption.push_back(word("and"));
      caption.insert(caption.end(),
                     {static_cast<int32_t>(digits.labels.data<int64_t>()[static_cast<size_t>(digit)]), word("at"),
                      word("the"), word(top ? "bottom" : "top"), word(left ? "right" : "left")});
    }
    result.lengths.mutable_data<int32_t>()[i] = static_cast<int32_t>(caption.size()) + 1;
    caption.resize(kLongest, kEnd);
    std::copy(caption.begin(), caption.end(), result.captions.mutable_data<int32_t>() + i * kLongest);
  }
  return result;
}

Output encoder(const Output& pictures) {
  Output x = pictures;
  for (int64_t filters : {16, 32, 32}) {
    x = layers::conv2d(x, filters, 5, {.strides = 2, .padding = "same", .activation = nn::relu});
  }
  x = layers::dense(layers::flatten(x), kUnits, {.name = "picture"});
  // Mostly black pictures give small numbers, of which the LSTM learns no more than where there is something: it would
  // write the places and guess the digits. At variance 1 they weigh as much as its state.
  auto [mean, variance] = nn::moments(x, {1}, {.keep_dims = true});
  return (x - mean) * rsqrt(variance + 1e-6f);
}

std::string text(const Tensor& captions, int64_t row) {
  std::string result;
  for (int64_t i = 0; i < captions.shape()[1]; ++i) {
    const int32_t number = captions.data<int32_t>()[static_cast<size_t>(row * captions.shape()[1] + i)];
    if (number == kEnd) break;
    result += (i ? " " : "") + kWords[static_cast<size_t>(number)];
  }
  return result;
}

double share_right(const Tensor& written, const Tensor& wanted) {
  int64_t right = 0;
  for (int64_t row = 0; row < wanted.shape()[0]; ++row) right += text(written, row) == text(wanted, row);
  return static_cast<double>(right) / static_cast<double>(wanted.shape()[0]);
}

void run(const std::string& folder, int steps) {
  data::Mnist mnist = data::read_mnist(folder);
  const auto words = static_cast<int64_t>(kWords.size());

  Graph g;
  g.set_random_seed(1);
  Output pictures = g.placeholder(float32, {kUnknown, kSide, kSide, 1}, "pictures");
  Output captions = g.placeholder(int32, {kUnknown, kLongest}, "captions");
  Output lengths = g.placeholder(int32, {kUnknown}, "lengths");
  Output batch = subscript(shape(pictures), {0});
  Variable table = g.get_variable("embedding", {words, kUnits});
  auto embedding = [&](const Output& ids) { return nn::embedding_lookup({table}, ids); };
  rnn::CellPtr cell = rnn::lstm(kUnits);
  seq2seq::OutputLayer projection = seq2seq::dense_layer(words, true, "words");
  Output start = fill(expand_dims(batch, 0), g.constant(kStart, int32));

  // The picture is what the decoder reads first.
  rnn::State state = (*cell)(encoder(pictures), cell->zero_state(g, batch)).state;
  Output inputs = concat({expand_dims(start, 1), subscript(captions, {kAll, until(-1)})}, 1);
  seq2seq::TrainingHelper helper(embedding(inputs), lengths);
  seq2seq::BasicDecoder decoder(cell, helper, state, projection);
  Output logits = seq2seq::dynamic_decode(decoder).outputs[0];
  Output length = subscript(shape(logits), {1});
  Output loss = seq2seq::sequence_loss(logits, subscript(captions, {kAll, until(length)}),
                                       sequence_mask(lengths, In(length), float32));
  Operation train = train::Adam(1e-3f).minimize(loss);

  seq2seq::GreedyEmbeddingHelper greedy_helper(embedding, start, kEnd, g);
  seq2seq::BasicDecoder greedy_decoder(cell, greedy_helper, state, projection);
  Output greedy = seq2seq::dynamic_decode(greedy_decoder, {.maximum_iterations = In(kLongest)}).outputs[1];
  seq2seq::BeamSearchDecoder beam_decoder(cell, embedding, start, kEnd, seq2seq::tile_batch(state, kBeam), kBeam,
                                          {.output_layer = projection});
  Output beams = seq2seq::dynamic_decode(beam_decoder, {.maximum_iterations = In(kLongest)}).outputs[0];
  Output beam = subscript(beams, {kAll, kAll, 0});

  Session session(g);
  session.run(g.global_variables_initializer());
  std::mt19937 random(1);
  for (int step = 1; step <= steps; ++step) {
    const Captioned shown = compose(mnist.train, kBatch, random);
    const Tensor value =
        session.run(loss, {{pictures, shown.pictures}, {captions, shown.captions}, {lengths, shown.lengths}}, {train});
    if (step % 100 == 0 || step == steps) {
      std::printf("step %d  loss %.4f\n", step, static_cast<double>(value.scalar<float>()));
    }
  }
  const Captioned unseen = compose(mnist.test, 500, random);
  auto [by_greedy, by_beam] = session.run({greedy, beam}, {{pictures, unseen.pictures}});
  std::printf("captions of unseen pictures that are right: greedy %.3f, beam %.3f\n",
              share_right(by_greedy, unseen.captions), share_right(by_beam, unseen.captions));
  std::printf("%s: %s\n", text(unseen.captions, 0).c_str(), text(by_beam, 0).c_str());
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "data/mnist", argc > 2 ? std::atoi(argv[2]) : 1500);
  } catch (const Error& e) {
    std::fprintf(stderr, "show_and_tell: %s\n", e.what());
    return 1;
  }
}
