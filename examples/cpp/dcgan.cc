// A generative adversarial network of convolutions on MNIST (Radford et al., 2015): one network draws digits, another
// tells them from real ones.
//
//   dcgan [folder of the MNIST files] [steps] [picture of drawn digits, .pgm]

#include <weir/weir.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/batches.h"
#include "data/mnist.h"
#include "models/pictures.h"

using namespace weir;

constexpr int64_t kNoise = 64, kBatch = 64, kWidth = 32;

Output dense(const Output& x, int64_t units, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  return nn::bias_add(matmul(x, g.get_variable("kernel", {x.shape()[1], units})),
                      g.get_variable("bias", {units}, {.initializer = zeros_initializer()}));
}

Output normalized(const Output& x, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  const int64_t channels = x.shape()[3];
  Variable gamma = g.get_variable("gamma", {channels}, {.initializer = ones_initializer()});
  Variable beta = g.get_variable("beta", {channels}, {.initializer = zeros_initializer()});
  nn::Moments moments = nn::moments(x, {0, 1, 2});
  return nn::batch_normalization(x, moments.mean, moments.variance, {.offset = In(beta), .scale = In(gamma)});
}

Output convolved(const Output& x, int64_t channels, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  Variable kernel = g.get_variable("kernel", {5, 5, x.shape()[3], channels});
  return nn::bias_add(nn::conv2d(x, kernel, {.strides = {1, 2, 2, 1}, .padding = "SAME"}),
                      g.get_variable("bias", {channels}, {.initializer = zeros_initializer()}));
}

// A picture twice as large.
Output enlarged(const Output& x, int64_t channels, const std::string& name) {
  Graph& g = x.graph();
  auto scope = g.variable_scope(name);
  const int64_t side = 2 * x.shape()[1];
  Variable kernel = g.get_variable("kernel", {5, 5, channels, x.shape()[3]});
  Output large =
      nn::conv2d_transpose(x, kernel, {kBatch, side, side, channels}, {.strides = {1, 2, 2, 1}, .padding = "SAME"});
  return nn::bias_add(large, g.get_variable("bias", {channels}, {.initializer = zeros_initializer()}));
}

Output generator(const Output& noise) {
  auto scope = noise.graph().variable_scope("generator");
  Output x = reshape(dense(noise, 7 * 7 * 2 * kWidth, "dense"), {kBatch, 7, 7, 2 * kWidth});
  x = enlarged(nn::relu(normalized(x, "norm1")), kWidth, "conv1");
  return sigmoid(enlarged(nn::relu(normalized(x, "norm2")), 1, "conv2"));
}

Output discriminator(const Output& pictures) {
  auto scope = pictures.graph().variable_scope("discriminator", {.reuse = kAutoReuse});
  Output x = nn::leaky_relu(convolved(pictures, kWidth, "conv1"));
  x = nn::leaky_relu(convolved(x, 2 * kWidth, "conv2"));
  return dense(reshape(x, {-1, 7 * 7 * 2 * kWidth}), 1, "logits");
}

Output loss_of(const Output& logits, float label) {
  return reduce_mean(nn::sigmoid_cross_entropy_with_logits(ones_like(logits) * label, logits));
}

// The variables below a scope.
std::vector<Variable> variables_of(Graph& g, const std::string& scope) {
  std::vector<Variable> found;
  for (const Variable& variable : g.trainable_variables()) {
    if (variable.name().starts_with(scope + "/")) found.push_back(variable);
  }
  return found;
}

void run(const std::string& folder, int steps, const char* picture) {
  data::Mnist mnist = data::read_mnist(folder);
  data::Batches batches(mnist.train.images, data::one_hot(mnist.train.labels, 10), 1);

  Graph g;
  g.set_random_seed(1);
  Output real = g.placeholder(float32, {kUnknown, 784});
  Output drawn = generator(random_uniform(g, {kBatch, kNoise}, {.minval = -1.f, .maxval = 1.f}));
  Output real_logits = discriminator(reshape(real, {-1, 28, 28, 1})), drawn_logits = discriminator(drawn);
  Output discriminator_loss = loss_of(real_logits, 0.9f) + loss_of(drawn_logits, 0);  // 0.9: it stays modest
  Output generator_loss = loss_of(drawn_logits, 1);
  train::Adam for_discriminator(2e-4f, {.beta1 = 0.5f}), for_generator(2e-4f, {.beta1 = 0.5f});
  std::vector<Operation> both = {
      for_discriminator.minimize(discriminator_loss, {.var_list = variables_of(g, "discriminator")}),
      for_generator.minimize(generator_loss, {.var_list = variables_of(g, "generator")})};
  Operation train = g.group(both);

  Session session(g);
  session.run(g.global_variables_initializer());
  for (int step = 1; step <= steps; ++step) {
    auto [d, generated] =
        session.run({discriminator_loss, generator_loss}, {{real, batches.next(kBatch).images}}, {train});
    if (step % 100 == 0 || step == steps) {
      std::printf("step %d  discriminator %.3f  generator %.3f\n", step, static_cast<double>(d.scalar<float>()),
                  static_cast<double>(generated.scalar<float>()));
    }
  }
  auto [low, high, pictures] = session.run({reduce_min(drawn), reduce_max(drawn), drawn});
  std::printf("drawn pixels lie between %.2f and %.2f\n", static_cast<double>(low.scalar<float>()),
              static_cast<double>(high.scalar<float>()));
  if (picture) examples::write_digits(picture, pictures);
}

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "data/mnist", argc > 2 ? std::atoi(argv[2]) : 1000, argc > 3 ? argv[3] : nullptr);
  } catch (const Error& e) {
    std::fprintf(stderr, "dcgan: %s\n", e.what());
    return 1;
  }
}
