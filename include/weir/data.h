#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "weir/export.h"
#include "weir/tensor.h"

// Data sets in memory: reading them and drawing batches from them.
namespace weir::data {

// One part of a labelled data set: row i of `images` belongs to label i.
struct Labelled {
  Tensor images;  // float32 [n, pixels], values from 0 to 1
  Tensor labels;  // int64 [n]
};

struct Mnist {
  Labelled train;
  Labelled test;
};

// Reads the four files of MNIST (or of a data set in its form, such as Fashion-MNIST) from `directory` under their
// usual names, train-images-idx3-ubyte.gz and so on. Throws NotFound for a missing file and DataLoss for a damaged one.
WEIR_API Mnist read_mnist(const std::string& directory);

// Reads one idx file of bytes, gzipped or not, as a uint8 tensor. Throws NotFound, or DataLoss for a file that is cut
// short, has bytes left over or is of another kind.
WEIR_API Tensor read_idx(const std::string& path);

// float32 [n, classes] with a 1 at each label. Throws InvalidArgument unless labels is an int64 vector of values in
// [0, classes).
WEIR_API Tensor one_hot(const Tensor& labels, int64_t classes);

// Endless batches of rows from two tensors, without replacement: each pass over the data is in a new random order, and
// a batch that reaches the end of one pass goes on with the next. The seed fixes all orders. For one thread at a time.
class WEIR_API Batches {
 public:
  struct Batch {
    Tensor images;
    Tensor labels;
  };

  // Throws InvalidArgument unless both have the same number of rows, at least one. Strings cannot be batched.
  Batches(Tensor images, Tensor labels, uint64_t seed = 0);
  Batches(Batches&&) noexcept;
  Batches& operator=(Batches&&) noexcept;
  ~Batches();

  // The next `size` rows. Throws InvalidArgument for a negative size.
  Batch next(int64_t size);

  // Passes over the data completed so far.
  int64_t epochs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::data
