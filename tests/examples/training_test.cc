// The models of examples/cpp/models: they train, are saved, go on and can be replicated.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "models/cifar10.h"
#include "models/flags.h"
#include "models/mnist.h"
#include "models/progress.h"
#include "tests/support/check_op.h"
#include "tests/support/protected_device.h"

namespace weir::examples {
namespace {

using testing::expect_error;

class Programs : public ::testing::Test {
 protected:
  Programs() : folder_(::testing::TempDir() + "weir_training_" + std::to_string(getpid())) {}
  ~Programs() override { std::filesystem::remove_all(folder_); }

  TrainingOptions cifar10(const std::string& run, int64_t batch_size = 16, int64_t towers = 1) const {
    TrainingOptions options{.data_dir = WEIR_SOURCE_DIR "/tests/data/cifar10",
                            .train_dir = folder_ + "/" + run,
                            .batch_size = batch_size,
                            .towers = towers};
    options.session.allow_soft_placement = true;
    return options;
  }
  static Cifar10Training train(const TrainingOptions& options) {
    return Cifar10Training(options, tower_devices(options.towers, 0));
  }

  std::string folder_;
};

TEST_F(Programs, Cifar10LearnsItsTrainingPictures) {
  Cifar10Training training = train(cifar10("run", 20));
  const float first = training.run_step();
  EXPECT_NEAR(first, 4.68, 0.1);  // log(10) and the weight decays
  float last = 0;                 // the mean of ten: batches differ
  while (training.step() < 100) {
    const float loss = training.run_step();
    if (training.step() > 90) last += loss / 10;
  }
  EXPECT_LT(last, first - 0.3f);
  const double accuracy = training.test_accuracy();
  EXPECT_TRUE(accuracy >= 0 && accuracy <= 1 && std::abs(accuracy * 20 - std::round(accuracy * 20)) < 1e-9) << accuracy;
}

// Variables on the CPU, the tower on a device whose memory the host cannot touch.
TEST_F(Programs, Cifar10TrainsOnADeviceOfItsOwnMemory) {
  std::vector<float> here, there;
  {
    Cifar10Training training = train(cifar10("here"));
    while (training.step() < 3) here.push_back(training.run_step());
  }
  const MoreDevices more({std::make_shared<testing::ProtectedDevice>(0)});
  Cifar10Training training = train(cifar10("there"));
  while (training.step() < 3) there.push_back(training.run_step());
  EXPECT_EQ(here, there);
  EXPECT_FALSE(training.save().empty());
}

TEST_F(Programs, Cifar10GoesOnFromItsLastCheckpoint) {
  std::vector<float> losses;
  for (int64_t end : {3, 6}) {
    Cifar10Training training = train(cifar10("parts"));
    EXPECT_EQ(training.step(), end - 3);
    while (training.step() < end) losses.push_back(training.run_step());
    EXPECT_EQ(training.save(), folder_ + "/parts/model.ckpt-" + std::to_string(end));
    EXPECT_EQ(training.save(), folder_ + "/parts/model.ckpt-" + std::to_string(end)) << "saved already";
  }
  // The input begins again, the variables do not: the same batch gives another loss.
  EXPECT_NE(losses[3], losses[0]);
}

// All but the averages of the losses, which are those of the last tower.
void expect_same_model(const std::string& checkpoint, const std::string& expected, double tolerance) {
  const train::CheckpointReader one(expected), two(checkpoint);
  int compared = 0;
  for (const train::CheckpointTensor& tensor : one.tensors()) {
    if (tensor.name.starts_with("tower_")) continue;
    const Tensor a = one.get_tensor(tensor.name), b = two.get_tensor(tensor.name);
    ++compared;
    if (a.dtype() != float32) continue;
    for (size_t i = 0; i < a.data<float>().size(); ++i) {
      ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], tolerance) << tensor.name << " " << i;
    }
  }
  EXPECT_EQ(compared, 10 + 10 + 1);  // variables, their averages, the step
}

class Cifar10Towers : public Programs {
 protected:
  // The checkpoint after some steps with 16 pictures each.
  std::string train_towers(const std::string& run, int64_t steps, int64_t towers, int64_t virtual_gpus, int64_t cpus) {
    TrainingOptions options = cifar10(run, 16 / towers, towers);
    set_devices(options.session, virtual_gpus, cpus);
    Cifar10Training training(options, tower_devices(towers, cpus));
    EXPECT_EQ(training.batch_size(), 16);
    while (training.step() < steps) training.run_step();
    return training.save();
  }
};

