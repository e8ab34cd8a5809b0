#include "base/errors.h"
#include "graph/graph_impl.h"
#include "nn/layers/forward.h"
#include "weir/control_flow.h"
#include "weir/linalg_ops.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::layers {

Activation::Activation(Output (*function)(const In&, std::string_view)) {
  if (function) function_ = [function](const Output& features) { return function(features, {}); };
}

Output dense_outputs(const Output& inputs, const Output& kernel, const std::optional<Output>& bias) {
  Output outputs;
  const Shape& shape = inputs.shape();
  if (shape.rank() > 2) {
    outputs = tensordot(inputs, kernel, std::vector<int64_t>{shape.rank() - 1}, std::vector<int64_t>{0});
    Shape known = shape;
    known.set_dim(-1, kernel.shape()[-1]);
    outputs.set_shape(known);
  } else {
    outputs = matmul(inputs, kernel);
  }
  return bias ? nn::bias_add(outputs, *bias) : outputs;
}

Dense::Dense(int64_t units, const DenseOptions& options, std::string scope)
    : Layer("dense", {options.trainable, options.name, {}, options.reuse, std::move(scope)}),
      units_(units),
      options_(options) {
  set_input_spec({.min_ndim = 2});
}

void Dense::build(const Shape& input_shape) {
  const int64_t size = input_shape[-1];
  if (size == kUnknown) {
    throw invalid_argument("The last dimension of the inputs to `Dense` should be defined. Found `None`.");
  }
  set_input_spec({.min_ndim = 2, .axes = {{-1, size}}});
  kernel_ = add_weight("kernel", {size, units_},
                       {options_.kernel_initializer, options_.kernel_regularizer, options_.kernel_constraint});
  if (options_.use_bias) {
    bias_ =
        add_weight("bias", {units_}, {options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint});
  }
}

Output Dense::call(const Output& inputs) {
  std::optional<Output> bias;
  if (bias_) bias = bias_;
  return options_.activation(dense_outputs(inputs, kernel_, bias));
}

Output dense(const Output& inputs, int64_t units, const DenseOptions& options, In::Where where) {
  return Dense(units, options, options.name)(inputs, where);
}

Output dropout_outputs(const Output& inputs, float rate, const std::optional<In>& noise_shape,
                       const std::optional<int64_t>& seed, const In& training) {
  auto dropped = [&] { return nn::dropout_rate(inputs, rate, {.noise_shape = noise_shape, .seed = seed}); };
  auto kept = [&] { return identity(inputs); };
  if (training.output()) return cond(training, dropped, kept);
  return training.value().scalar<bool>() ? dropped() : kept();
}

Output flatten_outputs(const Output& given, const std::string& data_format) {
  Output inputs = given;
  const int rank = inputs.shape().rank();
  if (data_format == "channels_first" && rank > 1) {
    std::vector<int32_t> order = {0};
    for (int32_t d = 2; d < rank; ++d) order.push_back(d);
    order.push_back(1);
    inputs = transpose(inputs, Tensor(order));
  }
  const Shape& shape_known = inputs.shape();
  const bool batch_known = shape_known.has_rank() && shape_known[0] > 0;
  Output outputs = batch_known ? reshape(inputs, Tensor(std::vector<int32_t>{static_cast<int32_t>(shape_known[0]), -1}))
                               : reshape(inputs, stack({subscript(shape(inputs), {0}), -1}, 0, "Reshape/shape"));
  if (shape_known.has_rank()) {
    Shape flat{shape_known[0], 1};
    for (int d = 1; d < shape_known.rank(); ++d) {
      const bool known = shape_known[d] > 0 && flat[1] != kUnknown;
      flat.set_dim(1, known ? checked_multiply(flat[1], shape_known[d]) : kUnknown);
    }
    outputs.set_shape(flat);
  }
  return outputs;
}

namespace {

// A layer without variables.
template <class F>
class Simple : public Layer {
 public:
  Simple(std::string kind, const std::string& name, InputSpec spec, F compute)
      : Layer(std::move(kind), {.name = name, .scope = name}), compute_(std::move(compute)) {
    set_input_spec(std::move(spec));
  }

 private:
  Output call(const Output& inputs) override { return compute_(inputs); }
  F compute_;
};

}  // namespace

Output dropout(const Output& inputs, const DropoutOptions& options, In::Where where) {
  return Simple("dropout", options.name, {}, [&](const Output& x) {
    return dropout_outputs(x, options.rate, options.noise_shape, options.seed, options.training);
  })(inputs, where);
}

Output flatten(const Output& inputs, std::string_view name, In::Where where) {
  return Simple("flatten", std::string(name), {.min_ndim = 1},
                [](const Output& x) { return flatten_outputs(x, "channels_last"); })(inputs, where);
}

namespace {

Output pooling(bool max, size_t rank, const Output& inputs, const Sizes& pool_size, const Sizes& strides,
               const PoolingOptions& options, In::Where where) {
  const PoolCall call{max, pool_size.of(rank, "pool_size"), strides.of(rank, "strides"), options.padding,
                      options.data_format};
  std::string kind = fmt::format("{}_pooling{}d", max ? "max" : "average", rank);
  return Simple(kind, options.name, {.ndim = static_cast<int>(rank) + 2},
                [&](const Output& x) { return pool_outputs(x, call); })(inputs, where);
}

}  // namespace

Output max_pooling1d(const Output& inputs, const Sizes& pool_size, const Sizes& strides, const PoolingOptions& options,
                     In::Where where) {
  return pooling(true, 1, inputs, pool_size, strides, options, where);
}
Output max_pooling2d(const Output& inputs, const Sizes& pool_size, const Sizes& strides, const PoolingOptions& options,
                     In::Where where) {
  return pooling(true, 2, inputs, pool_size, strides, options, where);
}
Output max_pooling3d(const Output& inputs, const Sizes& pool_size, const Sizes& strides, const PoolingOptions& options,
                     In::Where where) {
  return pooling(true, 3, inputs, pool_size, strides, options, where);
}
Output average_pooling1d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                         const PoolingOptions& options, In::Where where) {
  return pooling(false, 1, inputs, pool_size, strides, options, where);
}
Output average_pooling2d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                         const PoolingOptions& options, In::Where where) {
  return pooling(false, 2, inputs, pool_size, strides, options, where);
}
Output average_pooling3d(const Output& inputs, const Sizes& pool_size, const Sizes& strides,
                         const PoolingOptions& options, In::Where where) {
  return pooling(false, 3, inputs, pool_size, strides, options, where);
}

}  // namespace weir::layers
