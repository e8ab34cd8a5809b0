#include "base/errors.h"
#include "weir/ops.h"
#include "weir/seq2seq.h"

namespace weir::seq2seq {

Output sequence_loss(const Output& logits, const Output& targets, const Output& weights,
                     const SequenceLossOptions& options) {
  auto need_rank = [](const Output& x, int rank, const char* message) {
    if (x.shape().rank() != rank) throw invalid_argument("{}", message);
  };
  need_rank(logits, 3, "Logits must be a [batch_size x sequence_length x logits] tensor");
  need_rank(targets, 2, "Targets must be a [batch_size x sequence_length] tensor");
  need_rank(weights, 2, "Weights must be a [batch_size x sequence_length] tensor");
  const bool mean_time = options.average_across_timesteps, mean_batch = options.average_across_batch;
  const bool sum_time = options.sum_over_timesteps, sum_batch = options.sum_over_batch;
  if (mean_time && sum_time) {
    throw invalid_argument("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.");
  }
  if (mean_batch && sum_batch) {
    throw invalid_argument("average_across_batch and sum_over_batch cannot be set to True at the same time.");
  }
  if ((mean_batch && sum_time) || (mean_time && sum_batch)) {
    throw invalid_argument("Batch and timesteps must both be averaged or both be summed.");
  }
  Graph& graph = logits.graph();
  Scope scope = graph.name_scope(options.name.empty() ? "sequence_loss" : options.name);
  const Output classes = subscript(shape(logits), {2});
  const Output flat = reshape(logits, stack({In(-1), In(classes)}, 0));
  const Output labels = reshape(targets, {-1});
  Output loss = options.softmax_loss ? options.softmax_loss(labels, flat)
                                     : nn::sparse_softmax_cross_entropy_with_logits(labels, flat);
  loss = loss * reshape(weights, {-1});
  auto counted = [&](const ReduceOptions& reduce) {
    return cast(reduce_sum(cast(not_equal(weights, zeros_like(weights)), int64), reduce), loss.dtype());
  };
  if (mean_time && mean_batch) return div_no_nan(reduce_sum(loss), reduce_sum(weights));
  if (sum_time && sum_batch) return div_no_nan(reduce_sum(loss), counted({}));
  loss = reshape(loss, slice(shape(logits), {0}, {2}));
  const struct {
    bool mean, sum;
    int axis;
  } ways[] = {{mean_time, sum_time, 1}, {mean_batch, sum_batch, 0}};
  for (const auto& [mean, sum, axis] : ways) {
    if (!mean && !sum) continue;
    const ReduceOptions along{.axes = {axis}};
    loss = div_no_nan(reduce_sum(loss, along), mean ? reduce_sum(weights, along) : counted(along));
  }
  return loss;
}

}  // namespace weir::seq2seq
