#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/candidate_ops.h"
#include "weir/export.h"
#include "weir/graph.h"

// Embeddings, and losses over so many classes that only a sample of them can be computed.
namespace weir::nn {

enum class PartitionStrategy {
  Mod,  // row i is in part i % parts
  Div,  // parts hold consecutive rows
};
struct EmbeddingOptions {
  PartitionStrategy strategy = PartitionStrategy::Mod;
  std::optional<In> max_norm = {};  // longer embeddings are scaled down to this length
};
// Rows `ids` of a table, which may lie in several parts.
WEIR_API Output embedding_lookup(const InList& params, const In& ids, const EmbeddingOptions& options = {},
                                 std::string_view name = {});

// For each row of a sparse matrix the embeddings of the ids in it, added up with weights (ones unless given). A row
// without ids gives zeros, or NaN when it is to be divided by the weights that it does not have.
struct SparseIds {
  In indices, values;  // int64 [n, 2], sorted by row; ids [n]
};
struct SparseEmbeddingOptions {
  std::optional<In> weights = {};  // [n]
  PartitionStrategy strategy = PartitionStrategy::Mod;
  // "sum"; "mean": divided by the sum of the weights; "sqrtn": by the root of the sum of their squares.
  std::string combiner = "mean";
  std::optional<In> max_norm = {};
};
WEIR_API Output embedding_lookup_sparse(const InList& params, const SparseIds& ids,
                                        const SparseEmbeddingOptions& options = {}, std::string_view name = {});

// weights [classes, dim] and biases [classes], perhaps in parts, labels int64 [batch, num_true], inputs [batch, dim].
struct SampledLossOptions {
  int64_t num_sampled = 1, num_classes = 1, num_true = 1;
  std::optional<SampledCandidates> sampled_values = {};  // by default log-uniform
  std::optional<bool> remove_accidental_hits = {};       // by default for the softmax only
  PartitionStrategy strategy = PartitionStrategy::Mod;
  std::optional<int64_t> seed = {};
  bool subtract_log_q = true;  // from the logits, for how often a class is drawn
};
// Logits and labels [batch, num_true + num_sampled]: the true classes' and the sampled ones'.
struct SampledLogits {
  Output logits, labels;
};
WEIR_API SampledLogits compute_sampled_logits(const InList& weights, const InList& biases, const In& labels,
                                              const In& inputs, const SampledLossOptions& options,
                                              std::string_view name = {});
// Noise-contrastive estimation: one loss for each row.
WEIR_API Output nce_loss(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                         const SampledLossOptions& options, std::string_view name = {});
// For training only; evaluate with the full softmax.
WEIR_API Output sampled_softmax_loss(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                                     const SampledLossOptions& options, std::string_view name = {});

}  // namespace weir::nn
