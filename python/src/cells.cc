// The arithmetic of recurrent cells. Their variables are the package's: a step gets them, or asks for them as it goes.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "sequences.h"
#include "weir/contrib_cells.h"
#include "weir/gated_cells.h"
#include "weir/grid_cells.h"

namespace weir::python {
namespace {

// nanobind does not look whether there is one.
H item(const nb::tuple& weights, size_t index) {
  if (index >= weights.size()) throw nb::value_error("there are fewer weights than the step has");
  return weights[index];
}

nb::object pair(const rnn::Step& step) { return nb::make_tuple(wrap(step.output), wrap(step.state)); }

void bind_plain_cells(nb::module_& m) {
  def(m, "basic_rnn_step", [](G g, H x, H state, H kernel, H bias, H activation) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::basic_rnn_step(tensor_of(graph, x), tensor_of(graph, state), tensor_of(graph, kernel),
                                      tensor_of(graph, bias), activation_of(graph, activation)));
    });
  });
  def(m, "gru_step",
      [](G g, H x, H state, H gate_kernel, H gate_bias, H candidate_kernel, H candidate_bias, H activation) {
        return build(g, {x, state}, [&](G graph) {
          return pair(rnn::gru_step(tensor_of(graph, x), tensor_of(graph, state), tensor_of(graph, gate_kernel),
                                    tensor_of(graph, gate_bias), tensor_of(graph, candidate_kernel),
                                    tensor_of(graph, candidate_bias), activation_of(graph, activation)));
        });
      });
  def(m, "basic_lstm_step", [](G g, H x, H c, H h, H kernel, H bias, H forget_bias, H activation) {
    return build(g, {x, c, h}, [&](G graph) {
      return pair(rnn::basic_lstm_step(tensor_of(graph, x), {tensor_of(graph, c), tensor_of(graph, h)},
                                       {tensor_of(graph, kernel), tensor_of(graph, bias)},
                                       static_cast<float>(to_double(forget_bias, "forget_bias")),
                                       activation_of(graph, activation)));
    });
  });
  def(m, "lstm_step", [](G g, H x, H c, H h, nb::tuple weights, H forget_bias, H cell_clip, H proj_clip, H activation) {
    return build(g, {x, c, h}, [&](G graph) {
      rnn::LSTMWeights w{tensor_of(graph, item(weights, 0)),       tensor_of(graph, item(weights, 1)),
                         optional_tensor(graph, item(weights, 2)), optional_tensor(graph, item(weights, 3)),
                         optional_tensor(graph, item(weights, 4)), optional_tensor(graph, item(weights, 5))};
      rnn::LSTMOptions options{.cell_clip = optional_number(cell_clip, "cell_clip"),
                               .proj_clip = optional_number(proj_clip, "proj_clip"),
                               .forget_bias = static_cast<float>(to_double(forget_bias, "forget_bias")),
                               .activation = activation_of(graph, activation)};
      return pair(rnn::lstm_step(tensor_of(graph, x), {tensor_of(graph, c), tensor_of(graph, h)}, w, options));
    });
  });
}

rnn::IndependentWeights independent(G graph, nb::tuple weights) {
  return {tensor_of(graph, item(weights, 0)), tensor_of(graph, item(weights, 1)), tensor_of(graph, item(weights, 2))};
}

