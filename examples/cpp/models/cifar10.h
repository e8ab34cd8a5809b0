#pragma once

#include "training.h"

namespace weir::examples {

// The CIFAR-10 network of TensorFlow's tutorial (cifar10_multi_gpu_train.py): two 5x5 convolutions of 64 filters with
// pooling and local response normalisation, 384 and 192 units with weight decay, gradient descent with a rate that
// falls, moving averages of losses and variables. Towers share the variables, which stand on the CPU; each takes its
// own batches from one input pipeline.
class Cifar10Training final : public Training {
 public:
  // `options.data_dir` is as data::cifar10() takes it; `devices` has one for each tower.
  Cifar10Training(const TrainingOptions& options, const std::vector<std::string>& devices);
  // Of the moving averages, as cifar10_accuracy(); needs a train_dir, for it saves first.
  double test_accuracy() override;
};

// Where towers stand: "/gpu:0", "/gpu:1", ..., or in turn on `cpus` logical CPUs when that is not 0.
std::vector<std::string> tower_devices(int64_t towers, int64_t cpus);
// Gives a session that many virtual GPUs and logical CPUs; 0: what there is.
void set_devices(SessionOptions& options, int64_t virtual_gpus, int64_t cpus);

// The test pictures of a folder that the moving averages of a checkpoint name right, as a share of all.
double cifar10_accuracy(const std::string& checkpoint, const std::string& data_dir, const SessionOptions& options = {});

}  // namespace weir::examples
