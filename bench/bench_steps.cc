// The benchmark's workloads on Weir: one JSON line each, in the form that compare.py reads.
//
//   bench_steps [--callable] [--threads N] [--direct] [--profile] [--trace FILE] workload ...
//
// Workloads: tiny, seq2seq, mnist_mlp, mnist_cnn, matpow, cifar10, loop. --profile prints the table of a step instead
// of its time,
// --trace writes one for chrome://tracing, --direct does without Winograd's method.

#include <weir/weir.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "data/batches.h"

using namespace weir;

namespace {

struct Options {
  bool callable = false, direct = false, profile = false;
  int threads = 0;
  std::string trace;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Warms up, then times blocks of steps; prints the median and the best block as microseconds a step.
void report(const std::string& workload, const std::function<void()>& step, double seconds = 6.0) {
  double begin = now();
  do step();
  while (now() - begin < 1.5);
  begin = now();
  step();
  double one = std::max(1e-7, now() - begin);
  int block = std::max(1, static_cast<int>(0.05 / one));
  std::vector<double> times;
  for (double end = now() + seconds; now() < end || times.size() < 5;) {
    begin = now();
    for (int i = 0; i < block; ++i) step();
    times.push_back((now() - begin) / block);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"system\": \"weir\", \"workload\": \"%s\", \"median_us\": %.2f, \"best_us\": %.2f}\n",
              workload.c_str(), 1e6 * times[times.size() / 2], 1e6 * times.front());
  std::fflush(stdout);
}

Tensor uniform(const Shape& shape, float offset = 0, float scale = 1) {
  Tensor t(float32, shape);
  std::mt19937 generator(0);
  std::uniform_real_distribution<float> distribution(0, 1);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = (distribution(generator) + offset) * scale;
  return t;
}

Tensor class_labels(int64_t count) {
  Tensor t(int64, {count});
  std::mt19937 generator(1);
  for (int64_t i = 0; i < count; ++i) t.mutable_data<int64_t>()[i] = generator() % 10;
  return t;
}

Variable weights(Graph& g, const Shape& shape, float stddev) {
  return g.variable("weights", truncated_normal(g, shape, {.stddev = stddev}));
}
Variable biases(Graph& g, int64_t size, float value) { return g.variable("biases", fill(g, {size}, value)); }

// Runs a training step again and again, as the peers do: feeds, the loss fetched, one update.
void timed(const std::string& workload, Graph& g, const Output& fetch, const Operation& train,
           const std::vector<Feed>& feeds, const Options& options) {
  Session session(g, {.intra_op_parallelism_threads = options.threads, .direct_convolutions = options.direct});
  session.run(g.global_variables_initializer());
  std::vector<Operation> targets;
  if (train) targets.push_back(train);
  if (options.profile || !options.trace.empty()) {
    RunTrace best;
    for (int i = 0; i < 20; ++i) {  // the quickest was disturbed least
      RunTrace trace;
      session.run(fetch, feeds, targets, {.trace = &trace});
      if (i == 0 || trace.events.back().end_ns < best.events.back().end_ns) best = std::move(trace);
    }
    if (!options.trace.empty()) std::ofstream(options.trace) << best.chrome_trace();
    if (options.profile) {
      std::printf("%s\n%s", workload.c_str(), best.table().c_str());
      return;
    }
  }
  if (options.callable) {
    CallableSpec spec{.fetches = {fetch}, .targets = targets};
    std::vector<Tensor> values;
    for (const Feed& feed : feeds) {
      spec.feeds.push_back(feed.output);
      values.push_back(feed.value);
    }
    auto step = session.make_callable(spec);
    Tensor result;
    report(workload, [&] { step.call(values, {&result, 1}); });
  } else {
    report(workload, [&] { session.run(fetch, feeds, targets); });
  }
}

void tiny(const Options& options) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown}), y = g.placeholder(float32, {kUnknown});
  Variable w = g.variable("w", 0.5f);
  Output cost = reduce_mean(square(w * x - y));
  Operation train = train::GradientDescent(0.1f).minimize(cost);
  Tensor xs(float32, {101}), ys(float32, {101});
  for (int i = 0; i < 101; ++i) {
    xs.mutable_data<float>()[i] = -1 + 0.02f * static_cast<float>(i);
    ys.mutable_data<float>()[i] = 2 * xs.mutable_data<float>()[i];
  }
  timed("tiny", g, cost, train, {{x, xs}, {y, ys}}, options);
}

