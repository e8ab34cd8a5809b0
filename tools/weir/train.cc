#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command.h"
#include "models/cifar10.h"
#include "models/flags.h"
#include "models/mnist.h"
#include "models/progress.h"

namespace weir::tool {
namespace {

volatile std::sig_atomic_t stop_wanted = 0;

// While it lives, Ctrl-C ends the training after the step at hand, so that it can be saved.
class StopOnInterrupt {
 public:
  StopOnInterrupt() {
    stop_wanted = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { stop_wanted = 1; };
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopOnInterrupt() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};
};

struct Wanted {
  std::string model;
  examples::TrainingOptions training;
  int64_t steps = 0, virtual_gpus = 0, cpus = 0;
};

struct Model {
  const char* name;
  int64_t steps, batch_size;
  const char* files;  // what the data folder holds
};
constexpr Model kModels[] = {
    {"mnist", 1200, 50,
     "train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz"},
    {"cifar10", 3000, 128, "train.tfrecord and test.tfrecord, or the binary files of the original archive"},
};

const Model& find_model(const std::vector<std::string>& words) {
  if (words.size() != 1) throw UsageError("exactly one model is wanted: mnist or cifar10");
  for (const Model& model : kModels) {
    if (words[0] == model.name) return model;
  }
  throw UsageError(fmt::format("there is no model '{}'; there are mnist and cifar10", words[0]));
}

Wanted parse(std::span<const std::string> words) {
  Wanted w;
  examples::TrainingOptions& t = w.training;
  try {
    const Model& model =
        find_model(examples::parse_flags(words, {{"--data_dir", &t.data_dir},
                                                 {"--train_dir", &t.train_dir},
                                                 {"--steps", &w.steps},
                                                 {"--batch_size", &t.batch_size},
                                                 {"--seed", &t.seed, 0},
                                                 {"--towers", &t.towers},
                                                 {"--virtual-gpus", &w.virtual_gpus},
                                                 {"--cpus", &w.cpus},
                                                 {"--log_device_placement", &t.session.log_device_placement}}));
    w.model = model.name;
    if (t.data_dir.empty()) t.data_dir = "data/" + w.model;
    if (t.train_dir.empty()) t.train_dir = "runs/" + w.model;
    if (w.steps == 0) w.steps = model.steps;
    if (t.batch_size == 0) t.batch_size = model.batch_size;
    if (w.model == "mnist" && t.towers > 1) throw UsageError("mnist has one tower only");
  } catch (const examples::FlagError& e) {
    throw UsageError(e.what());
  }
  t.session.allow_soft_placement = true;
  examples::set_devices(t.session, w.virtual_gpus, w.cpus);
  return w;
}

std::unique_ptr<examples::Training> make_training(const Wanted& w) {
  try {
    if (w.model == "mnist") return std::make_unique<examples::MnistTraining>(w.training);
    return std::make_unique<examples::Cifar10Training>(w.training, examples::tower_devices(w.training.towers, w.cpus));
  } catch (const Error& e) {
    if (e.code() != Code::NotFound || std::filesystem::exists(w.training.data_dir)) throw;
    throw Error(Code::NotFound, fmt::format("there is no folder '{}'. It should hold {}; --data_dir names another",
                                            w.training.data_dir, find_model({w.model}).files));
  }
}

int run(std::span<const std::string> words) {
  const Wanted w = parse(words);
  const std::unique_ptr<examples::Training> training = make_training(w);
  if (training->step() > 0) {
    fmt::print("{} goes on after step {} of {}\n", w.model, training->step(), w.training.train_dir);
  } else {
    fmt::print("{} begins; everything goes into {}\n", w.model, w.training.train_dir);
  }
  std::fflush(stdout);

  const int64_t first = training->step();
  examples::Progress progress(first, w.steps, training->batch_size());
  StopOnInterrupt stop;
  while (training->step() < w.steps && !stop_wanted) {
    const float loss = training->run_step();
    progress.step_done(training->step(), loss);
  }
  progress.finish();
  const double seconds = progress.seconds(), rate = progress.examples_per_second();
  const std::string checkpoint = training->save();
  if (training->step() > first) {
    fmt::print("\ntrained        {} steps in {}, {:.0f} examples/s\n", training->step() - first,
               examples::duration_text(seconds), rate);
  } else {
    fmt::print("\ntrained        already, {} steps\n", training->step());
  }
  if (stop_wanted) {
    fmt::print("stopped        before step {}; the same command goes on\n", w.steps);
  } else {
    fmt::print("test accuracy  {:.4f}\n", training->test_accuracy());
  }
  fmt::print("checkpoint     {}\nsee it with    tensorboard --logdir {}\n", checkpoint, w.training.train_dir);
  return stop_wanted ? 130 : 0;
}

}  // namespace

const Command kTrain = {
    .name = "train",
    .usage = "mnist|cifar10 [flags]",
    .summary = "Trains a network of TensorFlow's tutorials",
    .help =
        "Training that was ended, by Ctrl-C or otherwise, goes on from its last checkpoint when the command is given "
        "again.\n\n"
        "  --data_dir DIR          folder of the data (data/mnist, data/cifar10)\n"
        "  --train_dir DIR         where checkpoints and events go (runs/mnist, runs/cifar10)\n"
        "  --steps N               train up to this step (mnist 1200, cifar10 3000)\n"
        "  --batch_size N          pictures a step, of each tower (mnist 50, cifar10 128)\n"
        "  --seed N                of the weights and of the order of the pictures (1)\n"
        "  --towers N              cifar10: replicas of the model, on /gpu:0, /gpu:1, ... (1)\n"
        "  --virtual-gpus N        make so many GPUs out of CPU cores\n"
        "  --cpus N                put the towers on so many logical CPUs instead\n"
        "  --log_device_placement  say where each node runs\n\n"
        "  weir train mnist\n"
        "  weir train cifar10 --data_dir ~/cifar10 --steps 30000\n",
    .run = run};

}  // namespace weir::tool
