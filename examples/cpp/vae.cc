// A variational autoencoder on MNIST: pictures as points of a small space from which new ones are drawn.
//
//   vae [folder of the MNIST files] [steps] [picture of drawn digits, .pgm]

#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "data/batches.h"
#include "data/mnist.h"
#include "models/pictures.h"

using namespace weir;

constexpr int64_t kLatent = 8, kHidden = 256, kBatch = 100;

Output dense(const Output& x, int64_t units, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  return nn::bias_add(matmul(x, g.get_variable("kernel", {x.shape()[1], units})),
                      g.get_variable("bias", {units}, {.initializer = zeros_initializer()}));
}

Output decoder(const Output& z) {
  auto scope = z.graph().variable_scope("decoder", {.reuse = kAutoReuse});
  return dense(nn::relu(dense(z, kHidden, "hidden")), 784, "picture");
}

void run(const std::string& folder, int steps, const char* picture) {
  data::Mnist mnist = data::read_mnist(folder);
  data::Batches batches(mnist.train.images, data::one_hot(mnist.train.labels, 10), 1);

  Graph g;
  g.set_random_seed(1);
  Output x = g.placeholder(float32, {kUnknown, 784}), mean, log_variance;
  {
    auto scope = g.variable_scope("encoder");
    Output encoded = nn::relu(dense(x, kHidden, "hidden"));
    mean = dense(encoded, kLatent, "mean");
    log_variance = dense(encoded, kLatent, "log_variance");
  }
  Output z = mean + exp(0.5f * log_variance) * random_normal(g, shape(mean));
  Output pixels = nn::sigmoid_cross_entropy_with_logits(x, decoder(z));
  Output reconstruction = reduce_mean(reduce_sum(pixels, {1}));
  Output divergence = reduce_mean(-0.5f * reduce_sum(1.f + log_variance - square(mean) - exp(log_variance), {1}));
  Operation train = train::Adam(1e-3f).minimize(reconstruction + divergence);
  Output drawn = sigmoid(decoder(random_normal(g, {16, kLatent})));

  Session session(g);
  session.run(g.global_variables_initializer());
  Output test = slice(g.constant(mnist.test.images), {0, 0}, {1000, -1});
  const Tensor test_images = session.run(test);
  for (int step = 1; step <= steps; ++step) {
    session.run(train, {{x, batches.next(kBatch).images}});
    if (step % 500 != 0 && step != steps) continue;
    auto [r, d] = session.run({reconstruction, divergence}, {{x, test_images}});
    std::printf("step %d  reconstruction %.1f  divergence %.1f\n", step, static_cast<double>(r.scalar<float>()),
                static_cast<double>(d.scalar<float>()));
  }
  if (picture) examples::write_digits(picture, session.run(drawn));
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "data/mnist", argc > 2 ? std::atoi(argv[2]) : 2000, argc > 3 ? argv[3] : nullptr);
  } catch (const Error& e) {
    std::fprintf(stderr, "vae: %s\n", e.what());
    return 1;
  }
}
