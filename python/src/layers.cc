// What layers compute, for the classes of the package, which hold the variables.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "nn/layers/forward.h"
#include "weir/divisive_normalization.h"
#include "weir/convolutions.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

std::optional<Output> optional_output(G graph, H value) {
  if (value.is_none()) return std::nullopt;
  return to_output(graph, value, DType::Invalid, {});
}

layers::ConvCall conv_call(H strides, H dilation_rate, H padding, H data_format, H output_padding) {
  layers::ConvCall call{to_ints(strides, "strides"), to_ints(dilation_rate, "dilation_rate"), to_name(padding),
                        to_name(data_format)};
  if (!output_padding.is_none()) call.output_padding = to_ints(output_padding, "output_padding");
  return call;
}

// Whether a call is for training: True, False or a tensor.
In to_training(G graph, H training) {
  if (find_tensor(training)) return to_output(graph, training, DType::Invalid, {});
  return to_bool(training);
}

std::optional<In> clip_of(G graph, nb::dict clipping, const char* key) {
  if (!clipping.contains(key)) return std::nullopt;
  return to_optional_in(graph, clipping[key]);
}

// (outputs, [update])
nb::object batch_norm(G g, H inputs, nb::dict given) {
  return build(g, {inputs}, [&](G graph) {
    Output x = to_output(graph, inputs, DType::Invalid, {});
    layers::BatchNormCall call{.moving_mean = variable_in(given["moving_mean"]),
                               .moving_variance = variable_in(given["moving_variance"]),
                               .training = to_training(graph, given["training"]),
                               .momentum = to_double(given["momentum"], "momentum"),
                               .epsilon = to_double(given["epsilon"], "epsilon"),
                               .fused = to_bool(given["fused"]),
                               .renorm = to_bool(given["renorm"])};
    for (int64_t axis : to_ints(given["axis"], "axis")) call.axes.push_back(static_cast<int>(axis));
    call.gamma = optional_output(graph, given["gamma"]);
    call.beta = optional_output(graph, given["beta"]);
    if (call.renorm) {
      call.moving_stddev = variable_in(given["moving_stddev"]);
      call.renorm_mean = variable_in(given["renorm_mean"]);
      call.renorm_stddev = variable_in(given["renorm_stddev"]);
      call.renorm_momentum = to_double(given["renorm_momentum"], "renorm_momentum");
      nb::dict clipping = nb::cast<nb::dict>(given["renorm_clipping"]);
      call.clipping = {clip_of(graph, clipping, "rmin"), clip_of(graph, clipping, "rmax"),
                       clip_of(graph, clipping, "dmax")};
    }
    if (!given["virtual_batch_size"].is_none()) {
      call.virtual_batch_size = to_int64(given["virtual_batch_size"], "virtual_batch_size");
    }
    if (!given["adjustment"].is_none()) {
      call.adjustment_scale = optional_output(graph, item_of(given["adjustment"], 0));
      call.adjustment_bias = optional_output(graph, item_of(given["adjustment"], 1));
    }
    layers::BatchNormResult result = layers::batch_norm_outputs(x, call);
    nb::list updates;
    for (const Operation& update : result.updates) updates.append(wrap(update));
    return nb::object(nb::make_tuple(wrap(result.outputs), updates));
  });
}

}  // namespace

