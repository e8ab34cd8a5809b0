// What it costs to make plans: ResNet-50's training step, and a small network that sees a new batch size every time.
//
//   bench_plans [--batch N] [resnet50 | mlp | varying ...]
//
// One line each: how large the plan is, what making it takes for a node, what fitting it to another batch size takes
// for a step, and the first runs. With a stopped token a run ends as soon as its plan is there. `varying` is the
// small network with 200 batch sizes in turn, beside runs of their mean size.

#include <weir/weir.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

using namespace weir;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Model {
  Output loss;
  Operation train;
  std::function<std::vector<Feed>(int64_t)> feeds;  // of a batch size
};

Variable weights(Graph& g, const Shape& shape, float stddev = 0.05f) {
  return g.variable("weights", truncated_normal(g, shape, {.stddev = stddev}));
}

Output conv(const Output& x, int64_t size, int64_t channels, int64_t stride = 1) {
  Variable filter = weights(x.graph(), {size, size, x.shape()[-1], channels});
  return nn::conv2d(x, filter, {.strides = {1, stride, stride, 1}, .padding = "SAME"});
}

Output batch_norm(const Output& x) {
  Graph& g = x.graph();
  const int64_t channels = x.shape()[-1];
  Variable scale = g.variable("scale", ones(g, {channels})), offset = g.variable("offset", zeros(g, {channels}));
  return nn::fused_batch_norm(x, scale, offset).y;
}

Output residual(const Output& x, int64_t width, int64_t stride, bool first) {
  Output shortcut = first ? batch_norm(conv(x, 1, 4 * width, stride)) : x;
  Output y = nn::relu(batch_norm(conv(x, 1, width)));
  y = nn::relu(batch_norm(conv(y, 3, width, stride)));
  return nn::relu(batch_norm(conv(y, 1, 4 * width)) + shortcut);
}

