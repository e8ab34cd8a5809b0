#include "weir/embedding.h"

#include "nn/convert.h"
#include "weir/index_ops.h"
#include "weir/math_ops.h"
#include "weir/ops.h"

namespace weir::nn {
namespace {

Graph& graph_of_list(const InList& values, const In& other) {
  for (const In& value : values.values()) {
    if (value.output()) return value.output().graph();
  }
  return graph_of(other);
}

Output clipped(const Output& rows, const Output& ids, const std::optional<In>& max_norm) {
  if (!max_norm) return rows;
  if (!ids.shape().has_rank() || !rows.shape().has_rank()) {
    throw invalid_argument("max_norm needs to know the ranks of ids and embeddings");
  }
  std::vector<int> axes;
  for (int i = ids.shape().rank(); i < rows.shape().rank(); ++i) axes.push_back(i);
  return clip_by_norm(rows, *max_norm, axes);
}

// Which part each id is in, and its row there.
struct Placed {
  Output part, row;
};

Placed place_ids(Graph& g, const Output& ids, const std::vector<Output>& parts, PartitionStrategy strategy) {
  const auto count = static_cast<int64_t>(parts.size());
  if (strategy == PartitionStrategy::Mod) {
    Output part = floormod(ids, count, "mod");
    return {part, floordiv(ids, count)};
  }
  int64_t total = 0;
  for (const Output& part : parts) {
    if (total == kUnknown) break;
    const bool known = part.shape().has_rank() && part.shape()[0] != kUnknown;
    total = known ? checked_add(total, part.shape()[0]) : kUnknown;
  }
  Output rows;
  if (total != kUnknown) {
    rows = g.constant(Literal(total), ids.dtype());
  } else {
    std::vector<Output> sizes;
    for (const Output& part : parts) sizes.push_back(subscript(shape(part), {0}));
    rows = cast(reduce_sum(stack(sizes)), ids.dtype());
  }
  // The first `extras` parts hold one row more than the others.
  Output per_part = floordiv(rows, count), extras = floormod(rows, count, "mod");
  Output in_large = floordiv(ids, per_part + 1);
  Output part = maximum(in_large, floordiv(ids - extras, per_part));
  Output is_large = part < extras;
  Output row_of_large = floormod(ids, per_part + 1, "mod");
  Output row = where(is_large, row_of_large, floormod(ids - extras, per_part, "mod"));
  return {part, row};
}

Output sum_rows(const Output& x) {
  Output columns = subscript(shape(x), {1});
  Output all_ones = ones(x.graph(), stack({columns, 1}), x.dtype());
  return reshape(matmul(x, all_ones), {-1});
}

SampledLogits sampled_logits_of(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                                const SampledLossOptions& options, bool remove_hits, std::string_view name) {
  Graph& g = graph_of_list(weights, inputs);
  Scope scope = g.name_scope(name);
  const EmbeddingOptions lookup{.strategy = options.strategy};
  Output x = as_output(g, inputs, float32, "inputs");
  Output classes = cast(as_output(g, labels, int64, "labels"), int64);
  Output flat = reshape(classes, {-1});
  SampledCandidates drawn = options.sampled_values
                                ? *options.sampled_values
                                : log_uniform_candidate_sampler(classes, {.num_true = options.num_true,
                                                                          .num_sampled = options.num_sampled,
                                                                          .unique = true,
                                                                          .range_max = options.num_classes,
                                                                          .seed = options.seed});
  Output sampled = stop_gradient(drawn.sampled_candidates);
  Output true_count = stop_gradient(drawn.true_expected_count);
  Output sampled_count = stop_gradient(drawn.sampled_expected_count);
  sampled = cast(sampled, int64);
  Output all_ids = concat({flat, sampled}, 0);

  Output all_w = cast(embedding_lookup(weights, all_ids, lookup), x.dtype());
  Output true_rows = stack({subscript(shape(flat), {0}), -1});
  Output true_w = slice(all_w, {0, 0}, true_rows);
  Output sampled_begin = stack({subscript(shape(flat), {0}), 0});
  Output sampled_w = slice(all_w, sampled_begin, {-1, -1});
  Output sampled_logits = matmul(x, sampled_w, {.transpose_b = true});

  Output all_b = cast(embedding_lookup(biases, all_ids, lookup), x.dtype());
  Output true_b = slice(all_b, {0}, shape(flat));
  Output sampled_b = slice(all_b, shape(flat), {-1});

  const Tensor true_shape(std::vector<int32_t>{-1, static_cast<int32_t>(options.num_true)});
  Output dim = subscript(shape(true_w), {between(1, 2)});
  Output true_w_shape = concat({true_shape, dim}, 0);
  Output row_inputs = expand_dims(x, 1);
  Output dots = multiply(row_inputs, reshape(true_w, true_w_shape));
  Output matrix = reshape(dots, concat({{-1}, dim}, 0));
  Output true_logits = reshape(sum_rows(matrix), true_shape);
  true_b = reshape(true_b, true_shape);
  true_logits = true_logits + true_b;
  sampled_logits = sampled_logits + sampled_b;

  if (remove_hits) {
    AccidentalHits hits = compute_accidental_hits(classes, sampled, options.num_true, options.seed);
    Output rows = reshape(hits.indices, {-1, 1});
    Output places = reshape(cast(hits.ids, int32), {-1, 1});
    Output where_hit = concat({rows, places}, 1, "sparse_indices");
    Output batch = subscript(shape(classes), {until(1)});
    Output count = NodeBuilder("ExpandDims").graph(g).input(options.num_sampled).input(0).output();
    Output logits_shape = concat({batch, count}, 0);
    Output lowered = cast(hits.weights, sampled_logits.dtype());
    sampled_logits = sampled_logits + NodeBuilder("SparseToDense")
                                          .input(where_hit)
                                          .input(logits_shape)
                                          .input(lowered)
                                          .input(0.0)
                                          .attr("validate_indices", false)
                                          .output();
  }
  if (options.subtract_log_q) {
    true_logits = true_logits - log(true_count);
    sampled_logits = sampled_logits - log(sampled_count);
  }
  Output logits = concat({true_logits, sampled_logits}, 1);
  Output positive = ones_like(true_logits) / options.num_true;
  return {logits, concat({positive, zeros_like(sampled_logits)}, 1)};
}

}  // namespace

Output embedding_lookup(const InList& params, const In& ids, const EmbeddingOptions& options, std::string_view name) {
  if (params.values().empty()) throw invalid_argument("embedding_lookup needs a table");
  Graph& g = graph_of_list(params, ids);
  LineScope line(g, source_line(ids.where()));
  Scope scope = g.name_scope(name.empty() ? "embedding_lookup" : name);
  std::vector<Output> parts;
  for (const In& part : params.values()) parts.push_back(as_output(g, part, float32, "params"));
  Output wanted = as_output(g, ids, int32, "ids");
  if (parts.size() == 1) {
    Scope beside = g.colocate_with(parts[0].op());
    return identity(clipped(gather(parts[0], wanted, 0, scope.name()), wanted, options.max_norm));
  }

  Output flat = reshape(wanted, {-1});
  Output places = range(g, 0, size(flat));
  Placed placed = place_ids(g, flat, parts, options.strategy);
  const int count = static_cast<int>(parts.size());
  Output part = cast(placed.part, int32);
  std::vector<Output> rows = dynamic_partition(placed.row, part, count);
  std::vector<Output> back = dynamic_partition(places, part, count);
  std::vector<Output> found;
  for (size_t i = 0; i < parts.size(); ++i) {
    Scope beside = g.colocate_with(parts[i].op());
    found.push_back(clipped(gather(parts[i], rows[i]), rows[i], options.max_norm));
  }
  Output stitched =
      NodeBuilder("ParallelDynamicStitch", scope.name()).input(InList(back)).input(InList(found)).output();
  const Shape& table = parts[0].shape();
  if (!table.has_rank()) return reshape(stitched, concat({shape(wanted), subscript(shape(parts[0]), {from(1)})}, 0));
  Shape row(table.dims().last(static_cast<size_t>(table.rank() - 1)));
  if (row.is_known()) return reshape(stitched, concat({shape(wanted), row}, 0));
  Output result = reshape(stitched, concat({shape(wanted), subscript(shape(parts[0]), {from(1)})}, 0));
  if (wanted.shape().has_rank()) {
    Shape known = wanted.shape();
    for (int64_t size : row.dims()) known.append(size);
    result.set_shape(known);
  }
  return result;
}

Output embedding_lookup_sparse(const InList& params, const SparseIds& ids, const SparseEmbeddingOptions& options,
                               std::string_view name) {
  const std::string& combiner = options.combiner;
  if (combiner != "sum" && combiner != "mean" && combiner != "sqrtn") {
    throw invalid_argument("combiner must be one of 'mean', 'sqrtn' or 'sum'; it is '{}'", combiner);
  }
  Graph& g = graph_of_list(params, ids.values);
  LineScope line(g, source_line(ids.values.where()));
  Scope scope = g.name_scope(name.empty() ? "embedding_lookup_sparse" : name);
  Output segments = subscript(ids.indices, {kAll, 0});
  if (segments.dtype() != int32) segments = cast(segments, int32);
  auto [distinct, places] = unique(ids.values);
  Output rows = embedding_lookup(params, distinct, {options.strategy, options.max_norm});
  if (!options.weights) {
    const std::string_view op = combiner == "sum"    ? "SparseSegmentSum"
                                : combiner == "mean" ? "SparseSegmentMean"
                                                     : "SparseSegmentSqrtN";
    return NodeBuilder(op, scope.name()).input(rows).input(places).input(segments).output();
  }
  Output weights = cast(as_output(g, *options.weights, rows.dtype(), "weights"), rows.dtype());
  rows = gather(rows, places);
  // A weight for each row, with as many dimensions as a row has.
  Output others = fill(expand_dims(rank(rows) - 1, 0), 1);
  Output stretched = reshape(weights, concat({shape(weights), others}, 0));
  if (rows.shape().has_rank()) {
    Shape known = weights.shape();
    for (int i = 1; known.has_rank() && i < rows.shape().rank(); ++i) known.append(1);
    stretched.set_shape(known);
  }
  Output weighted = rows * stretched;
  if (combiner == "sum") return segment_sum(weighted, segments, scope.name());
  Output sum = segment_sum(weighted, segments);
  if (combiner == "mean") return div(sum, segment_sum(stretched, segments), scope.name());
  return div(sum, sqrt(segment_sum(pow(stretched, 2), segments)), scope.name());
}

SampledCandidates sample_candidates(std::string_view op, const In& true_classes, const SamplerOptions& options,
                                    std::string_view name) {
  const Seeds seeds = graph_of(true_classes).next_seeds(options.seed);
  Operation sampler = NodeBuilder(op, name)
                          .input(true_classes)
                          .attr("num_true", options.num_true)
                          .attr("num_sampled", options.num_sampled)
                          .attr("unique", options.unique)
                          .attr("range_max", options.range_max)
                          .attr("seed", seeds.seed)
                          .attr("seed2", seeds.seed2)
                          .build();
  return {sampler.output(0), sampler.output(1), sampler.output(2)};
}

SampledLogits compute_sampled_logits(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                                     const SampledLossOptions& options, std::string_view name) {
  LineScope line(graph_of_list(weights, inputs), source_line(inputs.where()));
  return sampled_logits_of(weights, biases, labels, inputs, options, options.remove_accidental_hits.value_or(false),
                           name.empty() ? "compute_sampled_logits" : name);
}

Output nce_loss(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                const SampledLossOptions& options, std::string_view name) {
  LineScope line(graph_of_list(weights, inputs), source_line(inputs.where()));
  SampledLogits sampled =
      sampled_logits_of(weights, biases, labels, inputs, options, options.remove_accidental_hits.value_or(false),
                        name.empty() ? "nce_loss" : name);
  return sum_rows(sigmoid_cross_entropy_with_logits(sampled.labels, sampled.logits, "sampled_losses"));
}

Output sampled_softmax_loss(const InList& weights, const InList& biases, const In& labels, const In& inputs,
                            const SampledLossOptions& options, std::string_view name) {
  LineScope line(graph_of_list(weights, inputs), source_line(inputs.where()));
  SampledLogits sampled =
      sampled_logits_of(weights, biases, labels, inputs, options, options.remove_accidental_hits.value_or(true),
                        name.empty() ? "sampled_softmax_loss" : name);
  Output targets = stop_gradient(sampled.labels, "labels_stop_gradient");
  return softmax_cross_entropy_with_logits_v2(targets, sampled.logits);
}

}  // namespace weir::nn