// A GRU encoder and decoder, unrolled: 5 symbols of 7, 100 units, batch 64.
void sequences(const Options& options) {
  constexpr int64_t kLength = 5, kSymbols = 7, kUnits = 100, kBatch = 64;
  Graph g;
  struct Gru {
    Variable gate_weights, gate_biases, weights, biases;

    Output advance(const Output& value, const Output& state) const {
      std::vector<Output> gates = split(sigmoid(matmul(concat({value, state}, 1), gate_weights) + gate_biases), 2, 1);
      Output candidate = tanh(matmul(concat({value, gates[0] * state}, 1), weights) + biases);
      return gates[1] * state + (1.0f - gates[1]) * candidate;
    }
  };
  auto gru = [&] {
    return Gru{weights(g, {2 * kUnits, 2 * kUnits}, 0.1f), ::biases(g, 2 * kUnits, 1),
               weights(g, {2 * kUnits, kUnits}, 0.1f), ::biases(g, kUnits, 0)};
  };
  std::vector<Feed> feeds;
  std::vector<Output> inputs, labels;
  std::mt19937 generator(0);
  for (int64_t t = 0; t < kLength; ++t) {
    Tensor symbols(int32, {kBatch});
    for (int64_t i = 0; i < kBatch; ++i) symbols.mutable_data<int32_t>()[i] = static_cast<int>(generator() % kSymbols);
    inputs.push_back(g.placeholder(int32, {kUnknown}));
    labels.push_back(g.placeholder(int32, {kUnknown}));
    feeds.push_back({inputs.back(), symbols});
    feeds.push_back({labels.back(), symbols});
  }
  Variable encoder_table = weights(g, {kSymbols, kUnits}, 0.1f), decoder_table = weights(g, {kSymbols, kUnits}, 0.1f);
  Gru encoder = gru(), decoder = gru();
  Variable out = weights(g, {kUnits, kSymbols}, 0.1f), bias = biases(g, kSymbols, 0);
  Output state = fill(g, {kBatch, kUnits}, 0.0f);
  for (const Output& input : inputs) state = encoder.advance(nn::embedding_lookup({encoder_table}, input), state);
  std::vector<Output> losses;
  for (int64_t t = 0; t < kLength; ++t) {
    Output input = t ? inputs[t - 1] : zeros_like(inputs[0]);
    state = decoder.advance(nn::embedding_lookup({decoder_table}, input), state);
    losses.push_back(nn::sparse_softmax_cross_entropy_with_logits(labels[t], matmul(state, out) + bias));
  }
  Output loss = reduce_mean(add_n(losses) / static_cast<float>(kLength));
  timed("seq2seq", g, loss, train::Momentum(0.05f, 0.9f).minimize(loss), feeds, options);
}

void mnist_mlp(const Options& options) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 784}), y = g.placeholder(int64, {kUnknown});
  Output h = nn::relu(matmul(x, weights(g, {784, 500}, 0.1f)) + biases(g, 500, 0.1f));
  Output logits = matmul(h, weights(g, {500, 10}, 0.1f)) + biases(g, 10, 0.1f);
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  Operation train = train::Adam(1e-3f).minimize(loss);
  timed("mnist_mlp", g, loss, train, {{x, uniform({100, 784})}, {y, class_labels(100)}}, options);
}

void mnist_cnn(const Options& options) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 784}), y = g.placeholder(float32, {kUnknown, 10});
  Output keep = g.placeholder(float32, {});
  Output h = reshape(x, {-1, 28, 28, 1});
  for (auto [in, out] : {std::pair<int64_t, int64_t>{1, 32}, {32, 64}}) {
    h = nn::relu(nn::conv2d(h, weights(g, {5, 5, in, out}, 0.1f)) + biases(g, out, 0.1f));
    h = nn::max_pool(h);
  }
  h = nn::relu(matmul(reshape(h, {-1, 3136}), weights(g, {3136, 1024}, 0.1f)) + biases(g, 1024, 0.1f));
  Output p = nn::softmax(matmul(nn::dropout(h, keep), weights(g, {1024, 10}, 0.1f)) + biases(g, 10, 0.1f));
  Output loss = -reduce_sum(y * log(clip_by_value(p, 1e-10f, 1.0f)));
  Operation train = train::Adam(1e-4f).minimize(loss);
  Tensor labels = data::one_hot(class_labels(50), 10);
  timed("mnist_cnn", g, loss, train, {{x, uniform({50, 784})}, {y, labels}, {keep, 0.5f}}, options);
}

