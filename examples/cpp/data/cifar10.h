#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/batches.h"
#include "weir/tensor.h"

// CIFAR-10: 60,000 small pictures of ten kinds of things, and the batches that its programs train and test with.
namespace weir::data {

// Labelled pictures as they are stored: row i of `images` belongs to label i.
struct Pictures {
  Tensor images;  // uint8 [n, height, width, 3]
  Tensor labels;  // int64 [n]
};

enum class Cifar10Part { Train, Test };

// Reads train.tfrecord or test.tfrecord of a folder: Examples with the features image/encoded (a JPEG file of 32 x 32
// pixels) and image/class/label (0 to 9). Uses `threads` threads; 0: one a core. Throws NotFound when the file is not
// there; DataLoss or InvalidArgument, naming file and record, for one that is damaged or holds something else.
Pictures read_cifar10(const std::string& directory, Cifar10Part part, int threads = 0);

// What DistortedBatches does to a picture, in this order. The numbers are those of TensorFlow's tutorial.
struct Distortions {
  int64_t height = 24, width = 24;                     // of the part that is cut out, anywhere
  bool flip = true;                                    // left and right, every other time
  float max_brightness = 63;                           // added: a number from -63 to 63
  float lower_contrast = 0.2f, upper_contrast = 1.8f;  // what differences from a channel's mean are multiplied by
  bool whiten = true;                                  // to mean 0 and deviation 1, over all channels together
};

struct DistortedBatchesOptions {
  int64_t batch_size = 128;
  uint64_t seed = 0;
  int64_t first_batch = 0;  // begins with this one, as if those before had been taken: for training that goes on
  int threads = 1;          // that make batches in the background, at most 256
  int prefetch = 4;         // batches that may wait to be taken, at most 4096
  Distortions distortions = {};
};

// Endless batches of distorted pictures, without replacement: each pass over the data is in a new random order, and a
// batch that reaches the end of one pass goes on with the next. Threads in the background make them ahead of time. The
// seed alone fixes all batches, whatever the number of threads. Thread-safe; the destructor ends the threads at once.
class DistortedBatches {
 public:
  // Throws InvalidArgument unless there are pictures, with as many labels, that are large enough for the distortions,
  // and every option makes sense.
  explicit DistortedBatches(Pictures pictures, const DistortedBatchesOptions& options = {});
  DistortedBatches(const DistortedBatches&) = delete;
  DistortedBatches& operator=(const DistortedBatches&) = delete;
  ~DistortedBatches();

  // The next batch: float32 [batch_size, height, width, 3] and int64 [batch_size]. Waits until it is there; throws what
  // went wrong in the background (ResourceExhausted when there is no memory).
  Batches::Batch next();

 private:
  class State;
  std::unique_ptr<State> state_;
};

// The middle of each of `count` pictures from row `begin` on, whitened, in order: for testing. Throws InvalidArgument
// for rows that do not exist and pictures that are too small.
Batches::Batch central_batch(const Pictures& pictures, int64_t begin, int64_t count, int64_t height = 24,
                             int64_t width = 24);

}  // namespace weir::data
