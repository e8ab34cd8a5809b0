#pragma once

#include <optional>
#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Random tensors. Each run draws anew. A `seed`, here or of the graph, makes the sequence of runs repeatable and equal
// to TensorFlow's; without any it differs from process to process.
struct RandomUniformOptions {
  In minval = 0;
  std::optional<In> maxval = {};  // excluded; 1 for floating types, required for integers
  DType dtype = float32;          // floating, int32 or int64
  std::optional<int64_t> seed = {};
};
WEIR_API Output random_uniform(Graph& graph, const In& shape, const RandomUniformOptions& options = {},
                               std::string_view name = {});

struct RandomNormalOptions {
  In mean = 0, stddev = 1;
  DType dtype = float32;  // floating
  std::optional<int64_t> seed = {};
};
WEIR_API Output random_normal(Graph& graph, const In& shape, const RandomNormalOptions& options = {},
                              std::string_view name = {});
// Values further than two deviations from the mean are drawn again.
WEIR_API Output truncated_normal(Graph& graph, const In& shape, const RandomNormalOptions& options = {},
                                 std::string_view name = {});

struct SeedOptions {
  std::optional<int64_t> seed = {};
};
// The rows of `value` (its first dimension) in random order.
WEIR_API Output random_shuffle(const In& value, const SeedOptions& options = {}, std::string_view name = {});
// `num_samples` class numbers for each row of `logits`, whose entries are unnormalised log-probabilities.
struct MultinomialOptions {
  std::optional<int64_t> seed = {};
  DType output_dtype = int64;
};
WEIR_API Output multinomial(const In& logits, const In& num_samples, const MultinomialOptions& options = {},
                            std::string_view name = {});

}  // namespace weir