void cifar10(const Options& options) {
  Graph g;
  Output x = g.placeholder(float32, {128, 24, 24, 3}), y = g.placeholder(int64, {128});
  const nn::PoolOptions pool{.ksize = {1, 3, 3, 1}};
  const nn::LrnOptions norm{.depth_radius = 4, .bias = 1.0f, .alpha = 0.001f / 9.0f, .beta = 0.75f};
  std::vector<Output> losses;
  Output h = nn::relu(nn::bias_add(nn::conv2d(x, weights(g, {5, 5, 3, 64}, 0.05f)), biases(g, 64, 0)));
  h = nn::lrn(nn::max_pool(h, pool), norm);
  h = nn::relu(nn::bias_add(nn::conv2d(h, weights(g, {5, 5, 64, 64}, 0.05f)), biases(g, 64, 0.1f)));
  h = nn::max_pool(nn::lrn(h, norm), pool);
  h = reshape(h, {128, -1});
  for (auto [in, out] : {std::pair<int64_t, int64_t>{2304, 384}, {384, 192}}) {
    Variable w = weights(g, {in, out}, 0.04f);
    losses.push_back(0.004f * nn::l2_loss(w));
    h = nn::relu(matmul(h, w) + biases(g, out, 0.1f));
  }
  Output logits = matmul(h, weights(g, {192, 10}, 1 / 192.0f)) + biases(g, 10, 0);
  Output cross_entropy = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  Output loss = cross_entropy + add_n(losses);
  Operation train = train::GradientDescent(0.1f).minimize(loss);
  timed("cifar10", g, loss, train, {{x, uniform({128, 24, 24, 3}, -0.5f)}, {y, class_labels(128)}}, options);
}

void matpow(const Options& options) {
  Graph g;
  Output a = g.placeholder(float32, {1024, 1024}), b = g.placeholder(float32, {1024, 1024});
  auto power = [](const Output& m) {
    Output r = m;
    for (int i = 0; i < 10; ++i) r = matmul(m, r);
    return r;
  };
  Output total = reduce_sum(add_n({power(a), power(b)}));
  Tensor value = uniform({1024, 1024}, 0, 1 / 512.0f);
  timed("matpow", g, total, {}, {{a, value}, {b, value.copy()}}, options);
}

// What control flow itself costs: ten thousand iterations that count.
void loop(const Options& options) {
  Graph g;
  Output n = g.placeholder(int32, {});
  std::vector<Output> last =
      while_loop([&](const std::vector<Output>& v) { return less(v[0], n); },
                 [](const std::vector<Output>& v) { return std::vector<Output>{v[0] + 1}; }, {g.constant(0)});
  timed("loop", g, last[0], {}, {{n, 10000}}, options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, void (*)(const Options&)>> workloads = {{"tiny", tiny},
                                                                                   {"seq2seq", sequences},
                                                                                   {"mnist_mlp", mnist_mlp},
                                                                                   {"mnist_cnn", mnist_cnn},
                                                                                   {"cifar10", cifar10},
                                                                                   {"matpow", matpow},
                                                                                   {"loop", loop}};
  Options options;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--callable") {
      options.callable = true;
    } else if (argument == "--direct") {
      options.direct = true;
    } else if (argument == "--profile") {
      options.profile = true;
    } else if (argument == "--threads" && i + 1 < argc) {
      options.threads = std::atoi(argv[++i]);
    } else if (argument == "--trace" && i + 1 < argc) {
      options.trace = argv[++i];
    } else {
      names.push_back(argument);
    }
  }
  if (names.empty()) {
    for (const auto& [name, run] : workloads) names.push_back(name);
  }
  try {
    for (const std::string& name : names) {
      auto found = std::find_if(workloads.begin(), workloads.end(), [&](const auto& w) { return w.first == name; });
      if (found == workloads.end()) {
        std::fprintf(stderr, "bench_steps: no workload '%s'; there are", name.c_str());
        for (const auto& [known, run] : workloads) std::fprintf(stderr, " %s", known.c_str());
        std::fputs("\n", stderr);
        return 2;
      }
      found->second(options);
    }
  } catch (const Error& e) {
    std::fprintf(stderr, "bench_steps: %s\n", e.what());
    return 1;
  }
}
