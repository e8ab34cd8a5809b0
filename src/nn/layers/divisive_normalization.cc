#include "weir/divisive_normalization.h"

#include <cmath>

#include "base/errors.h"
#include "weir/convolutions.h"
#include "weir/custom_gradient.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::layers {
namespace {

constexpr const char* kLowerBound = "GDNLowerBound";

Output lower_bound(const Output& x, const Output& bound) {
  Graph& graph = x.graph();
  set_gradient(graph, kLowerBound, [](const Operation& op, const std::vector<Output>& output_grads) {
    const Output& given = output_grads[0];
    const Output passes = logical_or(greater_equal(op.input(0), op.input(1)), less(given, zeros_like(given)));
    return std::vector<Gradient>{Gradient(cast(passes, given.dtype()) * given), Gradient()};
  });
  Scope scope = graph.name_scope(kLowerBound);
  GradientOverride own(graph, {{"Maximum", kLowerBound}});
  return maximum(x, bound, scope.name());
}

}  // namespace

Initializer gdn_beta_initializer(float reparam_offset) {
  return Initializer::Function([=](Graph& graph, const Shape& shape, DType dtype) {
    const Output pedestal = graph.constant(Literal(reparam_offset * reparam_offset), dtype);
    return sqrt(ones(graph, shape, dtype) + pedestal);
  });
}

Initializer gdn_gamma_initializer(float gamma_init, float reparam_offset) {
  return Initializer::Function([=](Graph& graph, const Shape& shape, DType dtype) {
    const Output identity = identity_initializer()(graph, shape, dtype);
    const Output pedestal = graph.constant(Literal(reparam_offset * reparam_offset), dtype);
    return sqrt(gamma_init * identity + pedestal);
  });
}

Output gdn_parameter(const Output& variable, double minimum, double reparam_offset) {
  Graph& graph = variable.graph();
  const double pedestal = reparam_offset * reparam_offset;
  const Output bound = graph.constant(Literal(std::sqrt(minimum + pedestal)), variable.dtype());
  const Output bounded = lower_bound(variable, bound);
  return square(bounded) - graph.constant(Literal(pedestal), variable.dtype());
}

Output gdn_outputs(const Output& inputs, const Output& beta, const Output& gamma, bool inverse, bool channels_first) {
  const int rank = inputs.shape().rank();
  std::vector<int64_t> sizes(static_cast<size_t>(rank - 2), 1);
  for (int64_t size : gamma.shape().dims()) sizes.push_back(size);
  const Output filter = reshape(gamma, Shape(sizes));
  nn::ConvolutionOptions options{.padding = "VALID"};
  if (channels_first) options.data_format = rank == 3 ? "NCW" : rank == 4 ? "NCHW" : "NCDHW";
  Output pool = nn::convolution(square(inputs), filter, options);
  if (channels_first) {
    std::vector<int64_t> along = {1, beta.shape()[0]};
    along.resize(static_cast<size_t>(rank), 1);
    pool = pool + reshape(beta, Shape(along));
  } else {
    pool = nn::bias_add(pool, beta);
  }
  pool = sqrt(pool);
  Output outputs = inverse ? inputs * pool : inputs / pool;
  outputs.set_shape(inputs.shape());
  return outputs;
}

GDN::GDN(const GdnOptions& options)
    : Layer("gdn", {.trainable = options.trainable, .name = options.name, .reuse = options.reuse}), options_(options) {
  if (options.data_format != "channels_first" && options.data_format != "channels_last") {
    throw invalid_argument("Unsupported `data_format` for GDN layer: {}.", options.data_format);
  }
  set_input_spec({.min_ndim = 3, .max_ndim = 5});
}

void GDN::build(const Shape& input_shape) {
  const int axis = options_.data_format == "channels_first" ? 1 : -1;
  const int64_t channels = input_shape[axis];
  if (channels == kUnknown) throw invalid_argument("The channel dimension of the inputs to `GDN` must be defined.");
  set_input_spec({.ndim = input_shape.rank(), .axes = {{axis, channels}}});
  const float offset = options_.reparam_offset;
  beta_ = gdn_parameter(add_weight("reparam_beta", {channels}, {.initializer = gdn_beta_initializer(offset)}),
                        options_.beta_min, offset);
  gamma_ = gdn_parameter(add_weight("reparam_gamma", {channels, channels},
                                    {.initializer = gdn_gamma_initializer(options_.gamma_init, offset)}),
                         0, offset);
}

Output GDN::call(const Output& inputs) {
  return gdn_outputs(inputs, beta_, gamma_, options_.inverse, options_.data_format == "channels_first");
}

Output gdn(const Output& inputs, const GdnOptions& options, In::Where where) { return GDN(options)(inputs, where); }

}  // namespace weir::layers
