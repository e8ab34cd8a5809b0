// Softmax regression on MNIST: one layer, gradient descent.
//
//   logistic [folder of the MNIST files]

#include <weir/weir.h>

#include <cstdio>
#include <string>

#include "data/batches.h"
#include "data/mnist.h"

using namespace weir;

void train_logistic(const std::string& folder) {
  data::Mnist mnist = data::read_mnist(folder);
  data::Batches batches(mnist.train.images, data::one_hot(mnist.train.labels, 10), 1);

  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 784});
  Output y = g.placeholder(float32, {kUnknown, 10});
  Variable weights = g.variable("weights", zeros(g, {784, 10}));
  Variable biases = g.variable("biases", zeros(g, {10}));
  Output prediction = nn::softmax(matmul(x, weights) + biases);
  Output cost = reduce_mean(-reduce_sum(y * log(prediction + 1e-10f), {.axes = {1}}));
  Operation train = train::GradientDescent(0.5f).minimize(cost);
  Output correct = equal(argmax(prediction, 1), argmax(y, 1));
  Output accuracy = reduce_mean(cast(correct, float32));

  Session session(g);
  session.run(g.global_variables_initializer());
  for (int step = 1; step <= 300; ++step) {
    data::Batches::Batch batch = batches.next(100);
    Tensor c = session.run(cost, {{x, batch.images}, {y, batch.labels}}, {train});
    if (step % 100 == 0) std::printf("step %d  cost %.3f\n", step, static_cast<double>(c.scalar<float>()));
  }
  Tensor value = session.run(accuracy, {{x, mnist.test.images}, {y, data::one_hot(mnist.test.labels, 10)}});
  std::printf("accuracy %.3f\n", static_cast<double>(value.scalar<float>()));
}

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: logistic [folder of the MNIST files]\n");
    return 2;
  }
  try {
    train_logistic(argc > 1 ? argv[1] : "data/mnist");
  } catch (const Error& e) {
    std::fprintf(stderr, "logistic: %s\n", e.what());
    return 1;
  }
}
