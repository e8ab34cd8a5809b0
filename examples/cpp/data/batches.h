#pragma once

#include <cstdint>
#include <memory>

#include "weir/tensor.h"

// Batches of data that are in memory as a whole.
namespace weir::data {

// float32 [n, classes] with a 1 at each label. Throws InvalidArgument unless labels is an int64 vector of values in
// [0, classes).
Tensor one_hot(const Tensor& labels, int64_t classes);

// Endless batches of rows from two tensors, without replacement: each pass over the data is in a new random order, and
// a batch that reaches the end of one pass goes on with the next. The seed fixes all orders. For one thread at a time.
class Batches {
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
