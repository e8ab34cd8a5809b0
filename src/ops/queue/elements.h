#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "weir/tensor.h"

namespace weir::ops {

// The elements of a queue, in the order in which they leave it. An element is a row of tensors, one for each component.
// Not thread-safe.
class Elements {
 public:
  virtual ~Elements() = default;
  virtual int64_t size() const = 0;
  virtual void put(std::span<Tensor> row) = 0;   // moves it in
  virtual void take(std::span<Tensor> row) = 0;  // moves the next one out. REQUIRES: size() > 0
  // Puts one back that was taken last and not used.
  virtual void put_back(std::span<Tensor> row) = 0;
  // Elements that came in together leave together, or nearly so: they may share the memory that they came in.
  virtual bool keeps_neighbours() const = 0;
};

// First in, first out.
std::unique_ptr<Elements> make_fifo_elements(size_t components);
// In random order, TensorFlow's for these seeds; with both 0 it differs from process to process.
std::unique_ptr<Elements> make_shuffled_elements(size_t components, int64_t seed, int64_t seed2);
// The smallest of component 0, an int64 scalar, first; equal ones in TensorFlow's order, which is that of a heap.
std::unique_ptr<Elements> make_priority_elements(size_t components);

}  // namespace weir::ops
