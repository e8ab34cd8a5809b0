#pragma once

#include <memory>

#include "data/cifar10.h"
#include "training.h"

namespace weir::examples {

// The CIFAR-10 network of TensorFlow's tutorial (cifar10_multi_gpu_train.py): two 5x5 convolutions of 64 filters with
// pooling and local response normalisation, 384 and 192 units with weight decay, gradient descent with a rate that
// falls, moving averages of losses and variables. Towers share the variables, which stand on the CPU; each has its own
// batch.
class Cifar10Training final : public Training {
 public:
  // `options.data_dir` holds train.tfrecord and test.tfrecord; `devices` has one for each tower.
  Cifar10Training(const TrainingOptions& options, const std::vector<std::string>& devices);
  // Of the moving averages, as cifar10_accuracy(); needs a train_dir, for it saves first.
  double test_accuracy() override;

 private:
  void next_batch(std::vector<Tensor>& feeds) override;

  std::unique_ptr<data::DistortedBatches> batches_;
  std::optional<data::Pictures> test_;
};

// Where towers stand: "/gpu:0", "/gpu:1", ..., or in turn on `cpus` logical CPUs when that is not 0.
std::vector<std::string> tower_devices(int64_t towers, int64_t cpus);
// Gives a session that many virtual GPUs and logical CPUs; 0: what there is.
void set_devices(SessionOptions& options, int64_t virtual_gpus, int64_t cpus);

// The pictures of `test` that the moving averages of a checkpoint name right, as a share of all.
double cifar10_accuracy(const std::string& checkpoint, const data::Pictures& test, const SessionOptions& options = {});

}  // namespace weir::examples