// One step: rounding differs from there on, and a pool that takes another of two nearly equal pixels passes its
// gradient on elsewhere.
TEST_F(Cifar10Towers, TakeTheStepOfOneModelWithTheJointBatch) {
  expect_same_model(train_towers("two", 1, 2, 0, 0), train_towers("one", 1, 1, 0, 0), 1e-6);
}

TEST_F(Cifar10Towers, TrainTheSameWhereverTheyStand) {
  const std::string cpu = train_towers("cpu", 3, 2, 0, 0);
  expect_same_model(train_towers("gpus", 3, 2, 2, 0), cpu, 0);
  expect_same_model(train_towers("cpus", 3, 2, 0, 2), cpu, 0);
}

TEST_F(Programs, Cifar10WritesWhatTheTutorialShows) {
  {
    Cifar10Training training = train(cifar10("run"));
    training.run_step();
    training.save();
  }
  std::set<std::string> tags;
  for (const auto& file : std::filesystem::directory_iterator(folder_ + "/run")) {
    if (!file.path().filename().string().starts_with("events.")) continue;
    RecordReader reader(file.path());
    for (std::string record; reader.next(record);) {
      for (const auto& value : summary::Event::parse(record).values) tags.insert(value.kind + " " + value.tag);
    }
  }
  for (const char* tag :
       {"scalar total_loss", "scalar total_loss__raw_", "scalar cross_entropy", "scalar learning_rate",
        "scalar local3/weight_loss", "histogram conv1/weights_1", "histogram conv1/weights/gradients",
        "histogram tower_0/conv1/activations", "scalar tower_0/local4/sparsity", "histogram softmax_linear/biases_1"}) {
    EXPECT_TRUE(tags.contains(tag)) << tag;
  }
  const train::CheckpointReader reader(folder_ + "/run/model.ckpt-1");
  EXPECT_TRUE(reader.has_tensor("conv1/weights/ExponentialMovingAverage"));
  EXPECT_TRUE(reader.has_tensor("tower_0/total_loss/avg"));
  EXPECT_FALSE(reader.has_tensor("tower_0/conv1/weights"));
}

TEST_F(Programs, Cifar10LeavesNothingBehindWithoutData) {
  TrainingOptions options = cifar10("run");
  options.data_dir = folder_ + "/nowhere";
  expect_error([&] { train(options); }, Code::NotFound, "nowhere/train.tfrecord");
  EXPECT_FALSE(std::filesystem::exists(options.train_dir));
}

TEST_F(Programs, MnistLearnsAndGoesOn) {
  const TrainingOptions options{
      .data_dir = WEIR_SOURCE_DIR "/data/mnist", .train_dir = folder_ + "/mnist", .batch_size = 50};
  {
    MnistTraining training(options);
    while (training.step() < 30) training.run_step();
    EXPECT_GT(training.test_accuracy(), 0.5);
    training.save();
  }
  EXPECT_EQ(MnistTraining(options).step(), 30);
}

TEST(TowerDevices, AreGpusOrLogicalCpusInTurn) {
  EXPECT_EQ(tower_devices(2, 0), (std::vector<std::string>{"/gpu:0", "/gpu:1"}));
  EXPECT_EQ(tower_devices(3, 2), (std::vector<std::string>{"/cpu:0", "/cpu:1", "/cpu:0"}));
}

TEST(Flags, TakeBothSpellings) {
  std::string text;
  int64_t number = 0;
  bool on = false;
  const std::vector<Flag> flags = {{"--train_dir", &text}, {"--virtual-gpus", &number, 0}, {"--eval", &on}};
  auto parse = [&](const std::vector<std::string>& words) { return parse_flags(words, flags); };
  EXPECT_EQ(parse({"a", "--train-dir=x=y", "--virtual_gpus", "0", "--eval", "b"}),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(text, "x=y");
  EXPECT_TRUE(on);
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"--virtual-gpus", "-1"},
                                              {"--virtual-gpus", "2x"},
                                              {"--virtual-gpus", ""},
                                              {"--virtual-gpus", "99999999999999999999"},
                                              {"--virtual-gpus"},
                                              {"--eval=1"},
                                              {"--other"},
                                              {"--"}}) {
    EXPECT_THROW(parse(bad), FlagError) << bad[0];
  }
}

TEST(Progress, SaysTimesAsPeopleDo) {
  EXPECT_EQ(duration_text(3.21), "3.2 s");
  EXPECT_EQ(duration_text(125), "2 min 05 s");
  EXPECT_EQ(duration_text(3725), "1 h 02 min");
}

}  // namespace
}  // namespace weir::examples
