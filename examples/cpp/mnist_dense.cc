// A fully connected network on MNIST with histograms of weights, biases and activations for TensorBoard.
//
//   mnist_dense [folder of the MNIST files] [folder for the events]

#include <weir/weir.h>

#include <cstdio>
#include <optional>
#include <string>

#include "data/batches.h"
#include "data/mnist.h"

using namespace weir;

// inputs * W + b, with summaries of everything.
Output layer(Output inputs, int64_t size, const std::string& name, bool relu) {
  Graph& g = inputs.graph();
  auto scope = g.name_scope(name);
  Variable weights, biases;
  {
    auto inner = g.name_scope("weights");
    weights = g.variable("W", truncated_normal(g, {inputs.shape()[1], size}, {.stddev = 0.1f}));
    summary::histogram("histogram", weights);
  }
  {
    auto inner = g.name_scope("biases");
    biases = g.variable("b", fill(g, {size}, 0.1f));
    summary::histogram("histogram", biases);
  }
  Output outputs = matmul(inputs, weights) + biases;
  if (relu) outputs = nn::relu(outputs);
  summary::histogram("activations", outputs);
  return outputs;
}

void train_dense(const std::string& folder, const char* events_folder) {
  data::Mnist mnist = data::read_mnist(folder);
  data::Batches batches(mnist.train.images, data::one_hot(mnist.train.labels, 10), 1);

  Graph g;
  g.set_random_seed(1);
  Output x = g.placeholder(float32, {kUnknown, 784}, "inputs/x");
  Output y = g.placeholder(float32, {kUnknown, 10}, "inputs/y");
  Output hidden = layer(x, 128, "hidden", true);
  Output logits = layer(hidden, 10, "output", false);
  Output loss = reduce_mean(nn::softmax_cross_entropy_with_logits(y, logits));
  summary::scalar("loss", loss);
  Operation train = train::Adam(1e-3f).minimize(loss);
  Output accuracy = reduce_mean(cast(equal(argmax(logits, 1), argmax(y, 1)), float32));
  summary::scalar("accuracy", accuracy);
  Output summaries = summary::merge_all(g);

  Session session(g);
  session.run(g.global_variables_initializer());
  std::optional<summary::FileWriter> events;
  if (events_folder) events.emplace(events_folder, g);
  const Tensor test_labels = data::one_hot(mnist.test.labels, 10);
  for (int step = 1; step <= 300; ++step) {
    data::Batches::Batch batch = batches.next(100);
    session.run(train, {{x, batch.images}, {y, batch.labels}});
    if (step % 100 != 0) continue;
    auto [s, value] = session.run({summaries, accuracy}, {{x, mnist.test.images}, {y, test_labels}});
    std::printf("step %d  accuracy %.2f\n", step, static_cast<double>(value.scalar<float>()));
    if (events) events->add(s, step - 1);
  }
  if (events) events->close();
}

int main(int argc, char** argv) {
  if (argc > 3) {
    std::fprintf(stderr, "usage: mnist_dense [folder of the MNIST files] [folder for the events]\n");
    return 2;
  }
  try {
    train_dense(argc > 1 ? argv[1] : "data/mnist", argc > 2 ? argv[2] : nullptr);
  } catch (const Error& e) {
    std::fprintf(stderr, "mnist_dense: %s\n", e.what());
    return 1;
  }
}
