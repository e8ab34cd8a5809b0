#include "tests/support/device_programs.h"

#include <gtest/gtest.h>

#include "weir/control_flow.h"
#include "weir/embedding.h"
#include "weir/weir.h"

namespace weir::testing {

Tensor numbers(const Shape& shape, int seed) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    t.mutable_data<float>()[i] = static_cast<float>((i * 37 + seed * 13 + 11) % 101 - 50) / 50;
  }
  return t;
}

Tensor counted(const Shape& shape, int64_t modulus, int64_t step) {
  Tensor t(int64, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<int64_t>()[i] = (i * step + 1) % modulus;
  return t;
}

namespace {

std::vector<Tensor> arithmetic_and_constants(const MakeSession& make) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3});
  Output y = matmul(tanh(x * 2.f + 1.f), g.constant(numbers({3, 5}))) + g.constant(numbers({5}));
  Output fixed = g.constant(numbers({2, 2}));
  std::vector<In> many;  // more than a kernel takes at once
  for (int i = 0; i < 45; ++i) many.push_back(y * static_cast<float>(i % 7));
  auto s = make(g);
  std::vector<Tensor> results;
  for (int64_t rows : {4, 7, 4}) {
    for (Tensor& t : s->run({y, reduce_sum(y, {0}), fixed, shape(y), add_n(many)}, {{x, numbers({rows, 3})}})) {
      results.push_back(t);
    }
  }
  return results;
}

std::vector<Tensor> a_convolutional_network_trains(const MakeSession& make) {
  Graph g;
  g.set_random_seed(7);
  Output x = g.placeholder(float32, {kUnknown, 12, 12, 3}), y = g.placeholder(int64, {kUnknown});
  Variable filter = g.variable("filter", truncated_normal(g, {3, 3, 3, 8}) * 0.1f);
  Variable bias = g.variable("b", zeros(g, {8}));
  Variable scale = g.variable("scale", ones(g, {8})), offset = g.variable("offset", zeros(g, {8}));
  Output h = nn::relu(nn::conv2d(x, filter, {.padding = "SAME"}) + bias);
  h = nn::max_pool(nn::fused_batch_norm(h, scale, offset).y);
  h = nn::dropout(reshape(h, {-1, 6 * 6 * 8}), 0.5f);
  Variable weights = g.variable("weights", truncated_normal(g, {6 * 6 * 8, 10}) * 0.1f);
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, matmul(h, weights)));
  Operation train = train::Adam(1e-3f).minimize(loss);
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int64_t batch : {8, 8, 5}) {
    std::vector<Tensor> fetched =
        s->run(std::vector<Output>{loss}, {{x, numbers({batch, 12, 12, 3})}, {y, counted({batch}, 10)}}, {train});
    results.push_back(fetched[0]);
  }
  results.push_back(s->run(weights));
  results.push_back(s->run(scale));
  return results;
}

// The network of the MNIST tutorial, whole: trained, tested and summarised.
std::vector<Tensor> the_mnist_program_trains(const MakeSession& make) {
  Graph g;
  g.set_random_seed(5);
  auto convolution = [&](const Output& x, int64_t filters) {
    Variable w = g.variable("weights", truncated_normal(g, {5, 5, x.shape()[3], filters}, {.stddev = 0.1f}));
    return nn::max_pool(nn::relu(nn::bias_add(nn::conv2d(x, w), g.variable("biases", fill(g, {filters}, 0.1f)))));
  };
  auto dense = [&](const Output& x, int64_t units) {
    Variable w = g.variable("weights", truncated_normal(g, {x.shape()[1], units}, {.stddev = 0.1f}));
    return matmul(x, w) + g.variable("biases", fill(g, {units}, 0.1f));
  };
  Output images = g.placeholder(float32, {kUnknown, 784}), labels = g.placeholder(int64, {kUnknown});
  Output keep = g.placeholder(float32, {});
  Output h = convolution(convolution(reshape(images, {-1, 28, 28, 1}), 8), 16);
  h = nn::relu(dense(reshape(h, {-1, 7 * 7 * 16}), 64));
  Output logits = dense(nn::dropout(h, keep), 10);
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
  Output accuracy = reduce_mean(cast(equal(argmax(logits, 1), labels), float32));
  Variable step = g.variable("global_step", Tensor(int64_t{0}), {.trainable = false});
  Operation train = train::Adam(1e-4f).minimize(loss, {.global_step = step});
  summary::scalar("loss", loss);
  summary::histogram("logits", logits);
  Output summaries = summary::merge_all(g);
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int64_t batch : {8, 8, 3}) {
    const std::vector<Feed> feeds = {{images, numbers({batch, 784})}, {labels, counted({batch}, 10)}, {keep, 0.5f}};
    EXPECT_FALSE(s->run(summaries, feeds).data<std::string>()[0].empty());
    results.push_back(s->run(std::vector<Output>{loss}, feeds, {train})[0]);
  }
  results.push_back(s->run(accuracy, {{images, numbers({20, 784}, 1)}, {labels, counted({20}, 10)}, {keep, 1.f}}));
  results.push_back(s->run(step));
  return results;
}