void bind_contrib_cells(nb::module_& m) {
  def(m, "nas_step", [](G g, H x, H c, H h, nb::tuple weights) {
    return build(g, {x, c, h}, [&](G graph) {
      return pair(rnn::nas_step(tensor_of(graph, x), {tensor_of(graph, c), tensor_of(graph, h)},
                                {tensor_of(graph, item(weights, 0)), tensor_of(graph, item(weights, 1)),
                                 optional_tensor(graph, item(weights, 2)), optional_tensor(graph, item(weights, 3))}));
    });
  });
  def(m, "ugrnn_step", [](G g, H x, H state, H kernel, H bias, H forget_bias, H activation) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::ugrnn_step(tensor_of(graph, x), tensor_of(graph, state), tensor_of(graph, kernel),
                                  tensor_of(graph, bias), static_cast<float>(to_double(forget_bias, "forget_bias")),
                                  activation_of(graph, activation)));
    });
  });
  def(m, "sru_step", [](G g, H x, H state, H kernel, H bias, H activation) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::sru_step(tensor_of(graph, x), tensor_of(graph, state), tensor_of(graph, kernel),
                                tensor_of(graph, bias), activation_of(graph, activation)));
    });
  });
  def(m, "ind_rnn_step", [](G g, H x, H state, nb::tuple weights, H activation) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::ind_rnn_step(tensor_of(graph, x), tensor_of(graph, state), independent(graph, weights),
                                    activation_of(graph, activation)));
    });
  });
  def(m, "indy_gru_step", [](G g, H x, H state, nb::tuple gates, nb::tuple candidate, H activation) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::indy_gru_step(tensor_of(graph, x), tensor_of(graph, state), independent(graph, gates),
                                     independent(graph, candidate), activation_of(graph, activation)));
    });
  });
  def(m, "indy_lstm_step", [](G g, H x, H c, H h, nb::tuple weights, H forget_bias, H activation) {
    return build(g, {x, c, h}, [&](G graph) {
      return pair(rnn::indy_lstm_step(
          tensor_of(graph, x), {tensor_of(graph, c), tensor_of(graph, h)}, independent(graph, weights),
          static_cast<float>(to_double(forget_bias, "forget_bias")), activation_of(graph, activation)));
    });
  });
}

// An initializer as the package takes it: None, or a function of (shape, dtype, partition_info).
nb::object from_initializer(G graph, const Initializer& initializer) {
  if (!initializer) return nb::none();
  auto call = [&graph, initializer](H shape, H dtype, H) {
    return wrap(initializer(graph, to_shape(shape), dtype.is_none() ? DType::Float32 : to_dtype(dtype)));
  };
  return nb::cpp_function(call, nb::arg("shape"), nb::arg("dtype").none() = nb::none(),
                          nb::arg("partition_info").none() = nb::none());
}

// The package's function (name, shape, initializer, trainable) that finds or makes a weight.
rnn::WeightSource weights_from(G graph, H function) {
  return [&graph, function](const std::string& name, const Shape& shape, const layers::WeightOptions& options) {
    return tensor_of(graph, nb::object(function(name, from_shape(shape), from_initializer(graph, options.initializer),
                                                options.trainable)));
  };
}

// Options of a cell by name, as its class in the package has them.
class Options {
 public:
  Options(G graph, H given) : graph_(graph), given_(nb::cast<nb::dict>(given)) {}
  bool flag(const char* name) const { return to_bool(at(name)); }
  float number(const char* name) const { return static_cast<float>(to_double(at(name), name)); }
  std::optional<float> limit(const char* name) const { return optional_number(at(name), name); }
  int64_t count(const char* name) const { return to_int64(at(name), name); }
  std::optional<int64_t> optional_count(const char* name) const {
    if (at(name).is_none()) return std::nullopt;
    return count(name);
  }
  std::vector<int64_t> counts(const char* name) const {
    return at(name).is_none() ? std::vector<int64_t>() : to_ints(at(name), name);
  }
  std::optional<int64_t> seed(const char* name) const { return to_seed(at(name)); }
  In share(const char* name) const {
    if (find_tensor(at(name))) return tensor_of(graph_, at(name));
    return In(number(name));
  }
  rnn::Activation activation(const char* name) const { return activation_of(graph_, at(name)); }

 private:
  H at(const char* name) const {
    PyObject* found = PyDict_GetItemString(given_.ptr(), name);
    if (!found) throw nb::key_error(name);
    return found;
  }
  G graph_;
  nb::dict given_;
};

rnn::State state_of(G graph, H state) { return to_outputs(graph, state); }

