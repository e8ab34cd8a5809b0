#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir::nn {

// Samplers of classes. `true_classes` is int64 [batch, num_true].
struct SamplerOptions {
  int64_t num_true = 1, num_sampled = 1;
  bool unique = true;
  int64_t range_max = 1;  // classes are in [0, range_max)
  std::optional<int64_t> seed = {};
};
struct SampledCandidates {
  Output sampled_candidates, true_expected_count, sampled_expected_count;
};
// Class k with probability log((k + 2) / (k + 1)) / log(range_max + 1): for words sorted by how frequent they are.
WEIR_API SampledCandidates log_uniform_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                         std::string_view name = {});
WEIR_API SampledCandidates uniform_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                     std::string_view name = {});
// Classes as often as true classes were seen in earlier runs.
WEIR_API SampledCandidates learned_unigram_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                             std::string_view name = {});
// Classes by frequencies that are given: a list, or the last column of a file of comma-separated values, one line a
// class. `range_max` is their number, with the reserved ids, which come first and are never drawn.
struct UnigramOptions {
  std::string vocab_file = {};
  std::vector<float> unigrams = {};
  float distortion = 1;  // frequencies to this power
  int64_t num_reserved_ids = 0, num_shards = 1, shard = 0;
};
WEIR_API SampledCandidates fixed_unigram_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                           const UnigramOptions& unigrams, std::string_view name = {});
// Every class in [0, num_sampled), once.
WEIR_API SampledCandidates all_candidate_sampler(const In& true_classes, int64_t num_true, int64_t num_sampled,
                                                 bool unique, std::string_view name = {});
// Any sampler operation of that signature.
WEIR_API SampledCandidates sample_candidates(std::string_view op, const In& true_classes, const SamplerOptions& options,
                                             std::string_view name = {});

// Samples that are among an example's true classes: row, place among the samples, and -FLT_MAX as weight.
struct AccidentalHits {
  Output indices, ids, weights;
};
WEIR_API AccidentalHits compute_accidental_hits(const In& true_classes, const In& sampled_candidates, int64_t num_true,
                                                std::optional<int64_t> seed = {}, std::string_view name = {});

}  // namespace weir::nn
