#include "base/errors.h"
#include "weir/embedding.h"
#include "weir/legacy_seq2seq.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"
#include "weir/variable_scope.h"

// Sequences to sequences along lists that share weights: one cell for both sides, one encoder for many decoders,
// buckets.
namespace weir::seq2seq {
namespace {

Graph& graph_of(const std::vector<Output>& list) {
  if (list.empty()) throw invalid_argument("a sequence must have at least one step");
  return list[0].graph();
}

std::string_view or_else(std::string_view scope, std::string_view usual) { return scope.empty() ? usual : scope; }

std::vector<Output> embedded(const Variable& embedding, const std::vector<Output>& symbols) {
  std::vector<Output> steps;
  for (const Output& step : symbols) steps.push_back(nn::embedding_lookup({embedding}, step));
  return steps;
}

LoopFunction own_words(const Variable& embedding, const std::optional<std::pair<Output, Output>>& projection) {
  return [=](const Output& previous, int) {
    const Output logits = projection ? matmul(previous, projection->first) + projection->second : previous;
    return nn::embedding_lookup({embedding}, argmax(logits, 1));
  };
}

void require_length(const char* what, size_t have, size_t need) {
  if (have >= need) return;
  throw invalid_argument("Length of {} ({}) must be at least that of last bucket ({}).", what, have, need);
}

std::vector<Output> first(const std::vector<Output>& list, size_t count) {
  return {list.begin(), list.begin() + static_cast<ptrdiff_t>(count)};
}

}  // namespace

rnn::Unrolled tied_rnn_seq2seq(const std::vector<Output>& encoder_inputs, const std::vector<Output>& decoder_inputs,
                               const rnn::CellPtr& cell, const LoopFunction& loop, std::string_view scope_name) {
  auto scope = graph_of(encoder_inputs).variable_scope("combined_tied_rnn_seq2seq");
  const rnn::State state = rnn::static_rnn(cell, encoder_inputs, {.scope = scope_name}).state;
  scope.reuse_variables();
  return rnn_decoder(decoder_inputs, state, cell, loop, scope_name);
}

rnn::Unrolled embedding_tied_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                         const std::vector<Output>& decoder_inputs, const rnn::CellPtr& cell,
                                         const EmbeddingSeq2seqOptions& options) {
  Graph& graph = graph_of(encoder_inputs);
  auto scope = graph.variable_scope(or_else(options.scope, "embedding_tied_rnn_seq2seq"));
  const int64_t symbols = options.num_encoder_symbols;
  const Variable embedding = graph.get_variable("embedding", {symbols, options.embedding_size});
  rnn::CellPtr whole = cell;
  if (!options.output_projection) {
    const int64_t written = options.num_decoder_symbols > 0 ? options.num_decoder_symbols : symbols;
    whole = std::make_shared<rnn::OutputProjectionWrapper>(cell, written);
  }
  LoopFunction loop;
  if (options.feed_previous) loop = own_words(embedding, options.output_projection);
  return tied_rnn_seq2seq(embedded(embedding, encoder_inputs), embedded(embedding, decoder_inputs), whole, loop);
}

std::map<std::string, rnn::Unrolled> one2many_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                                          const std::map<std::string, ManyDecoder>& decoders,
                                                          const rnn::CellPtr& encoder,
                                                          const EmbeddingSeq2seqOptions& options) {
  Graph& graph = graph_of(encoder_inputs);
  auto scope = graph.variable_scope(or_else(options.scope, "one2many_rnn_seq2seq"));
  auto reader = std::make_shared<rnn::EmbeddingWrapper>(encoder, options.num_encoder_symbols, options.embedding_size);
  const rnn::State state = rnn::static_rnn(reader, encoder_inputs).state;
  std::map<std::string, rnn::Unrolled> written;
  for (const auto& [name, decoder] : decoders) {
    auto own = graph.variable_scope("one2many_decoder_" + name);
    auto cell = std::make_shared<rnn::OutputProjectionWrapper>(decoder.cell, decoder.num_symbols);
    auto inner = graph.variable_scope("embedding_rnn_decoder");
    const Variable embedding = graph.get_variable("embedding", {decoder.num_symbols, options.embedding_size});
    LoopFunction loop;
    if (options.feed_previous) loop = own_words(embedding, {});
    written[name] = rnn_decoder(embedded(embedding, decoder.inputs), state, cell, loop);
  }
  return written;
}

std::vector<BucketModel> model_with_buckets(const std::vector<Output>& encoder_inputs,
                                            const std::vector<Output>& decoder_inputs,
                                            const std::vector<Output>& targets, const std::vector<Output>& weights,
                                            const std::vector<Bucket>& buckets, const Seq2seq& model,
                                            const BucketOptions& options) {
  if (buckets.empty()) throw invalid_argument("there must be at least one bucket");
  require_length("encoder_inputs", encoder_inputs.size(), buckets.back().encoder_size);
  for (const auto& [what, list] :
       {std::pair{"decoder_inputs", &decoder_inputs}, {"targets", &targets}, {"weights", &weights}}) {
    require_length(what, list->size(), buckets.back().decoder_size);
  }
  Graph& graph = graph_of(encoder_inputs);
  Scope names = graph.name_scope(or_else(options.name, "model_with_buckets"));
  std::vector<BucketModel> models;
  for (const Bucket& bucket : buckets) {
    VariableScopeOptions sharing;
    if (!models.empty()) sharing.reuse = true;
    auto scope = variable_scope(graph, graph.variable_scope(), sharing);
    BucketModel made{model(first(encoder_inputs, bucket.encoder_size), first(decoder_inputs, bucket.decoder_size)), {}};
    auto loss =
        options.per_example_loss
            ? sequence_loss_by_example
            : static_cast<Output (*)(const std::vector<Output>&, const std::vector<Output>&, const std::vector<Output>&,
                                     const ListLossOptions&, std::string_view)>(sequence_loss);
    made.loss = loss(made.outputs, first(targets, bucket.decoder_size), first(weights, bucket.decoder_size),
                     {.softmax_loss = options.softmax_loss}, {});
    models.push_back(std::move(made));
  }
  return models;
}

}  // namespace weir::seq2seq