// Defines a step (inputs, state, units, options, weights) -> (output, state), whose options `read` makes.
template <class Read, class Step>
void def_step(nb::module_& m, const char* name, Read read, Step step) {
  def(m, name, [read, step](G g, H x, H state, H units, H options, H weights) {
    return build(g, {x, state}, [&](G graph) {
      return pair(step(tensor_of(graph, x), state_of(graph, state), to_int64(units, "num_units"),
                       read(Options(graph, options)), weights_from(graph, weights)));
    });
  });
}

rnn::CoupledLSTMOptions coupled_options(const Options& o) {
  return {.use_peepholes = o.flag("use_peepholes"),
          .num_proj = o.optional_count("num_proj"),
          .proj_clip = o.limit("proj_clip"),
          .num_unit_shards = o.count("num_unit_shards"),
          .num_proj_shards = o.count("num_proj_shards"),
          .forget_bias = o.number("forget_bias"),
          .activation = o.activation("activation"),
          .layer_norm = o.flag("layer_norm"),
          .norm_gain = o.number("norm_gain"),
          .norm_shift = o.number("norm_shift")};
}

rnn::LayerNormLSTMOptions layer_norm_basic_options(const Options& o) {
  return {.forget_bias = o.number("forget_bias"),
          .activation = o.activation("activation"),
          .layer_norm = o.flag("layer_norm"),
          .norm_gain = o.number("norm_gain"),
          .norm_shift = o.number("norm_shift"),
          .dropout_keep_prob = o.share("dropout_keep_prob"),
          .dropout_seed = o.seed("dropout_prob_seed")};
}

rnn::LayerNormProjectedOptions layer_norm_options(const Options& o) {
  return {.use_peepholes = o.flag("use_peepholes"),
          .cell_clip = o.limit("cell_clip"),
          .num_proj = o.optional_count("num_proj"),
          .proj_clip = o.limit("proj_clip"),
          .forget_bias = o.number("forget_bias"),
          .activation = o.activation("activation"),
          .layer_norm = o.flag("layer_norm"),
          .norm_gain = o.number("norm_gain"),
          .norm_shift = o.number("norm_shift")};
}

rnn::WeightNormOptions weight_norm_options(const Options& o) {
  return {.norm = o.flag("norm"),
          .use_peepholes = o.flag("use_peepholes"),
          .cell_clip = o.limit("cell_clip"),
          .num_proj = o.optional_count("num_proj"),
          .proj_clip = o.limit("proj_clip"),
          .forget_bias = o.number("forget_bias"),
          .activation = o.activation("activation")};
}

rnn::PhasedLSTMOptions phased_options(const Options& o) {
  return {.use_peepholes = o.flag("use_peepholes"),
          .leak = o.number("leak"),
          .ratio_on = o.number("ratio_on"),
          .trainable_ratio_on = o.flag("trainable_ratio_on"),
          .period_init_min = o.number("period_init_min"),
          .period_init_max = o.number("period_init_max")};
}

rnn::GroupLSTMOptions group_options(const Options& o) {
  return {.num_proj = o.optional_count("num_proj"),
          .number_of_groups = o.count("number_of_groups"),
          .forget_bias = o.number("forget_bias"),
          .activation = o.activation("activation")};
}

rnn::IntersectionOptions intersection_options(const Options& o) {
  return {.num_in_proj = o.optional_count("num_in_proj"),
          .forget_bias = o.number("forget_bias"),
          .y_activation = o.activation("y_activation")};
}

rnn::TimeFreqOptions time_freq_options(const Options& o) {
  return {.use_peepholes = o.flag("use_peepholes"),
          .cell_clip = o.limit("cell_clip"),
          .num_unit_shards = o.count("num_unit_shards"),
          .forget_bias = o.number("forget_bias"),
          .feature_size = o.count("feature_size"),
          .frequency_skip = o.count("frequency_skip")};
}

