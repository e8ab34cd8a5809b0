// Recurrent networks and sequence models: loops over steps, attention, samples and beams. Structures of states and
// outputs are the package's: what comes here are flat lists of tensors. The cells are in cells.cc.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nn/rnn/loops.h"
#include "nn/seq2seq/decode_loop.h"
#include "sequences.h"
#include "weir/crf.h"
#include "weir/functional.h"
#include "weir/seq2seq_helpers.h"

namespace weir::python {
namespace {

std::vector<Shape> to_shapes(H list) {
  std::vector<Shape> shapes;
  for (H item : nb::iter(list)) shapes.push_back(to_shape(item));
  return shapes;
}

nb::object pair(const rnn::FlatStep& step) { return nb::make_tuple(wrap(step.outputs), wrap(step.state)); }

// A batch's size: a number, or a tensor.
In to_batch_size(G graph, H value) {
  if (find_tensor(value)) return tensor_of(graph, value);
  return In(to_int64(value, "batch_size"));
}

void bind_loops(nb::module_& m) {
  def(m, "zeros_for_batch", [](G g, H batch_size, H size, H dtype) {
    return build(g, {batch_size}, [&](G graph) {
      return wrap(rnn::zeros_for_batch(graph, to_batch_size(graph, batch_size), to_shape(size), to_dtype(dtype)));
    });
  });
  def(m, "transpose_batch_time", [](G g, H x) {
    return build(g, {x}, [&](G graph) { return wrap(rnn::transpose_batch_time(tensor_of(graph, x))); });
  });
  def(m, "checked_lengths", [](G g, H lengths, H batch_size) {
    return build(g, {lengths, batch_size}, [&](G graph) {
      return wrap(rnn::checked_lengths(tensor_of(graph, lengths), to_batch_size(graph, batch_size)));
    });
  });
  def(m, "frozen", [](G g, H finished, H before, H after) {
    return build(g, {finished}, [&](G graph) {
      return wrap(rnn::frozen(tensor_of(graph, finished), to_outputs(graph, before), to_outputs(graph, after)));
    });
  });
  def(m, "dynamic_loop", [](G g, H cell, H inputs, H state, H sizes, H dtype, H batch_size, H lengths, H parallel) {
    return build(g, {inputs, state}, [&](G graph) {
      rnn::FlatLoop loop{.cell = [&](const std::vector<Output>& x, const std::vector<Output>& now) -> rnn::FlatStep {
                           nb::object given = nb::object(cell(wrap(x), wrap(now)));
                           return {to_outputs(graph, item_of(given, 0)), to_outputs(graph, item_of(given, 1))};
                         },
                         .inputs = to_outputs(graph, inputs),
                         .state = to_outputs(graph, state),
                         .output_sizes = to_shapes(sizes),
                         .dtype = to_dtype(dtype),
                         .batch_size = to_batch_size(graph, batch_size),
                         .lengths = optional_tensor(graph, lengths),
                         .options = {.parallel_iterations = to_int64(parallel, "parallel_iterations")}};
      return pair(rnn::dynamic_loop(loop));
    });
  });
  def(m, "decode_loop",
      [](G g, H step, H finished, H inputs, H state, H zero_outputs, H types, H elements, H tracks, H impute, H maximum,
         H parallel) {
        return build(g, {finished, inputs, state}, [&](G graph) {
          seq2seq::FlatDecoder decoder{.step = [&](const Output& time, const std::vector<Output>& x,
                                                   const std::vector<Output>& now) -> seq2seq::FlatDecoderStep {
                                         nb::object given = nb::object(step(wrap(time), wrap(x), wrap(now)));
                                         return {
                                             to_outputs(graph, item_of(given, 0)), to_outputs(graph, item_of(given, 1)),
                                             to_outputs(graph, item_of(given, 2)), tensor_of(graph, item_of(given, 3))};
                                       },
                                       .finished = tensor_of(graph, finished),
                                       .inputs = to_outputs(graph, inputs),
                                       .state = to_outputs(graph, state),
                                       .zero_outputs = to_outputs(graph, zero_outputs),
                                       .output_types = {},
                                       .element_shapes = to_shapes(elements),
                                       .tracks_own_finished = to_bool(tracks),
                                       .impute_finished = to_bool(impute),
                                       .maximum_iterations = to_optional_in(graph, maximum),
                                       .parallel_iterations = to_int64(parallel, "parallel_iterations")};
          for (H type : nb::iter(types)) decoder.output_types.push_back(to_dtype(type));
          const seq2seq::FlatDecoded done = seq2seq::decode_loop(decoder);
          return nb::make_tuple(wrap(done.outputs), wrap(done.state), wrap(done.lengths));
        });
      });
}

FunctionalOptions functional_options(H parallel, H back_prop, H infer_shape, const std::string& name) {
  return {.parallel_iterations = to_int64(parallel, "parallel_iterations"),
          .back_prop = to_bool(back_prop),
          .infer_shape = to_bool(infer_shape),
          .name = name};
}

InList to_in_list(const std::vector<Output>& outputs) { return InList(outputs); }

void bind_functional(nb::module_& m) {
  def(m, "map_fn", [](G g, H function, H elements, H types, H parallel, H back_prop, H infer_shape, H name) {
    return build(g, {elements}, [&](G graph) {
      std::vector<DType> dtypes;
      for (H type : nb::iter(types)) dtypes.push_back(to_dtype(type));
      const std::string own_name = to_name(name);
      return wrap(map_fn([&](const Outputs& each) { return to_outputs(graph, nb::object(function(wrap(each)))); },
                         to_in_list(to_outputs(graph, elements)), dtypes,
                         functional_options(parallel, back_prop, infer_shape, own_name)));
    });
  });
  // `kind`: "foldl", "foldr" or "scan".
  def(m, "fold",
      [](G g, const std::string& kind, H function, H elements, H initial, H parallel, H back_prop, H infer_shape,
         H reverse, H name) {
        return build(g, {elements, initial}, [&](G graph) {
          const std::string own_name = to_name(name);
          FunctionalOptions options = functional_options(parallel, back_prop, infer_shape, own_name);
          options.reverse = to_bool(reverse);
          auto* fold = kind == "scan" ? &scan : kind == "foldl" ? &foldl : &foldr;
          return wrap(
              fold([&](const Outputs& now,
                       const Outputs& each) { return to_outputs(graph, nb::object(function(wrap(now), wrap(each)))); },
                   to_in_list(to_outputs(graph, elements)), to_outputs(graph, initial), options));
        });
      });
}

void bind_attention(nb::module_& m) {
  def(m, "hardmax", [](G g, H logits, H name) {
    return build(g, {logits}, [&](G graph) { return wrap(seq2seq::hardmax(tensor_of(graph, logits), to_name(name))); });
  });
  def(m, "monotonic_attention", [](G g, H p_choose, H previous, const std::string& mode) {
    return build(g, {p_choose, previous}, [&](G graph) {
      return wrap(seq2seq::monotonic_attention(tensor_of(graph, p_choose), tensor_of(graph, previous), mode));
    });
  });
  def(m, "luong_score", [](G g, H query, H keys, H scale) {
    return build(g, {query, keys}, [&](G graph) {
      return wrap(seq2seq::luong_score(tensor_of(graph, query), tensor_of(graph, keys), optional_tensor(graph, scale)));
    });
  });
  def(m, "bahdanau_score", [](G g, H query, H keys, H v, H scale, H b) {
    return build(g, {query, keys}, [&](G graph) {
      return wrap(seq2seq::bahdanau_score(tensor_of(graph, query), tensor_of(graph, keys), tensor_of(graph, v),
                                          optional_tensor(graph, scale), optional_tensor(graph, b)));
    });
  });
  def(m, "masked_memory", [](G g, H memory, H lengths) {
    return build(g, {memory}, [&](G graph) {
      return wrap(seq2seq::masked_memory(tensor_of(graph, memory), tensor_of(graph, lengths)));
    });
  });
  def(m, "masked_scores", [](G g, H scores, H lengths, H value) {
    return build(g, {scores}, [&](G graph) {
      const Output given = tensor_of(graph, scores);
      return wrap(seq2seq::masked_scores(given, tensor_of(graph, lengths), to_in(graph, value, given.dtype())));
    });
  });
}

void bind_beams(nb::module_& m) {
  def(m, "tile_batch", [](G g, H t, H multiplier) {
    return build(g, {t}, [&](G graph) {
      return wrap(seq2seq::tile_batch(tensor_of(graph, t), to_int64(multiplier, "multiplier")));
    });
  });
  def(m, "gather_beams", [](G g, H x, H parents) {
    return build(g, {x},
                 [&](G graph) { return wrap(seq2seq::gather_beams(tensor_of(graph, x), tensor_of(graph, parents))); });
  });
  def(m, "gather_tree_from_array", [](G g, H t, H parents, H lengths) {
    return build(g, {t}, [&](G graph) {
      return wrap(
          seq2seq::gather_tree_from_array(tensor_of(graph, t), tensor_of(graph, parents), tensor_of(graph, lengths)));
    });
  });
  // The state and the result's: log probabilities, finished, lengths, sums of attention (or None).
  def(m, "beam_search_step",
      [](G g, H logits, nb::tuple state, H end_token, H length_penalty, H coverage_penalty, H attention) {
        return build(g, {logits}, [&](G graph) {
          const seq2seq::BeamStep step =
              seq2seq::beam_search_step(tensor_of(graph, logits),
                                        {tensor_of(graph, state[0]), tensor_of(graph, state[1]),
                                         tensor_of(graph, state[2]), optional_tensor(graph, state[3])},
                                        {.end_token = to_in(graph, end_token),
                                         .length_penalty = to_in(graph, length_penalty),
                                         .coverage_penalty = to_in(graph, coverage_penalty),
                                         .attention_probs = optional_tensor(graph, attention)});
          const seq2seq::BeamState& next = step.state;
          nb::object sums = next.attention ? nb::object(wrap(next.attention)) : nb::none();
          return nb::make_tuple(nb::make_tuple(wrap(step.scores), wrap(step.predicted_ids), wrap(step.parent_ids)),
                                nb::make_tuple(wrap(next.log_probs), wrap(next.finished), wrap(next.lengths), sums));
        });
      });
  def(m, "sequence_loss", [](G g, H logits, H targets, H weights, nb::tuple flags, H softmax_loss, H name) {
    return build(g, {logits, targets, weights}, [&](G graph) {
      const std::string own_name = to_name(name);
      seq2seq::SequenceLossOptions options{.average_across_timesteps = to_bool(flags[0]),
                                           .average_across_batch = to_bool(flags[1]),
                                           .sum_over_timesteps = to_bool(flags[2]),
                                           .sum_over_batch = to_bool(flags[3]),
                                           .name = own_name};
      if (!softmax_loss.is_none()) {
        options.softmax_loss = [&](const Output& labels, const Output& flat) {
          return tensor_of(graph, nb::object(softmax_loss(wrap(labels), wrap(flat))));
        };
      }
      return wrap(seq2seq::sequence_loss(tensor_of(graph, logits), tensor_of(graph, targets), tensor_of(graph, weights),
                                         options));
    });
  });
}

seq2seq::SampleOptions sample_options(G graph, H dtype, H sample_shape, H seed) {
  seq2seq::SampleOptions options{.dtype = to_dtype(dtype), .seed = to_seed(seed)};
  if (!sample_shape.is_none()) options.sample_shape = to_in(graph, sample_shape, DType::Int32);
  return options;
}

void bind_samples(nb::module_& m) {
  def(m, "bernoulli_sample", [](G g, H probabilities, H dtype, H sample_shape, H seed) {
    return build(g, {probabilities}, [&](G graph) {
      return wrap(
          seq2seq::bernoulli_sample(tensor_of(graph, probabilities), sample_options(graph, dtype, sample_shape, seed)));
    });
  });
  def(m, "categorical_sample", [](G g, H logits, H dtype, H sample_shape, H seed) {
    return build(g, {logits}, [&](G graph) {
      return wrap(
          seq2seq::categorical_sample(tensor_of(graph, logits), sample_options(graph, dtype, sample_shape, seed)));
    });
  });
  def(m, "scheduled_choices", [](G g, H probability, H batch_size, H dtype, H seed) {
    return build(g, {probability}, [&](G graph) {
      return wrap(seq2seq::scheduled_choices(tensor_of(graph, probability), tensor_of(graph, batch_size),
                                             to_dtype(dtype), to_seed(seed)));
    });
  });
  def(m, "mixed_rows", [](G g, H sampled, H others, H rows) {
    return build(g, {sampled, others}, [&](G graph) {
      return wrap(seq2seq::mixed_rows(tensor_of(graph, sampled), tensor_of(graph, others), [&](const Output& places) {
        return tensor_of(graph, nb::object(rows(wrap(places))));
      }));
    });
  });
}

template <Output (*function)(const Output&, const Output&, const Output&)>
void def_crf(nb::module_& m, const char* name) {
  def(m, name, [](G g, H x, H y, H z) {
    return build(g, {x, y, z}, [&](G graph) {
      return wrap(function(tensor_of(graph, x), tensor_of(graph, y), tensor_of(graph, z)));
    });
  });
}
template <Output (*function)(const Output&, const Output&, const Output&, const Output&)>
void def_crf(nb::module_& m, const char* name) {
  def(m, name, [](G g, H x, H y, H z, H w) {
    return build(g, {x, y, z, w}, [&](G graph) {
      return wrap(function(tensor_of(graph, x), tensor_of(graph, y), tensor_of(graph, z), tensor_of(graph, w)));
    });
  });
}

void bind_crf(nb::module_& m) {
  def_crf<&crf::unary_score>(m, "crf_unary_score");
  def_crf<&crf::binary_score>(m, "crf_binary_score");
  def_crf<&crf::log_norm>(m, "crf_log_norm");
  def_crf<&crf::sequence_score>(m, "crf_sequence_score");
  def_crf<&crf::multitag_sequence_score>(m, "crf_multitag_sequence_score");
  def(m, "crf_decode", [](G g, H inputs, H transitions, H lengths) {
    return build(g, {inputs, transitions, lengths}, [&](G graph) {
      const crf::Decoding best =
          crf::decode(tensor_of(graph, inputs), tensor_of(graph, transitions), tensor_of(graph, lengths));
      return nb::make_tuple(wrap(best.tags), wrap(best.scores));
    });
  });
}

}  // namespace

void bind_sequences(nb::module_& m) {
  bind_loops(m);
  bind_functional(m);
  bind_attention(m);
  bind_samples(m);
  bind_beams(m);
  bind_crf(m);
}

}  // namespace weir::python
