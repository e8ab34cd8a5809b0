// A language model in the manner of the PTB tutorial: LSTM, dropout, unrolled steps, a falling learning rate,
// perplexity.
//
// The sentences are made up: "the old dog sees a red ball ." Knowing the grammar, a reader is about 3.7 words in doubt.
//
//   language_model [epochs]

#include <weir/weir.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace weir;

constexpr int64_t kBatch = 20, kSteps = 10, kSize = 64, kLayers = 2;
const std::vector<std::string> kWords = {"<eos>", "the",   "a",     "old",    "young", "red",  "big",
                                         "dog",   "cat",   "man",   "bird",   "ball",  "tree", "house",
                                         "sees",  "likes", "finds", "sleeps", "sings"};

std::vector<int32_t> sentences(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> text;
  auto add = [&](const std::vector<std::string>& choices) {
    const std::string& word = choices[random() % choices.size()];
    text.push_back(static_cast<int32_t>(std::find(kWords.begin(), kWords.end(), word) - kWords.begin()));
  };
  auto thing = [&](const std::vector<std::string>& nouns) {
    add({"the", "a"});
    if (random() % 2) add({"old", "young", "red", "big"});
    add(nouns);
  };
  for (int i = 0; i < count; ++i) {
    thing({"dog", "cat", "man", "bird"});
    if (random() % 2) {
      add({"sees", "likes", "finds"});
      thing({"ball", "tree", "house"});
    } else {
      add({"sleeps", "sings"});
    }
    add({"<eos>"});
  }
  return text;
}

struct Model {
  Output inputs, targets, cost, learning_rate;
  rnn::State initial_state, final_state;
  Operation train;

  Model(Graph& g, bool is_training) {
    const auto words = static_cast<int64_t>(kWords.size());
    inputs = g.placeholder(int32, {kBatch, kSteps});
    targets = g.placeholder(int32, {kBatch, kSteps});
    std::vector<rnn::CellPtr> cells;
    for (int64_t i = 0; i < kLayers; ++i) {
      cells.push_back(rnn::basic_lstm(kSize, {.forget_bias = 0}));
      if (is_training) cells.back() = rnn::dropout(cells.back(), {.output_keep_prob = 0.8f});
    }
    rnn::CellPtr cell = rnn::multi(cells);
    initial_state = cell->zero_state(g, kBatch, float32);
    Output embedded = nn::embedding_lookup({g.get_variable("embedding", {words, kSize})}, inputs);
    if (is_training) embedded = nn::dropout(embedded, 0.8f);
    auto [outputs, last] = rnn::static_rnn(cell, unstack(embedded, kSteps, 1), {.initial_state = initial_state});
    final_state = last;
    Output logits = matmul(reshape(concat(outputs, 1), {-1, kSize}), g.get_variable("softmax_w", {kSize, words})) +
                    g.get_variable("softmax_b", {words});
    cost = reduce_sum(seq2seq::sequence_loss(reshape(logits, {kBatch, kSteps, words}), targets,
                                             ones(g, Shape{kBatch, kSteps}), {.average_across_timesteps = false}));
    if (!is_training) return;
    learning_rate = g.placeholder(float32, {});
    train::GradientDescent optimizer(learning_rate);
    train::GradsAndVars pairs = optimizer.compute_gradients(cost);
    std::vector<Gradient> gradients;
    for (const auto& pair : pairs) gradients.push_back(pair.first);
    gradients = clip_gradients_by_global_norm(gradients, 5).first;
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i].first = gradients[i];
    train = optimizer.apply_gradients(pairs);
  }
};

// Rows of kSteps words from `place` on, one for each of kBatch parts of the text.
Tensor rows(const std::vector<int32_t>& text, int64_t place) {
  const int64_t part = static_cast<int64_t>(text.size()) / kBatch;
  Tensor batch(int32, {kBatch, kSteps});
  for (int64_t i = 0; i < kBatch * kSteps; ++i) {
    batch.mutable_data<int32_t>()[i] = text[static_cast<size_t>(i / kSteps * part + place + i % kSteps)];
  }
  return batch;
}

double perplexity(Session& session, const Model& model, const std::vector<int32_t>& text, float rate = 0) {
  std::vector<Output> fetches = {model.cost};
  fetches.insert(fetches.end(), model.final_state.begin(), model.final_state.end());
  std::vector<Tensor> state = session.run(model.initial_state);
  double costs = 0;
  int64_t steps = 0;
  for (int64_t place = 0; place + kSteps < static_cast<int64_t>(text.size()) / kBatch;
       place += kSteps, steps += kSteps) {
    std::vector<Feed> feeds = {{model.inputs, rows(text, place)}, {model.targets, rows(text, place + 1)}};
    for (size_t i = 0; i < state.size(); ++i) feeds.push_back({model.initial_state[i], state[i]});
    std::vector<Operation> targets;
    if (rate > 0) {
      feeds.push_back({model.learning_rate, Tensor(rate)});
      targets = {model.train};
    }
    std::vector<Tensor> values = session.run(fetches, feeds, targets);
    costs += static_cast<double>(values[0].scalar<float>());
    state.assign(values.begin() + 1, values.end());
  }
  return std::exp(costs / static_cast<double>(steps));
}

void run(int epochs) {
  Graph g;
  g.set_random_seed(1);
  auto make = [&](bool is_training) {
    VariableScopeOptions options{.initializer = random_uniform_initializer(-0.1f, 0.1f)};
    if (!is_training) options.reuse = true;
    auto scope = g.variable_scope("Model", options);
    return Model(g, is_training);
  };
  const Model training = make(true), evaluation = make(false);
  const std::vector<int32_t> train_text = sentences(4000, 1), valid_text = sentences(400, 2);
  Session session(g);
  session.run(g.global_variables_initializer());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const float rate = std::pow(0.5f, static_cast<float>(std::max(epoch - 2, 0)));
    const double trained = perplexity(session, training, train_text, rate);
    std::printf("epoch %d  learning rate %.3f  training perplexity %.2f  validation perplexity %.2f\n", epoch + 1,
                static_cast<double>(rate), trained, perplexity(session, evaluation, valid_text));
  }
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? std::atoi(argv[1]) : 4);
  } catch (const Error& e) {
    std::fprintf(stderr, "language_model: %s\n", e.what());
    return 1;
  }
}
