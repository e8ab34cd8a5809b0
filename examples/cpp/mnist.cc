// Trains the convolutional network of TensorFlow's MNIST tutorial; the model is in models/mnist.cc.
//
//   mnist [--data DIR] [--steps N] [--batch N] [--seed N] [--train_dir DIR]

#include <cstdio>

#include "models/flags.h"
#include "models/mnist.h"
#include "models/progress.h"

using namespace weir;

int main(int argc, char** argv) {
  examples::TrainingOptions options{.data_dir = "data/mnist", .batch_size = 50};
  int64_t steps = 1200;
  try {
    const std::vector<std::string> rest =
        examples::parse_flags(std::vector<std::string>(argv + 1, argv + argc), {{"--data", &options.data_dir},
                                                                                {"--steps", &steps},
                                                                                {"--batch", &options.batch_size},
                                                                                {"--seed", &options.seed},
                                                                                {"--train_dir", &options.train_dir}});
    if (!rest.empty()) throw examples::FlagError("no argument is taken: " + rest[0]);
    examples::MnistTraining training(options);
    examples::Progress progress(training.step(), steps, training.batch_size());
    while (training.step() < steps && !training.should_stop()) {
      const float loss = training.run_step();
      progress.step_done(training.step(), loss);
    }
    progress.finish();
    training.save();
    std::printf("%lld steps in %.1f s\n", static_cast<long long>(steps), progress.seconds());
    std::printf("test accuracy %.4f\n", training.test_accuracy());
  } catch (const examples::FlagError& e) {
    std::fprintf(stderr, "mnist: %s\nusage: mnist [--data DIR] [--steps N] [--batch N] [--seed N] [--train_dir DIR]\n",
                 e.what());
    return 2;
  } catch (const Error& e) {
    std::fprintf(stderr, "mnist: %s\n", e.what());
    return 1;
  }
}
