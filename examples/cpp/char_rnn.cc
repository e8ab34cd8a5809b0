// Learns a text letter by letter with two layers of LSTM, and writes more of the kind.
//
//   char_rnn [text file] [steps]

#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace weir;

constexpr int64_t kBatch = 32, kLength = 40, kUnits = 128;

// Rows of `length` letters from `place` on, one for each of kBatch parts of the text.
Tensor rows(const std::vector<int32_t>& text, int64_t place, int64_t length) {
  const int64_t part = static_cast<int64_t>(text.size()) / kBatch;
  Tensor batch(int32, {kBatch, length});
  auto* to = batch.mutable_data<int32_t>();
  for (int64_t row = 0; row < kBatch; ++row) {
    for (int64_t i = 0; i < length; ++i) *to++ = text[static_cast<size_t>(row * part + place + i)];
  }
  return batch;
}

// The gradients, shortened together so that their norm is at most `norm`.
train::GradsAndVars clipped(train::GradsAndVars pairs, float norm) {
  std::vector<Gradient> gradients;
  for (const auto& pair : pairs) gradients.push_back(pair.first);
  gradients = clip_gradients_by_global_norm(gradients, norm).first;
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i].first = gradients[i];
  return pairs;
}

void run(const std::string& path, int steps) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 2 * kBatch * kLength) throw Error(Code::InvalidArgument, path + ": the text is too short");
  const std::set<char> different(text.begin(), text.end());
  const std::string letters(different.begin(), different.end());
  const auto count = static_cast<int64_t>(letters.size());
  std::vector<int32_t> numbers;
  for (char letter : text) numbers.push_back(static_cast<int32_t>(letters.find(letter)));

  Graph g;
  g.set_random_seed(1);
  Output inputs = g.placeholder(int32, {kUnknown, kUnknown}, "inputs");
  Output targets = g.placeholder(int32, {kUnknown, kUnknown}, "targets");
  rnn::CellPtr cell = rnn::multi({rnn::lstm(kUnits), rnn::lstm(kUnits)});
  rnn::State zero_state = cell->zero_state(g, subscript(shape(inputs), {0}));
  Variable embedding = g.get_variable("embedding", {count, kUnits});
  auto [hidden, last_state] =
      rnn::dynamic_rnn(cell, nn::embedding_lookup({embedding}, inputs), {.initial_state = zero_state});
  Variable softmax_w = g.get_variable("softmax_w", {kUnits, count});
  Variable softmax_b = g.get_variable("softmax_b", {count}, {.initializer = zeros_initializer()});
  Output logits = matmul(reshape(hidden, {-1, kUnits}), softmax_w) + softmax_b;
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(reshape(targets, {-1}), logits));
  train::Adam optimizer(0.005f);
  Operation train = optimizer.apply_gradients(clipped(optimizer.compute_gradients(loss), 5));
  Output probabilities = nn::softmax(logits);

  // Every row of a batch reads on where it stopped: the state goes from one batch to the next.
  Session session(g);
  session.run(g.global_variables_initializer());
  const int64_t part = static_cast<int64_t>(text.size()) / kBatch;
  auto with_state = [&](std::vector<Feed> feeds, const std::vector<Tensor>& state) {
    for (size_t i = 0; i < state.size(); ++i) feeds.push_back({zero_state[i], state[i]});
    return feeds;
  };
  std::vector<Output> fetches = {loss};
  fetches.insert(fetches.end(), last_state.begin(), last_state.end());
  std::vector<Tensor> state;
  int64_t place = 0;
  for (int step = 1; step <= steps; ++step) {
    if (state.empty() || place + kLength + 1 > part) {
      state = session.run(zero_state, {{inputs, rows(numbers, 0, 1)}});
      place = 0;
    }
    std::vector<Feed> feeds = {{inputs, rows(numbers, place, kLength)}, {targets, rows(numbers, place + 1, kLength)}};
    std::vector<Tensor> values = session.run(fetches, with_state(feeds, state), {train});
    state.assign(values.begin() + 1, values.end());
    place += kLength;
    if (step % 100 == 0 || step == steps) {
      std::printf("step %d  loss %.3f\n", step, static_cast<double>(values[0].scalar<float>()));
    }
  }
  std::mt19937 random(1);
  std::string written = "The ";
  std::vector<int32_t> pending;
  for (char letter : written) pending.push_back(static_cast<int32_t>(letters.find(letter)));
  state = session.run(zero_state, {{inputs, Tensor::from<int32_t>({0}, {1, 1})}});
  fetches[0] = probabilities;
  for (int i = 0; i < 200; ++i) {
    const Tensor now = Tensor(pending).reshaped({1, static_cast<int64_t>(pending.size())});
    std::vector<Tensor> values = session.run(fetches, with_state({{inputs, now}}, state));
    state.assign(values.begin() + 1, values.end());
    const auto p = values[0].data<float>().last(letters.size());
    pending = {std::discrete_distribution<int32_t>(p.begin(), p.end())(random)};
    written += letters[static_cast<size_t>(pending[0])];
  }
  std::printf("%s\n", written.c_str());
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "LICENSE", argc > 2 ? std::atoi(argv[2]) : 1000);
  } catch (const Error& e) {
    std::fprintf(stderr, "char_rnn: %s\n", e.what());
    return 1;
  }
}
