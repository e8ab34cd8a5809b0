#include <cmath>
#include <limits>

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/functional.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/seq2seq.h"

namespace weir::seq2seq {
namespace {

std::string_view or_else(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

// Size i of a tensor: a number where it is known.
In size_of(const Output& x, int axis) {
  if (x.shape().has_rank() && x.shape()[axis] != kUnknown) return In(x.shape()[axis]);
  return subscript(shape(x), {axis});
}

}  // namespace

Output hardmax(const Output& logits, std::string_view name) {
  Scope scope = logits.graph().name_scope(or_else(name, "Hardmax"));
  const In depth = size_of(logits, -1);
  return one_hot(argmax(logits, -1), depth, {.dtype = logits.dtype()});
}

Output safe_cumprod(const Output& x, int axis, bool exclusive) {
  Scope scope = x.graph().name_scope("SafeCumprod");
  const double tiny = x.dtype() == float64 ? std::numeric_limits<double>::min()
                                           : static_cast<double>(std::numeric_limits<float>::min());
  return exp(cumsum(log(clip_by_value(x, tiny, 1)), axis, {.exclusive = exclusive}));
}

Output monotonic_attention(const Output& p_choose, const Output& previous, const std::string& mode) {
  Graph& graph = p_choose.graph();
  if (mode == "recursive") {
    const In batch = size_of(p_choose, 0);
    const Output count = nn::as_output(graph, batch, int32, "batch_size");
    const Output first = ones(graph, stack({In(count), In(1)}, 0), p_choose.dtype());
    const Output passed = concat({first, 1 - subscript(p_choose, {kAll, until(-1)})}, 1);
    const Output start = zeros(graph, stack({In(count)}, 0), p_choose.dtype());
    const Outputs scanned =
        scan([&](const Outputs& now,
                 const Outputs& each) { return Outputs{reshape(each[0] * now[0] + each[1], stack({In(count)}, 0))}; },
             {transpose(passed), transpose(previous)}, {start});
    return p_choose * transpose(scanned[0]);
  }
  if (mode == "parallel") {
    const Output passed = safe_cumprod(1 - p_choose, 1, true);
    return p_choose * passed * cumsum(previous / clip_by_value(passed, 1e-10, 1.), 1);
  }
  if (mode == "hard") {
    const Output reached = p_choose * cumsum(previous, 1);
    return reached * cumprod(1 - reached, 1, {.exclusive = true});
  }
  throw invalid_argument("mode must be 'recursive', 'parallel', or 'hard'.");
}

Output luong_score(const Output& query, const Output& keys, const Output& scale) {
  auto units = [](const Output& x) { return x.shape().has_rank() ? x.shape()[-1] : kUnknown; };
  if (units(query) != units(keys) || units(keys) == kUnknown) {
    throw invalid_argument(
        "Incompatible or unknown inner dimensions between query and keys.  Query ({}) has units: {}.  Keys ({}) have "
        "units: {}.  Perhaps you need to set num_units to the keys' dimension ({})?",
        query.name(), units(query), keys.name(), units(keys), units(keys));
  }
  const Output products = matmul(expand_dims(query, 1), keys, {.transpose_b = true});
  const Output scores = squeeze(products, {1});
  return scale ? scale * scores : scores;
}

Output bahdanau_score(const Output& query, const Output& keys, const Output& v, const Output& g, const Output& b) {
  const Output expanded = expand_dims(query, 1);
  if (!g || !b) return reduce_sum(v * tanh(keys + expanded), {2});
  const Output direction = g * v * rsqrt(reduce_sum(square(v)));
  return reduce_sum(direction * tanh(keys + expanded + b), {2});
}

Output masked_memory(const Output& memory, const Output& lengths) {
  const Output longest = subscript(shape(memory), {1});
  const Output mask = sequence_mask(lengths, In(longest), memory.dtype());
  const int rank = memory.shape().rank();
  if (rank < 2) throw invalid_argument("a memory of shape {} has no steps", memory.shape().str());
  const Output wide = concat({shape(mask), ones(memory.graph(), Shape{rank - 2}, int32)}, 0);
  return memory * reshape(mask, wide);
}

Output masked_scores(const Output& scores, const Output& lengths, const In& value) {
  Graph& graph = scores.graph();
  const Output all_positive = reduce_all(greater(lengths, zeros_like(lengths)));
  const Operation checked =
      assert_true(all_positive, {In("All values in memory_sequence_length must be greater than zero."), In(lengths)});
  auto scope = graph.control_dependencies({checked});
  const Output mask = sequence_mask(lengths, In(subscript(shape(scores), {1})));
  return where(mask, scores, nn::as_output(graph, value, scores.dtype(), "value") * ones_like(scores));
}

AttentionMechanism::AttentionMechanism(const Output& memory, int64_t units, const AttentionOptions& options)
    : options_(options), units_(units) {
  const Shape& shape = memory.shape();
  if (shape.rank() != 3 || shape[2] == kUnknown) {
    throw invalid_argument("Expected memory {} to have fully defined inner dims, but saw shape: {}", memory.name(),
                           shape.str());
  }
  Graph& graph = memory.graph();
  values_ = options.lengths ? masked_memory(memory, options.lengths) : memory;
  Variable kernel;
  {
    auto scope = graph.variable_scope("memory_layer");
    kernel = graph.get_variable("kernel", {shape[2], units}, {.dtype = memory.dtype()});
  }
  const Output steps = weir::shape(values_);
  const Output flat = matmul(reshape(values_, {-1, shape[2]}), kernel);
  keys_ = reshape(flat, concat({slice(steps, {0}, {2}), graph.constant({units}, int32)}, 0));
  keys_.set_shape({shape[0], shape[1], units});
}

Output AttentionMechanism::probabilities(const Output& scores) const {
  Output masked = scores;
  if (options_.lengths) {
    masked = masked_scores(scores, options_.lengths, -std::numeric_limits<double>::infinity());
  }
  return options_.probability ? options_.probability(masked) : nn::softmax(masked);
}

Output AttentionMechanism::initial_alignments(const In& batch_size, DType dtype) const {
  Graph& graph = keys_.graph();
  const int64_t length = keys_.shape()[1];
  if (length != kUnknown) return rnn::zeros_for_batch(graph, batch_size, {length}, dtype);
  const Output rows = nn::as_output(graph, batch_size, int32, "batch_size");
  Output weights = zeros(graph, stack({In(rows), In(subscript(shape(keys_), {1}))}, 0), dtype);
  weights.set_shape({kUnknown, kUnknown});
  return weights;
}

namespace {

Output luong_scores(const Output& query, const Output& keys, bool scaled) {
  Output scale;
  if (scaled) scale = query.graph().get_variable("attention_g", {}, {.initializer = ones_initializer()});
  return luong_score(query, keys, scale);
}

Output bahdanau_scores(const Output& query, const Output& keys, int64_t units, bool normalize, Variable& query_kernel) {
  Graph& graph = query.graph();
  if (!query_kernel) {
    auto layer = graph.variable_scope("query_layer");
    query_kernel = graph.get_variable("kernel", {query.shape()[1], units}, {.dtype = query.dtype()});
  }
  const Output processed = matmul(query, query_kernel);
  const Variable v = graph.get_variable("attention_v", {units}, {.dtype = query.dtype()});
  Output g, b;
  if (normalize) {
    const double length = std::sqrt(1. / static_cast<double>(units));
    g = graph.get_variable("attention_g", {}, {.initializer = constant_initializer(length)});
    b = graph.get_variable("attention_b", {units}, {.initializer = zeros_initializer()});
  }
  return bahdanau_score(processed, keys, v, g, b);
}

Output with_bias(const Output& scores, float initial) {
  return scores + scores.graph().get_variable("attention_score_bias", {},
                                              {.initializer = constant_initializer(initial), .dtype = scores.dtype()});
}

}  // namespace

Output LuongAttention::operator()(const Output& query, const Output&) {
  Output scores;
  {
    auto scope = query.graph().variable_scope("luong_attention", {.unique = true});
    scores = luong_scores(query, keys_, options_.scale);
  }
  return probabilities(scores);
}

Output BahdanauAttention::operator()(const Output& query, const Output&) {
  Output scores;
  {
    auto scope = query.graph().variable_scope("bahdanau_attention", {.unique = true});
    scores = bahdanau_scores(query, keys_, units_, options_.normalize, query_kernel_);
  }
  return probabilities(scores);
}

MonotonicAttention::MonotonicAttention(const Output& memory, int64_t units, const MonotonicOptions& options)
    : AttentionMechanism(memory, units, {.lengths = options.lengths}), monotonic_(options) {
  const std::string& mode = options.mode;
  if (mode != "parallel" && mode != "recursive" && mode != "hard") {
    throw invalid_argument("mode must be 'recursive', 'parallel', or 'hard', not '{}'", mode);
  }
}

Output MonotonicAttention::initial_alignments(const In& batch_size, DType dtype) const {
  Graph& graph = keys_.graph();
  const In length = size_of(keys_, 1);
  const Output rows = nn::as_output(graph, batch_size, int32, "batch_size");
  return one_hot(zeros(graph, stack({In(rows)}, 0), int32), length, {.dtype = dtype});
}

Output MonotonicAttention::attended(const Output& scores, const Output& previous) const {
  Output masked = scores;
  if (options_.lengths) {
    masked = masked_scores(scores, options_.lengths, -std::numeric_limits<double>::infinity());
  }
  if (monotonic_.sigmoid_noise > 0) {
    const Output noise =
        random_normal(masked.graph(), shape(masked), {.dtype = masked.dtype(), .seed = monotonic_.seed});
    masked = masked + monotonic_.sigmoid_noise * noise;
  }
  const Output stops = monotonic_.mode == "hard" ? cast(greater(masked, 0.f), masked.dtype()) : sigmoid(masked);
  return monotonic_attention(stops, previous, monotonic_.mode);
}

Output LuongMonotonicAttention::operator()(const Output& query, const Output& previous) {
  Output scores;
  {
    auto scope = query.graph().variable_scope("luong_monotonic_attention", {.unique = true});
    scores = with_bias(luong_scores(query, keys_, monotonic_.scale), monotonic_.score_bias_init);
  }
  return attended(scores, previous);
}

Output BahdanauMonotonicAttention::operator()(const Output& query, const Output& previous) {
  Output scores;
  {
    auto scope = query.graph().variable_scope("bahdanau_monotonic_attention", {.unique = true});
    scores = with_bias(bahdanau_scores(query, keys_, units_, monotonic_.normalize, query_kernel_),
                       monotonic_.score_bias_init);
  }
  return attended(scores, previous);
}

AttentionWrapper::AttentionWrapper(rnn::CellPtr cell, AttentionPtr attention, const AttentionWrapperOptions& options)
    : Cell("attention_wrapper", {.name = options.name}),
      cell_(std::move(cell)),
      attention_(std::move(attention)),
      options_(options) {
  if (!cell_ || !attention_) throw invalid_argument("an AttentionWrapper needs a cell and an attention");
}

int64_t AttentionWrapper::attention_size() const {
  return options_.attention_layer_size.value_or(attention_->values().shape()[-1]);
}

std::vector<Shape> AttentionWrapper::state_size() const {
  std::vector<Shape> sizes = cell_->state_size();
  sizes.push_back({attention_size()});
  sizes.push_back({attention_->keys().shape()[1]});
  return sizes;
}

Shape AttentionWrapper::output_size() const {
  return options_.output_attention ? Shape{attention_size()} : cell_->output_size();
}

std::vector<bool> AttentionWrapper::memories() const {
  std::vector<bool> flags = cell_->memories();
  flags.resize(flags.size() + 2);
  return flags;
}

rnn::State AttentionWrapper::zero_state(Graph& graph, const In& batch_size, DType dtype) const {
  rnn::State state = options_.initial_cell_state;
  if (state.empty()) state = cell_->zero_state(graph, batch_size, dtype);
  state.push_back(rnn::zeros_for_batch(graph, batch_size, {attention_size()}, dtype));
  state.push_back(attention_->initial_alignments(batch_size, dtype));
  return state;
}

rnn::Step AttentionWrapper::call(const Output& inputs, const rnn::State& state) {
  const size_t own = state.size() - 2;
  const Output &attention = state[own], &alignments = state[own + 1];
  const rnn::State cell_state(state.begin(), state.begin() + static_cast<ptrdiff_t>(own));
  rnn::Step step = (*cell_)(concat({inputs, attention}, -1), cell_state);
  const Output weights = (*attention_)(step.output, alignments);
  const Output context = squeeze(matmul(expand_dims(weights, 1), attention_->values()), {1});
  Output looked = context;
  if (options_.attention_layer_size) {
    const Output both = concat({step.output, context}, 1);
    if (!layer_) layer_ = add_weight("attention_layer/kernel", {both.shape()[1], *options_.attention_layer_size});
    looked = matmul(both, layer_);
  }
  rnn::State next = step.state;
  next.push_back(looked);
  next.push_back(weights);
  return {options_.output_attention ? looked : step.output, std::move(next)};
}

}  // namespace weir::seq2seq
