#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Losses with weights: tf.losses. Each is added to the collection "losses".
namespace weir::losses {

enum class Reduction {
  None,                 // one loss for each element
  Sum,                  // of the weighted losses
  Mean,                 // that divided by the sum of the weights
  SumOverBatchSize,     // divided by the number of losses
  SumByNonzeroWeights,  // divided by the number of weights that are not zero
};

struct LossOptions {
  In weights = 1.0f;  // a number, or of the losses' shape with sizes of 1 where they stretch
  std::string scope = {};
  std::string collection = "losses";  // nowhere when empty
  Reduction reduction = Reduction::SumByNonzeroWeights;
};

// An operation to wait for, which fails unless the weights are a number, or have the rank of the values and sizes equal
// to theirs or 1. What is known now is checked now; throws InvalidArgument.
WEIR_API Operation assert_broadcastable(const In& weights, const In& values);
// The weights stretched to the shape of the values.
WEIR_API Output broadcast_weights(const In& weights, const In& values);

WEIR_API Output compute_weighted_loss(const In& losses, const LossOptions& options = {});

WEIR_API Output absolute_difference(const In& labels, const In& predictions, const LossOptions& options = {});
WEIR_API Output mean_squared_error(const In& labels, const In& predictions, const LossOptions& options = {});
// 1 - cosine of the angle, for unit vectors along the axis.
WEIR_API Output cosine_distance(const In& labels, const In& predictions, int axis, const LossOptions& options = {});
// Labels are 0 and 1.
WEIR_API Output hinge_loss(const In& labels, const In& logits, const LossOptions& options = {});
// Quadratic up to delta, linear beyond.
WEIR_API Output huber_loss(const In& labels, const In& predictions, float delta = 1, const LossOptions& options = {});
WEIR_API Output log_loss(const In& labels, const In& predictions, float epsilon = 1e-7f,
                         const LossOptions& options = {});
struct PairwiseLossOptions {
  In weights = 1.0f;  // as in LossOptions, for the labels
  std::string scope = {};
  std::string collection = "losses";
};
// The mean, over the examples, of the squared differences between all pairs of errors of one example.
WEIR_API Output mean_pairwise_squared_error(const In& labels, const In& predictions,
                                            const PairwiseLossOptions& options = {});
WEIR_API Output sigmoid_cross_entropy(const In& multi_class_labels, const In& logits, float label_smoothing = 0,
                                      const LossOptions& options = {});
WEIR_API Output softmax_cross_entropy(const In& onehot_labels, const In& logits, float label_smoothing = 0,
                                      const LossOptions& options = {});
WEIR_API Output sparse_softmax_cross_entropy(const In& labels, const In& logits, const LossOptions& options = {});

WEIR_API void add_loss(const Output& loss, std::string_view collection = "losses");
// Of nodes whose names begin with `scope`.
WEIR_API std::vector<Output> get_losses(const Graph& graph, std::string_view scope = {},
                                        std::string_view collection = "losses");
WEIR_API std::vector<Output> get_regularization_losses(const Graph& graph, std::string_view scope = {});
// Their sum. Throws InvalidArgument when there are none.
WEIR_API Output get_total_loss(const Graph& graph, bool add_regularization_losses = true,
                               std::string_view name = "total_loss");

}  // namespace weir::losses
