#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/feature_index.h"
#include "io/parse_example.h"

namespace weir::io {

// A list of features that all have one shape: a step each.
struct DenseList {
  std::string key;
  DType dtype;
  Shape shape;                  // of a step; known
  bool may_be_missing = false;  // an example without it has no steps
};

struct ParsedSequences {
  std::vector<SparseParts> sparse;
  std::vector<Tensor> dense;
  std::vector<Tensor> lengths;  // steps of each example; of a single one as a vector of one
};

// Takes the feature lists out of serialised SequenceExample messages; the context is ExampleParser's. Of a batch dense
// lists are [examples, steps] + shape, with zeros (empty strings) behind the steps that there are, and sparse ones have
// rank 3; of a single example they are without the first dimension. Thread-safe. Throws InvalidArgument with
// TensorFlow's words.
class SequenceParser {
 public:
  SequenceParser(std::vector<SparseFeature> sparse, std::vector<DenseList> dense);

  ParsedSequences parse(std::span<const std::string> serialized, const ParseMessages& messages) const;

 private:
  struct Steps;
  Steps steps(const std::vector<std::string_view>& lists, const std::string& key, const ParseMessages& messages) const;
  Tensor dense(const DenseList& list, const Steps& steps, const ParseMessages& messages) const;
  SparseParts sparse(const SparseFeature& list, const Steps& steps, const ParseMessages& messages) const;

  std::vector<SparseFeature> sparse_;
  std::vector<DenseList> dense_;
  FeatureIndex index_;  // the sparse lists, then the dense ones
};

}  // namespace weir::io