// An encoder and a decoder with gated units, unrolled over the symbols.
std::vector<Tensor> a_sequence_to_sequence_program_trains(const MakeSession& make) {
  constexpr int64_t kLength = 4, kSymbols = 7, kUnits = 12, kBatch = 6;
  Graph g;
  g.set_random_seed(9);
  auto weights = [&](const Shape& shape) {
    return g.variable("weights", truncated_normal(g, shape, {.stddev = 0.1f}));
  };
  auto cell = [&] {
    Variable gates = weights({2 * kUnits, 2 * kUnits}), candidate = weights({2 * kUnits, kUnits});
    Variable gate_biases = g.variable("biases", fill(g, {2 * kUnits}, 1.f)),
             biases = g.variable("biases", fill(g, {kUnits}, 0.f));
    return [=](const Output& x, const Output& state) {
      std::vector<Output> gate = split(sigmoid(matmul(concat({x, state}, 1), gates) + gate_biases), 2, 1);
      Output next = tanh(matmul(concat({x, gate[0] * state}, 1), candidate) + biases);
      return gate[1] * state + (1.f - gate[1]) * next;
    };
  };
  Variable in_table = weights({kSymbols, kUnits}), out_table = weights({kSymbols, kUnits});
  auto encoder = cell(), decoder = cell();
  Variable out = weights({kUnits, kSymbols});
  std::vector<Feed> feeds;
  std::vector<Output> inputs, losses;
  for (int64_t t = 0; t < kLength; ++t) {
    inputs.push_back(g.placeholder(int64, {kUnknown}));
    feeds.push_back({inputs.back(), counted({kBatch}, kSymbols, t + 2)});
  }
  Output state = fill(g, {kBatch, kUnits}, 0.f);
  for (const Output& input : inputs) state = encoder(nn::embedding_lookup({in_table}, input), state);
  for (size_t t = 0; t < inputs.size(); ++t) {
    state = decoder(nn::embedding_lookup({out_table}, t ? inputs[t - 1] : zeros_like(inputs[0])), state);
    losses.push_back(nn::sparse_softmax_cross_entropy_with_logits(inputs[t], matmul(state, out)));
  }
  Output loss = reduce_mean(add_n(losses));
  Operation train = train::Momentum(0.05f, 0.9f).minimize(loss);
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) results.push_back(s->run(std::vector<Output>{loss}, feeds, {train})[0]);
  results.push_back(s->run(in_table));
  return results;
}

// What a list holds follows the list from memory to memory, forwards and backwards.
std::vector<Tensor> lists_are_copied(const MakeSession& make) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3});
  auto push = [](const Output& list, const Output& element) {
    return NodeBuilder("TensorListPushBack").input(list).input(element).output();
  };
  auto stack = [](const Output& list) {
    return NodeBuilder("TensorListStack").input(list).input(-1).attr("element_dtype", float32).output();
  };
  Output constant = NodeBuilder("TensorListFromTensor").input(g.constant(numbers({2, 3}))).input(-1).output();
  Output here, there, list;
  {
    Scope scope = g.device("/gpu:0");
    Output rows = NodeBuilder("TensorListFromTensor").input(tanh(x)).input(-1).output();
    list = push(push(rows, gather(x, 0)), gather(x, 1));
    there = stack(push(constant, gather(x, 0)));
  }
  {
    Scope scope = g.device("/cpu:0");
    here = stack(push(list, gather(x, 1) * 2.f)) * 3.f;
  }
  Output again;
  {
    Scope scope = g.device("/gpu:0");
    again = stack(push(NodeBuilder("TensorListFromTensor").input(here).input(-1).output(), gather(x, 0)));
  }
  Output dx = gradients({reduce_sum(square(again)) + reduce_sum(there)}, {x})[0].dense();
  auto s = make(g);
  std::vector<Tensor> results;
  for (int64_t rows : {2, 4}) {
    for (const Tensor& t : s->run({here, there, again, dx}, {{x, numbers({rows, 3})}})) results.push_back(t);
  }
  return results;
}

