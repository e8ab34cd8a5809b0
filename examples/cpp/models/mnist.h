#pragma once

#include "data/batches.h"
#include "data/mnist.h"
#include "training.h"

namespace weir::examples {

// The convolutional network of TensorFlow's MNIST tutorial: two 5x5 convolutions with pooling, 1024 units, dropout,
// Adam.
class MnistTraining final : public Training {
 public:
  // `options.data_dir` holds the four files of MNIST.
  explicit MnistTraining(const TrainingOptions& options);
  double test_accuracy() override;

 private:
  void next_batch(std::vector<Tensor>& feeds) override;

  data::Mnist mnist_;
  data::Batches batches_;
  Output images_, labels_, keep_prob_, accuracy_;
};

}  // namespace weir::examples
