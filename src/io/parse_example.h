#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "io/feature_index.h"
#include "io/parse_messages.h"
#include "weir/tensor.h"

namespace weir::io {

// A feature that becomes a dense tensor. With an unknown first size (kUnknown) each example has as many rows as it has
// values for; they are padded with the single element of `default_value`.
struct DenseFeature {
  std::string key;
  DType dtype;  // String, Float32 or Int64
  Shape shape;
  Tensor default_value;  // no elements: the feature is required

  bool variable_length() const { return shape.rank() > 0 && shape[0] == kUnknown; }
  // Values of a row, for variable length, or of all.
  int64_t stride() const;
  // Throws InvalidArgument for shapes, defaults and types that do not fit; `position` is for messages.
  void check(int position) const;
};

// A feature of any length.
struct SparseFeature {
  std::string key;
  DType dtype;
};

struct SparseParts {
  Tensor indices, values, shape;
};

struct ParsedExamples {
  std::vector<SparseParts> sparse;
  std::vector<Tensor> dense;
};

// Takes features out of serialised Example messages, column by column, straight from the wire format. Thread-safe.
//
// Errors are InvalidArgument with TensorFlow's words: they name the example, the feature and its index in the batch; of
// several the one of the first example.
class ExampleParser {
 public:
  ExampleParser(std::vector<SparseFeature> sparse, std::vector<DenseFeature> dense);

  // Of a batch dense features get a first dimension for it and sparse ones are matrices; of a single example they are
  // without it. Of sequence examples this parses the context. `messages` says which it is.
  ParsedExamples parse(std::span<const std::string> serialized, const ParseMessages& messages, ThreadPool& pool) const;

 private:
  class Batch;

  std::vector<SparseFeature> sparse_;
  std::vector<DenseFeature> dense_;
  FeatureIndex index_;  // the sparse features, then the dense ones
};

}  // namespace weir::io