void bind_layer_calls(nb::module_& m) {
  def(m, "layer_dense", [](G g, H inputs, H kernel, H bias) {
    return build(g, {inputs}, [&](G graph) {
      Output x = to_output(graph, inputs, DType::Invalid, {});
      return wrap(layers::dense_outputs(x, to_output(graph, kernel, x.dtype(), {}), optional_output(graph, bias)));
    });
  });
  def(m, "dilation_rate_constant", [](G graph, H rate) {
    return build(graph, {}, [&](G g) { return wrap(nn::dilation_rate_constant(g, to_ints(rate, "dilation_rate"))); });
  });
  def(m, "layer_conv",
      [](G g, H inputs, H kernel, H bias, H rate, H strides, H dilation_rate, H padding, H data_format) {
        return build(g, {inputs}, [&](G graph) {
          Output x = to_output(graph, inputs, DType::Invalid, {});
          return wrap(layers::conv_outputs(x, to_output(graph, kernel, x.dtype(), {}), optional_output(graph, bias),
                                           to_output(graph, rate, DType::Invalid, {}),
                                           conv_call(strides, dilation_rate, padding, data_format, nb::none())));
        });
      });
  def(m, "layer_conv_transpose",
      [](G g, H inputs, H kernel, H bias, H strides, H dilation_rate, H padding, H data_format, H output_padding) {
        return build(g, {inputs}, [&](G graph) {
          Output x = to_output(graph, inputs, DType::Invalid, {});
          return wrap(
              layers::conv_transpose_outputs(x, to_output(graph, kernel, x.dtype(), {}), optional_output(graph, bias),
                                             conv_call(strides, dilation_rate, padding, data_format, output_padding)));
        });
      });
  def(m, "layer_separable_conv",
      [](G g, H inputs, H depthwise, H pointwise, H bias, H strides, H dilation_rate, H padding, H data_format) {
        return build(g, {inputs}, [&](G graph) {
          Output x = to_output(graph, inputs, DType::Invalid, {});
          return wrap(layers::separable_conv_outputs(
              x, to_output(graph, depthwise, x.dtype(), {}), to_output(graph, pointwise, x.dtype(), {}),
              optional_output(graph, bias), conv_call(strides, dilation_rate, padding, data_format, nb::none())));
        });
      });
  def(m, "layer_pool", [](G g, H inputs, bool max, H pool_size, H strides, H padding, H data_format) {
    return build(g, {inputs}, [&](G graph) {
      return wrap(layers::pool_outputs(
          to_output(graph, inputs, DType::Invalid, {}),
          {max, to_ints(pool_size, "pool_size"), to_ints(strides, "strides"), to_name(padding), to_name(data_format)}));
    });
  });
  def(m, "layer_flatten", [](G g, H inputs, H data_format) {
    return build(g, {inputs}, [&](G graph) {
      return wrap(layers::flatten_outputs(to_output(graph, inputs, DType::Invalid, {}), to_name(data_format)));
    });
  });
  def(m, "gdn_initial", [](G g, H shape, H dtype, H gamma_init, H offset) {  // without gamma_init: of beta
    return build(g, {}, [&](G graph) {
      const auto small = static_cast<float>(to_double(offset, "reparam_offset"));
      const Initializer initializer =
          gamma_init.is_none()
              ? layers::gdn_beta_initializer(small)
              : layers::gdn_gamma_initializer(static_cast<float>(to_double(gamma_init, "gamma_init")), small);
      return wrap(initializer(graph, to_shape(shape), to_dtype(dtype)));
    });
  });
  def(m, "gdn_parameter", [](G g, H variable, H minimum, H offset) {
    return build(g, {variable}, [&](G graph) {
      return wrap(layers::gdn_parameter(to_output(graph, variable, DType::Invalid, {}), to_double(minimum, "minimum"),
                                        to_double(offset, "reparam_offset")));
    });
  });
  def(m, "layer_gdn", [](G g, H inputs, H beta, H gamma, H inverse, H channels_first) {
    return build(g, {inputs}, [&](G graph) {
      Output x = to_output(graph, inputs, DType::Invalid, {});
      return wrap(layers::gdn_outputs(x, to_output(graph, beta, x.dtype(), {}), to_output(graph, gamma, x.dtype(), {}),
                                      to_bool(inverse), to_bool(channels_first)));
    });
  });
  def(m, "layer_batch_norm", [](G g, H inputs, nb::dict given) { return batch_norm(g, inputs, given); });
  def(m, "convolution", [](G g, H input, H filter, H padding, H strides, H dilation_rate, H data_format, H name) {
    return build(g, {input, filter}, [&](G graph) {
      nn::ConvolutionOptions options{.padding = to_name(padding), .data_format = to_name(data_format)};
      if (!strides.is_none()) options.strides = to_ints(strides, "strides");
      if (!dilation_rate.is_none()) options.dilation_rate = to_ints(dilation_rate, "dilation_rate");
      const Output* known = find_tensor(filter);
      In x = to_in(graph, input, !find_tensor(input) && known ? known->dtype() : DType::Invalid);
      return wrap(nn::convolution(x, to_in(graph, filter), options, to_name(name)));
    });
  });
}

}  // namespace weir::python
