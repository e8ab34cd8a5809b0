// Trains the convolutional network of TensorFlow's MNIST tutorial: two 5x5 convolutions with pooling, 1024 units,
// dropout, Adam.
//
//   mnist [--data DIR] [--steps N] [--batch N] [--seed N]

#include <unistd.h>
#include <weir/weir.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace weir;

namespace {

struct Options {
  std::string data = "data/mnist";
  int64_t steps = 1200;
  int64_t batch = 50;
  int64_t seed = 1;
};

struct Model {
  Output images, labels, keep_prob, loss, accuracy;
  Operation train;
};

Output convolution_and_pool(Output x, int64_t filters, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.name_scope(name);
  Variable weights = g.variable("weights", truncated_normal(g, {5, 5, x.shape()[3], filters}, {.stddev = 0.1f}));
  Variable biases = g.variable("biases", fill(g, {filters}, 0.1f));
  return nn::max_pool(nn::relu(nn::bias_add(nn::conv2d(x, weights), biases)));
}

Output dense(Output x, int64_t units, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.name_scope(name);
  Variable weights = g.variable("weights", truncated_normal(g, {x.shape()[1], units}, {.stddev = 0.1f}));
  Variable biases = g.variable("biases", fill(g, {units}, 0.1f));
  return matmul(x, weights) + biases;
}

Model build(Graph& g) {
  Model m;
  m.images = g.placeholder(float32, {kUnknown, 784}, "images");
  m.labels = g.placeholder(int64, {kUnknown}, "labels");
  m.keep_prob = g.placeholder(float32, {}, "keep_prob");
  Output h = convolution_and_pool(reshape(m.images, {-1, 28, 28, 1}), 32, "conv1");
  h = convolution_and_pool(h, 64, "conv2");
  h = nn::relu(dense(reshape(h, {-1, 7 * 7 * 64}), 1024, "dense"));
  Output logits = dense(nn::dropout(h, m.keep_prob), 10, "logits");
  m.loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(m.labels, logits));
  m.train = train::Adam(1e-4f).minimize(m.loss);
  m.accuracy = reduce_mean(cast(equal(argmax(logits, 1), m.labels), float32));
  return m;
}

// One line that is rewritten on a terminal, and a plain line now and then elsewhere.
class Progress {
 public:
  explicit Progress(const Options& options) : options_(options), terminal_(isatty(STDOUT_FILENO) != 0) {}

  bool wanted(int64_t step) const { return terminal_ ? step % 10 == 0 : step % 100 == 0; }

  void show(int64_t step, float loss, float accuracy) const {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    double rate = static_cast<double>(step * options_.batch) / std::max(seconds, 1e-9);
    double left =
        static_cast<double>(options_.steps - step) * seconds / static_cast<double>(std::max<int64_t>(step, 1));
    std::printf("%sstep %5lld/%lld  loss %.4f  accuracy %.2f  %6.0f images/s  %3.0f s left%s", terminal_ ? "\r" : "",
                static_cast<long long>(step), static_cast<long long>(options_.steps), static_cast<double>(loss),
                static_cast<double>(accuracy), rate, left, terminal_ ? "   " : "\n");
    std::fflush(stdout);
  }

  void finish() const {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    std::printf("%s%lld steps in %.1f s\n", terminal_ ? "\n" : "", static_cast<long long>(options_.steps), seconds);
  }

 private:
  const Options& options_;
  bool terminal_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

float test_accuracy(Session& session, const Model& m, const data::Labelled& test) {
  constexpr int64_t kBatch = 500;
  int64_t count = test.labels.elements();
  double correct = 0;
  for (int64_t at = 0; at < count; at += kBatch) {
    int64_t n = std::min(kBatch, count - at);
    auto images = test.images.data<float>().subspan(static_cast<size_t>(at * 784), static_cast<size_t>(n * 784));
    auto labels = test.labels.data<int64_t>().subspan(static_cast<size_t>(at), static_cast<size_t>(n));
    Tensor accuracy = session.run(
        m.accuracy,
        {{m.images, Tensor::from(images, {n, 784})}, {m.labels, Tensor::from(labels, {n})}, {m.keep_prob, 1.0f}});
    correct += static_cast<double>(accuracy.scalar<float>()) * static_cast<double>(n);
  }
  return static_cast<float>(correct / static_cast<double>(count));
}

void train_mnist(const Options& options) {
  data::Mnist mnist = data::read_mnist(options.data);
  data::Batches batches(mnist.train.images, mnist.train.labels, static_cast<uint64_t>(options.seed));

  Graph g;
  g.set_random_seed(options.seed);
  Model m = build(g);
  Session session(g);
  session.run(g.global_variables_initializer());

  Progress progress(options);
  for (int64_t step = 1; step <= options.steps; ++step) {
    data::Batches::Batch batch = batches.next(options.batch);
    if (progress.wanted(step)) {
      Tensor accuracy =
          session.run(m.accuracy, {{m.images, batch.images}, {m.labels, batch.labels}, {m.keep_prob, 1.0f}});
      Tensor loss =
          session.run(m.loss, {{m.images, batch.images}, {m.labels, batch.labels}, {m.keep_prob, 0.5f}}, {m.train});
      progress.show(step, loss.scalar<float>(), accuracy.scalar<float>());
    } else {
      session.run(m.train, {{m.images, batch.images}, {m.labels, batch.labels}, {m.keep_prob, 0.5f}});
    }
  }
  progress.finish();
  std::printf("test accuracy %.4f\n", static_cast<double>(test_accuracy(session, m, mnist.test)));
}

int usage() {
  std::fputs("usage: mnist [--data DIR] [--steps N] [--batch N] [--seed N]\n", stderr);
  return 2;
}

// A whole number above zero; -1 when the text is none.
int64_t positive_number(const char* text) {
  char* end = nullptr;
  long long value = std::strtoll(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 && value < (1LL << 40) ? value : -1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    if (i + 1 >= argc) return usage();
    int64_t* number = name == "--steps"   ? &options.steps
                      : name == "--batch" ? &options.batch
                      : name == "--seed"  ? &options.seed
                                          : nullptr;
    if (name == "--data") {
      options.data = argv[i + 1];
    } else if (number) {
      *number = positive_number(argv[i + 1]);
      if (*number < 0) return usage();
    } else {
      return usage();
    }
  }
  try {
    train_mnist(options);
  } catch (const Error& e) {
    std::fprintf(stderr, "mnist: %s\n", e.what());
    return 1;
  }
}