// The training step of resnet50_train in models_tensorflow.py.
Model resnet50(Graph& g) {
  Output x = g.placeholder(float32, {kUnknown, 224, 224, 3}), y = g.placeholder(int64, {kUnknown});
  Output h = nn::relu(batch_norm(conv(x, 7, 64, 2)));
  h = nn::max_pool(h, {.ksize = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  struct Stage {
    int blocks;
    int64_t width, stride;
  };
  for (const Stage& stage : {Stage{3, 64, 1}, Stage{4, 128, 2}, Stage{6, 256, 2}, Stage{3, 512, 2}}) {
    for (int b = 0; b < stage.blocks; ++b) h = residual(h, stage.width, b == 0 ? stage.stride : 1, b == 0);
  }
  Variable biases = g.variable("biases", zeros(g, {1000}));
  Output logits = matmul(reduce_mean(h, {.axes = {1, 2}}), weights(g, {2048, 1000}, 0.01f)) + biases;
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  Operation train = train::Momentum(0.1f, 0.9f).minimize(loss);
  return {loss, train, [=](int64_t n) {
            return std::vector<Feed>{{x, Tensor::zeros(float32, {n, 224, 224, 3})}, {y, Tensor::zeros(int64, {n})}};
          }};
}

// The network of varying_batches in models_tensorflow.py.
Model mlp(Graph& g) {
  Output x = g.placeholder(float32, {kUnknown, 784}), y = g.placeholder(int64, {kUnknown});
  Variable b1 = g.variable("b", zeros(g, {200})), b2 = g.variable("b", zeros(g, {10}));
  Output h = nn::relu(matmul(x, weights(g, {784, 200})) + b1);
  Output logits = matmul(h, weights(g, {200, 10})) + b2;
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  Operation train = train::Adam(1e-3f).minimize(loss);
  return {loss, train, [=](int64_t n) {
            return std::vector<Feed>{{x, Tensor::zeros(float32, {n, 784})}, {y, Tensor::zeros(int64, {n})}};
          }};
}

// Seconds until the plan is there.
double plan(Session& session, const Model& model, const std::vector<Feed>& feeds) {
  std::stop_source stopped;
  stopped.request_stop();
  const double begin = now();
  try {
    session.run(model.loss, feeds, {model.train}, {.stop = stopped.get_token()});
  } catch (const Error& e) {
    if (e.code() != Code::Cancelled) throw;
  }
  return now() - begin;
}

void measure(const std::string& name, Model (*build)(Graph&), int64_t batch) {
  Graph g;
  const Model model = build(g);
  const std::vector<Feed> feeds = model.feeds(batch);
  const int rounds = 5;
  double make = 1e9, fit = 1e9;
  for (int round = 0; round < rounds; ++round) {
    Session session(g, {.intra_op_parallelism_threads = 2});
    make = std::min(make, plan(session, model, feeds));
    for (int64_t other = 1; other < 4; ++other) fit = std::min(fit, plan(session, model, model.feeds(batch + other)));
  }
  Session session(g, {.intra_op_parallelism_threads = 2});
  session.run(g.global_variables_initializer());
  double runs[3];
  for (double& seconds : runs) {
    const double begin = now();
    session.run(model.loss, feeds, {model.train});
    seconds = now() - begin;
  }
  RunTrace trace;
  session.run(model.loss, feeds, {model.train}, {.trace = &trace});
  const auto nodes = static_cast<double>(g.operations().size()), steps = static_cast<double>(trace.events.size());
  std::printf(
      "%-10s %5.0f nodes, %5.0f steps, arena %7.1f MB | plan %8.0f us, %6.2f us a node | fit %8.0f us, %6.2f us a step "
      "| runs %8.0f %8.0f %8.0f us\n",
      name.c_str(), nodes, steps, static_cast<double>(trace.arena_bytes) / 1e6, 1e6 * make, 1e6 * make / nodes,
      1e6 * fit, 1e6 * fit / steps, 1e6 * runs[0], 1e6 * runs[1], 1e6 * runs[2]);
  std::fflush(stdout);
}

void varying() {
  constexpr int kSizes = 200, kTurns = 5;
  Graph g;
  const Model model = mlp(g);
  Session session(g, {.intra_op_parallelism_threads = 2});
  session.run(g.global_variables_initializer());
  std::vector<std::vector<Feed>> batches;
  for (int i = 0; i < kSizes; ++i) batches.push_back(model.feeds(16 + (i * 77) % kSizes));
  const std::vector<Feed> mean = model.feeds(16 + kSizes / 2);
  auto microseconds = [&](const auto& feeds_of) {
    const double begin = now();
    for (int i = 0; i < kSizes; ++i) session.run(model.loss, feeds_of(i), {model.train});
    return 1e6 * (now() - begin) / kSizes;
  };
  double first = 0, again = 1e9, same = 1e9;
  for (int turn = 0; turn <= kTurns; ++turn) {
    const double took =
        microseconds([&](int i) -> const std::vector<Feed>& { return batches[static_cast<size_t>(i)]; });
    (turn == 0 ? first : again) = turn == 0 ? took : std::min(again, took);
    same = std::min(same, microseconds([&](int) -> const std::vector<Feed>& { return mean; }));
  }
  std::printf("%-10s %d sizes in turn: %7.0f us a run at first, %7.0f us later; one size: %7.0f us\n", "varying",
              kSizes, first, again, same);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Model (*)(Graph&)> models = {{"resnet50", resnet50}, {"mlp", mlp}};
  int64_t batch = 8;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--batch") == 0 && i + 1 < argc) {
      batch = std::atoll(argv[++i]);
    } else if (models.count(argv[i]) || std::strcmp(argv[i], "varying") == 0) {
      names.emplace_back(argv[i]);
    } else {
      std::fprintf(stderr, "usage: bench_plans [--batch N] [resnet50 | mlp | varying ...]\n");
      return 2;
    }
  }
  if (names.empty()) names = {"resnet50", "mlp", "varying"};
  for (const std::string& name : names) {
    if (name == "varying") {
      varying();
    } else {
      measure(name, models.at(name), batch);
    }
  }
}