rnn::GridLSTMOptions grid_options(const Options& o) {
  return {.use_peepholes = o.flag("use_peepholes"),
          .share_time_frequency_weights = o.flag("share_time_frequency_weights"),
          .cell_clip = o.limit("cell_clip"),
          .num_unit_shards = o.count("num_unit_shards"),
          .forget_bias = o.number("forget_bias"),
          .feature_size = o.count("feature_size"),
          .frequency_skip = o.count("frequency_skip"),
          .num_frequency_blocks = o.counts("num_frequency_blocks"),
          .start_freqindex_list = o.counts("start_freqindex_list"),
          .end_freqindex_list = o.counts("end_freqindex_list"),
          .couple_input_forget_gates = o.flag("couple_input_forget_gates"),
          .backward_slice_offset = o.count("backward_slice_offset")};
}

void bind_asking_cells(nb::module_& m) {
  def_step(m, "coupled_lstm_step", coupled_options, rnn::coupled_lstm_step);
  def_step(m, "layer_norm_basic_lstm_step", layer_norm_basic_options, rnn::layer_norm_basic_lstm_step);
  def_step(m, "layer_norm_lstm_step", layer_norm_options, rnn::layer_norm_lstm_step);
  def_step(m, "weight_norm_lstm_step", weight_norm_options, rnn::weight_norm_lstm_step);
  def_step(m, "group_lstm_step", group_options, rnn::group_lstm_step);
  def_step(m, "grid_lstm_step", grid_options, rnn::grid_lstm_step);
  def_step(m, "bidirectional_grid_lstm_step", grid_options, rnn::bidirectional_grid_lstm_step);
  // Those whose state is one tensor.
  auto of_one = [](auto step) {
    return [step](const Output& x, const rnn::State& state, int64_t units, const auto& options,
                  const rnn::WeightSource& weights) { return step(x, state.at(0), units, options, weights); };
  };
  def_step(m, "intersection_step", intersection_options, of_one(rnn::intersection_step));
  def_step(m, "time_freq_lstm_step", time_freq_options, of_one(rnn::time_freq_lstm_step));
  def(m, "phased_lstm_step", [](G g, H time, H x, H state, H units, H options, H weights) {
    return build(g, {x, state}, [&](G graph) {
      return pair(rnn::phased_lstm_step(tensor_of(graph, time), tensor_of(graph, x), state_of(graph, state),
                                        to_int64(units, "num_units"), phased_options(Options(graph, options)),
                                        weights_from(graph, weights)));
    });
  });
  def(m, "conv_lstm_step", [](G g, H x, H state, H channels, H kernel, H use_bias, H skip, H forget_bias, H weights) {
    return build(g, {x, state}, [&](G graph) {
      const rnn::ConvLSTMOptions options{.use_bias = to_bool(use_bias),
                                         .skip_connection = to_bool(skip),
                                         .forget_bias = static_cast<float>(to_double(forget_bias, "forget_bias"))};
      return pair(rnn::conv_lstm_step(tensor_of(graph, x), state_of(graph, state),
                                      to_int64(channels, "output_channels"), to_ints(kernel, "kernel_shape"), options,
                                      weights_from(graph, weights)));
    });
  });
}

void bind_dropout(nb::module_& m) {
  m.def("dropout_seed", [](int64_t seed, const std::string& part, int64_t index) {
    return *rnn::dropout_seed(seed, part, static_cast<size_t>(index));
  });
  def(m, "variational_noise", [](G g, H size, H dtype, H seed) {
    return build(g, {}, [&](G graph) {
      return wrap(rnn::variational_noise(graph, to_shape(size), to_dtype(dtype), to_seed(seed)));
    });
  });
  def(m, "variational_dropout", [](G g, H x, H noise, H keep_prob) {
    return build(g, {x}, [&](G graph) {
      const Output value = tensor_of(graph, x);
      return wrap(rnn::variational_dropout(value, tensor_of(graph, noise), to_in(graph, keep_prob, value.dtype())));
    });
  });
}

}  // namespace

void bind_cells(nb::module_& m) {
  bind_plain_cells(m);
  bind_contrib_cells(m);
  bind_asking_cells(m);
  bind_dropout(m);
}

}  // namespace weir::python
