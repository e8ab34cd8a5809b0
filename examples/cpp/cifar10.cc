// Trains the CIFAR-10 network of TensorFlow's tutorial on any number of devices, or tests what was trained. The model
// is in models/cifar10.cc. Training goes on where the last checkpoint of --train_dir stands.

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "models/cifar10.h"
#include "models/flags.h"

using namespace weir;

namespace {

constexpr const char* kUsage =
    "usage: cifar10 [flags]\n\n"
    "  --data_dir DIR          folder of train.tfrecord and test.tfrecord, or of the original binary files "
    "(data/cifar10)\n"
    "  --train_dir DIR         where checkpoints and events go (runs/cifar10)\n"
    "  --steps N               train up to this step (3000)\n"
    "  --batch_size N          pictures a tower and step (128)\n"
    "  --towers N              replicas of the model, on /gpu:0, /gpu:1, ... (1)\n"
    "  --virtual-gpus N        make so many GPUs out of CPU cores (0)\n"
    "  --cpus N                put the towers on so many logical CPUs instead\n"
    "  --seed N                of the weights and the distortions (1)\n"
    "  --checkpoint_every N    steps (1000)\n"
    "  --eval_every N          test after every N steps\n"
    "  --eval                  do not train: test the newest checkpoint of --train_dir\n"
    "  --log_device_placement  say where each node runs\n";

struct Options {
  examples::TrainingOptions training{.data_dir = "data/cifar10", .train_dir = "runs/cifar10", .batch_size = 128};
  int64_t steps = 3000;
  int64_t virtual_gpus = 0, cpus = 0, eval_every = 0;
  bool eval = false, help = false;
};

Options parse(const std::vector<std::string>& words) {
  Options o;
  const std::vector<std::string> rest =
      examples::parse_flags(words, {{"--data_dir", &o.training.data_dir},
                                    {"--train_dir", &o.training.train_dir},
                                    {"--steps", &o.steps},
                                    {"--batch_size", &o.training.batch_size},
                                    {"--towers", &o.training.towers},
                                    {"--virtual-gpus", &o.virtual_gpus, 0},
                                    {"--cpus", &o.cpus, 0},
                                    {"--seed", &o.training.seed, 0},
                                    {"--checkpoint_every", &o.training.checkpoint_every},
                                    {"--eval_every", &o.eval_every, 0},
                                    {"--eval", &o.eval},
                                    {"--log_device_placement", &o.training.session.log_device_placement},
                                    {"--help", &o.help}});
  if (!rest.empty()) throw examples::FlagError("no argument is taken: " + rest[0]);
  return o;
}

std::string now() {
  const auto time = std::chrono::system_clock::now();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count() % 1000000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06}", fmt::localtime(std::chrono::system_clock::to_time_t(time)), micros);
}

void say(const std::string& text) {
  fmt::print("{}: {}\n", now(), text);
  std::fflush(stdout);
}

void evaluate(const Options& o) {
  const auto checkpoint = train::latest_checkpoint(o.training.train_dir);
  if (!checkpoint) throw Error(Code::NotFound, fmt::format("there is no checkpoint in '{}'", o.training.train_dir));
  const double precision = examples::cifar10_accuracy(*checkpoint, o.training.data_dir, o.training.session);
  say(fmt::format("precision @ 1 = {:.3f}", precision));
}

void train_model(const Options& o) {
  examples::Cifar10Training training(o.training, examples::tower_devices(o.training.towers, o.cpus));
  if (training.step() > 0) say(fmt::format("goes on after step {}", training.step()));
  double trained = 0;  // seconds
  while (training.step() < o.steps && !training.should_stop()) {
    const auto begin = std::chrono::steady_clock::now();
    const int64_t step = training.step();
    const float loss = training.run_step();
    const double duration = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    trained += duration;
    if (step % 10 == 0) {
      say(fmt::format("step {}, loss = {:.2f} ({:.1f} examples/sec; {:.3f} sec/batch)", step, loss,
                      static_cast<double>(training.batch_size()) / duration,
                      duration / static_cast<double>(o.training.towers)));
    }
    if (o.eval_every > 0 && (training.step() % o.eval_every == 0 || training.step() == o.steps)) {
      say(fmt::format("step {}, precision @ 1 = {:.3f} ({:.1f} s of training)", training.step(),
                      training.test_accuracy(), trained));
    }
  }
  say("saved " + training.save());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options o = parse(std::vector<std::string>(argv + 1, argv + argc));
    if (o.help) {
      std::fputs(kUsage, stdout);
      return 0;
    }
    o.training.session.allow_soft_placement = true;
    examples::set_devices(o.training.session, o.virtual_gpus, o.cpus);
    o.eval ? evaluate(o) : train_model(o);
  } catch (const examples::FlagError& e) {
    std::fprintf(stderr, "cifar10: %s\n%s", e.what(), kUsage);
    return 2;
  } catch (const Error& e) {
    std::fprintf(stderr, "cifar10: %s\n", e.what());
    return 1;
  }
}