std::vector<Tensor> branches_and_loops_and_their_gradients(const MakeSession& make) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {3}), n = g.placeholder(int32, {});
  Variable v = g.variable("v", ones(g, {3}));
  Output chosen = cond(
      p, [&] { return x * v * 2.f; }, [&] { return x + v; });
  Output passed = cond(
      p, [&] { return x; }, [&] { return g.constant(numbers({3})); });
  std::vector<Output> loop = while_loop([&](const std::vector<Output>& l) { return l[0] < n; },
                                        [&](const std::vector<Output>& l) {
                                          return std::vector<Output>{l[0] + 1, tanh(l[1] * v) + x};
                                        },
                                        {g.constant(0), chosen});
  std::vector<Output> grads;
  for (const Gradient& grad : gradients({reduce_sum(loop[1]) + reduce_sum(passed)}, {x, Output(v)})) {
    grads.push_back(grad.dense());
  }
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (bool predicate : {true, false}) {
    for (int32_t count : {0, 3, 5}) {
      for (const Tensor& t : s->run({chosen, passed, loop[0], loop[1], grads[0], grads[1]},
                                    {{p, predicate}, {x, numbers({3})}, {n, count}})) {
        results.push_back(t);
      }
    }
  }
  return results;
}

// A recurrent network over a sequence whose length only the run knows, with rows of an embedding, trained by sparse
// updates.
std::vector<Tensor> a_recurrent_network_with_an_embedding_trains(const MakeSession& make) {
  Graph g;
  g.set_random_seed(3);
  Output words = g.placeholder(int64, {kUnknown, 4});  // [time, batch]
  Variable table = g.variable("table", truncated_normal(g, {50, 6}));
  Variable w = g.variable("w", truncated_normal(g, {12, 6}) * 0.3f);
  Output embedded = nn::embedding_lookup({Output(table)}, words);  // [time, batch, 6]
  Output steps = gather(shape(words), 0);
  std::vector<Output> loop = while_loop([&](const std::vector<Output>& l) { return l[0] < steps; },
                                        [&](const std::vector<Output>& l) {
                                          Output in = gather(embedded, l[0]);
                                          return std::vector<Output>{l[0] + 1, tanh(matmul(concat({in, l[1]}, 1), w))};
                                        },
                                        {g.constant(0), zeros(g, {4, 6})});
  Output loss = reduce_mean(square(loop[1] - 0.5f));
  Operation train = train::Adagrad(0.1f).minimize(loss);
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int64_t time : {3, 5, 3, 5}) {
    results.push_back(s->run(std::vector<Output>{loss}, {{words, counted({time, 4}, 50, 7)}}, {train})[0]);
  }
  results.push_back(s->run(table));
  return results;
}

std::vector<Tensor> shapes_that_only_the_run_knows(const MakeSession& make) {
  Graph g;
  Output x = g.placeholder(float32), ids = g.placeholder(int64, {kUnknown});
  Output rows = gather(x, unique(ids).y);
  Output flat = reshape(rows, stack({gather(shape(x), 1) * 0 - 1, g.constant(2)}, 0));
  Output chosen = boolean_mask(flat, reduce_sum(flat, {1}) > 0.f);
  auto s = make(g);
  std::vector<Tensor> results;
  for (int64_t size : {6, 9}) {
    for (const Tensor& t : s->run({rows, flat, chosen, shape(chosen), pad(flat, {{1, 0}, {0, 1}})},
                                  {{x, numbers({12, 4})}, {ids, counted({size}, 12, 5)}})) {
      results.push_back(t);
    }
  }
  return results;
}

// Rows of a table that come twice are summed before Adam sees them: Unique stands beside the variable.
std::vector<Tensor> an_embedding_trains_by_adam(const MakeSession& make) {
  Graph g;
  Output ids = g.placeholder(int32, {kUnknown});
  Variable table;
  Operation train;
  Output loss;
  {
    Scope scope = g.device("/gpu:0");
    table = g.variable("table", g.constant(numbers({20, 4})));
    loss = reduce_sum(square(nn::embedding_lookup({Output(table)}, ids)));
    train = train::Adam(0.01f).minimize(loss);
  }
  Output ready = is_variable_initialized(table);
  auto s = make(g);
  s->run(g.global_variables_initializer());
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i) {
    results.push_back(s->run(std::vector<Output>{loss}, {{ids, std::vector<int32_t>{1, 7, 1, i}}}, {train})[0]);
    results.push_back(s->run(ready));
  }
  results.push_back(s->run(table));
  return results;
}

}  // namespace

std::vector<DeviceProgram> device_programs() {
  return {
      {"ArithmeticAndConstants", arithmetic_and_constants},
      {"AConvolutionalNetworkTrains", a_convolutional_network_trains},
      {"TheMnistProgramTrains", the_mnist_program_trains},
      {"ASequenceToSequenceProgramTrains", a_sequence_to_sequence_program_trains},
      {"ListsAreCopied", lists_are_copied},
      {"BranchesAndLoopsAndTheirGradients", branches_and_loops_and_their_gradients},
      {"ARecurrentNetworkWithAnEmbeddingTrains", a_recurrent_network_with_an_embedding_trains},
      {"AnEmbeddingTrainsByAdam", an_embedding_trains_by_adam},
      {"ShapesThatOnlyTheRunKnows", shapes_that_only_the_run_knows},
  };
}

}  // namespace weir::testing
