#pragma once

#include <cstdint>
#include <string>

#include "weir/data.h"

// CIFAR-10, 60,000 small pictures of ten kinds of things, as input pipelines.
namespace weir::data {

enum class Cifar10Part { Train, Test };

// The pictures of a folder, uint8 [32, 32, 3], and their labels, int64, in the order of the files. The folder holds
// record files (train.tfrecord and test.tfrecord: Examples with image/encoded, a JPEG file, and image/class/label) or,
// itself or in cifar-10-batches-bin, the binary files of the original archive (data_batch_1.bin to data_batch_5.bin and
// test_batch.bin). Throws NotFound, which says what it looked for; files that are damaged or hold something else fail
// the run.
Dataset cifar10(Graph& g, const std::string& folder, Cifar10Part part);

struct DistortedOptions {
  int64_t batch_size = 128;
  int64_t seed = 1;      // of the order and of the distortions
  int64_t prefetch = 4;  // batches that are made ahead
};
// Endless batches for training, as in TensorFlow's tutorial: pictures in random order, each 24 x 24 pixels from
// anywhere, flipped every other time, brighter or darker, with more or less contrast, whitened: float32 [batch, 24, 24,
// 3] and int64 [batch]. They are decoded once and kept in memory, 150 MB.
Dataset distorted_cifar10(Graph& g, const std::string& folder, const DistortedOptions& options = {});

// The pictures of a part for testing, once: the middle of each, whitened. The last batch may be smaller.
Dataset central_cifar10(Graph& g, const std::string& folder, Cifar10Part part, int64_t batch_size);

}  // namespace weir::data
