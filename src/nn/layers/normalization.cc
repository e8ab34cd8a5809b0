#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "nn/layers/forward.h"
#include "weir/control_flow.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::layers {
namespace {

// Whether a call is for training: known, or a tensor.
struct Training {
  explicit Training(const In& training) : tensor(training.output()) {
    if (!tensor) value = training.value().scalar<bool>();
  }
  bool maybe() const { return tensor || value; }
  template <class A, class B>
  Output choose(const A& then, const B& otherwise) const {
    if (!tensor) return value ? then() : otherwise();
    return cond(tensor, then, otherwise);
  }
  Output tensor;
  bool value = false;
};

Output value_of(const Variable& variable) { return value_here(variable); }

// variable -= (variable - value) * (1 - momentum)
Output assign_moving_average(const Variable& variable, const Output& value, const In& momentum) {
  Graph& g = variable.graph();
  Scope scope = g.name_scope("AssignMovingAvg");
  Scope beside = g.colocate_with(variable.handle().op());
  Output decay;
  if (momentum.output()) {
    decay = 1.0 - momentum.output();
    if (decay.dtype() != variable.dtype()) decay = cast(decay, variable.dtype());
  } else {
    const double share = 1.0 - momentum.value().scalar<double>();
    decay = g.constant(Literal(share), variable.dtype(), "decay");
  }
  Output delta = (value_of(variable) - cast(value, variable.dtype())) * decay;
  return assign_sub(variable, delta, scope.name());
}

Output assign_new_value(const Variable& variable, const Output& value) {
  Graph& g = variable.graph();
  Scope scope = g.name_scope("AssignNewValue");
  Scope beside = g.colocate_with(variable.handle().op());
  return assign(variable, value, {}, scope.name());
}

// The moving variance, from the moving deviation that renormalization keeps.
Output assign_variance_of_stddev(const BatchNormCall& call, const Output& variance, const In& momentum) {
  Output stddev = assign_moving_average(call.moving_stddev, sqrt(variance + call.epsilon), momentum);
  return assign_new_value(call.moving_variance, nn::relu(stddev * stddev - call.epsilon));
}

BatchNormResult fused(const Output& inputs, const BatchNormCall& call, const Training& training) {
  Graph& g = inputs.graph();
  const std::string format = call.axes[0] == 1 ? "NCHW" : "NHWC";
  auto by_batch = [&] {
    nn::FusedBatchNorm norm = nn::fused_batch_norm(
        inputs, *call.gamma, *call.beta, {.epsilon = static_cast<float>(call.epsilon), .data_format = format});
    return std::vector<Output>{norm.y, norm.batch_mean, norm.batch_variance};
  };
  auto by_averages = [&] {
    nn::FusedBatchNorm norm = nn::fused_batch_norm(inputs, *call.gamma, *call.beta,
                                                   {.mean = In(value_of(call.moving_mean)),
                                                    .variance = In(value_of(call.moving_variance)),
                                                    .epsilon = static_cast<float>(call.epsilon),
                                                    .data_format = format,
                                                    .is_training = false});
    return std::vector<Output>{norm.y, norm.batch_mean, norm.batch_variance};
  };
  std::vector<Output> parts = training.tensor  ? cond(training.tensor, by_batch, by_averages)
                              : training.value ? by_batch()
                                               : by_averages();
  BatchNormResult result{parts[0], {}};
  // Without training the averages stay: their momentum is 1.
  Output momentum = training.tensor ? training.choose([&] { return g.constant(Literal(call.momentum), float32); },
                                                      [&] { return g.constant(Literal(1.0), float32); })
                                    : g.constant(Literal(call.momentum), float32);
  if (!training.maybe()) return result;
  result.updates.push_back(assign_moving_average(call.moving_mean, parts[1], momentum).op());
  result.updates.push_back((call.renorm ? assign_variance_of_stddev(call, parts[2], momentum)
                                        : assign_moving_average(call.moving_variance, parts[2], momentum))
                               .op());
  return result;
}

struct Renormed {
  Output r, d, mean, variance;
};

Renormed renorm_correction(const BatchNormCall& call, Output mean, const Output& variance, const Training& training) {
  Graph& g = mean.graph();
  Output stddev = sqrt(variance + call.epsilon);
  Output renorm_mean = value_of(call.renorm_mean);
  Output least = NodeBuilder("Sqrt").graph(g).input(call.epsilon).output();
  Output renorm_stddev = maximum(value_of(call.renorm_stddev), least);
  Output r = stddev / renorm_stddev, d = (mean - renorm_mean) / renorm_stddev;
  {
    Scope after = g.control_dependencies({r.op(), d.op()});
    mean = identity(mean);
    stddev = identity(stddev);
  }
  const RenormClipping& clip = call.clipping;
  if (clip.rmin) r = maximum(r, *clip.rmin);
  if (clip.rmax) r = minimum(r, *clip.rmax);
  if (clip.dmax) {
    d = maximum(d, clip.dmax->output() ? In(-clip.dmax->output())
                                       : In(-convert_literal(clip.dmax->value(), float64).scalar<double>()));
    d = minimum(d, *clip.dmax);
  }
  r = training.choose([&] { return r; }, [&] { return ones_like(r); });
  d = training.choose([&] { return d; }, [&] { return zeros_like(d); });
  auto update = [&](const Variable& variable, const Output& value) {
    Output kept = identity(value);
    return training.choose([&] { return assign_moving_average(variable, kept, call.renorm_momentum); },
                           [&] { return identity(value_of(variable)); });
  };
  Output new_mean = update(call.renorm_mean, mean), new_stddev = update(call.renorm_stddev, stddev);
  Scope after = g.control_dependencies({new_mean.op(), new_stddev.op()});
  return {r, d, identity(mean), identity(variance)};
}

void compose(std::optional<Output>& scale, std::optional<Output>& offset, const Output& first_scale,
             const Output& first_offset) {
  Output composed_scale = first_scale, composed_offset = first_offset;
  if (scale) {
    composed_scale = composed_scale * *scale;
    composed_offset = composed_offset * *scale;
  }
  if (offset) composed_offset = composed_offset + *offset;
  scale = composed_scale;
  offset = composed_offset;
}

BatchNormResult composed(const Output& inputs, const BatchNormCall& call, const Training& training) {
  const int rank = inputs.shape().rank();
  std::vector<int64_t> reduced;
  for (int d = 0; d < rank; ++d) {
    if (std::find(call.axes.begin(), call.axes.end(), d) == call.axes.end()) reduced.push_back(d);
  }
  const bool virtual_batch = call.virtual_batch_size > 0;
  if (virtual_batch) reduced.erase(reduced.begin() + 1);  // each virtual batch by itself
  std::vector<int64_t> leading(static_cast<size_t>(rank - 1));
  std::iota(leading.begin(), leading.end(), 0);
  Shape broadcast_shape(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  broadcast_shape.set_dim(call.axes[0], inputs.shape()[call.axes[0]]);
  auto broadcast = [&](const Output& v) {
    return v.shape().rank() != rank && reduced != leading ? reshape(v, broadcast_shape) : v;
  };
  std::optional<Output> scale, offset;
  if (call.gamma) scale = broadcast(*call.gamma);
  if (call.beta) offset = broadcast(*call.beta);
  BatchNormResult result;
  Output mean, variance;
  if (!training.maybe()) {
    mean = value_of(call.moving_mean);
    variance = value_of(call.moving_variance);
  } else {
    if (call.adjustment_scale) {
      Output s = *call.adjustment_scale, b = *call.adjustment_bias;
      s = training.choose([&] { return s; }, [&] { return ones_like(s); });
      b = training.choose([&] { return b; }, [&] { return zeros_like(b); });
      compose(scale, offset, s, b);
    }
    nn::Moments moments = nn::moments(cast(inputs, call.moving_mean.dtype()), reduced,
                                      {.keep_dims = virtual_batch || call.axes.size() > 1});
    mean = training.choose([&] { return moments.mean; }, [&] { return value_of(call.moving_mean); });
    variance = training.choose([&] { return moments.variance; }, [&] { return value_of(call.moving_variance); });
    Output new_mean = mean, new_variance = variance;
    if (virtual_batch) {
      new_mean = reduce_mean(mean, 1, true);
      new_variance = reduce_mean(variance, 1, true);
    }
    if (call.renorm) {
      Renormed renormed = renorm_correction(call, new_mean, new_variance, training);
      new_mean = renormed.mean;
      new_variance = renormed.variance;
      Output r = broadcast(stop_gradient(renormed.r, "renorm_r"));
      Output d = broadcast(stop_gradient(renormed.d, "renorm_d"));
      compose(scale, offset, r, d);
    }
    result.updates.push_back(
        training
            .choose([&] { return assign_moving_average(call.moving_mean, new_mean, call.momentum); },
                    [&] { return value_of(call.moving_mean); })
            .op());
    result.updates.push_back(training
                                 .choose(
                                     [&] {
                                       return call.renorm ? assign_variance_of_stddev(call, new_variance, call.momentum)
                                                          : assign_moving_average(call.moving_variance, new_variance,
                                                                                  call.momentum);
                                     },
                                     [&] { return value_of(call.moving_variance); })
                                 .op());
  }
  const DType dtype = inputs.dtype();
  nn::BatchNormalizationOptions options{.variance_epsilon = static_cast<float>(call.epsilon)};
  mean = cast(mean, dtype);
  variance = cast(variance, dtype);
  if (offset) options.offset = In(cast(*offset, dtype));
  if (scale) options.scale = In(cast(*scale, dtype));
  mean = broadcast(mean);
  variance = broadcast(variance);
  result.outputs = nn::batch_normalization(inputs, mean, variance, options);
  result.outputs.set_shape(inputs.shape());
  return result;
}

bool can_be_fused(const BatchNormalizationOptions& o) {
  const int64_t axis = o.axis[0];
  return !o.renorm && o.axis.size() == 1 && (axis == -3 || axis == -1 || axis == 1 || axis == 3) &&
         !o.virtual_batch_size;
}

}  // namespace

BatchNormResult batch_norm_outputs(const Output& given, const BatchNormCall& call) {
  const Training training(call.training);
  if (call.fused) return fused(given, call, training);
  if (!call.virtual_batch_size) return composed(given, call, training);
  std::vector<int32_t> original = {-1}, expanded = {static_cast<int32_t>(call.virtual_batch_size), -1};
  for (int d = 1; d < given.shape().rank(); ++d) {
    original.push_back(static_cast<int32_t>(given.shape()[d]));
    expanded.push_back(static_cast<int32_t>(given.shape()[d]));
  }
  BatchNormResult result = composed(reshape(given, Tensor(expanded)), call, training);
  result.outputs = reshape(result.outputs, Tensor(original));
  return result;
}

BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options, std::string scope)
    : Layer("batch_normalization", {options.trainable, options.name, {}, options.reuse, std::move(scope)}),
      options_(options) {
  if (options.axis.empty()) throw invalid_argument("axis must name a dimension");
}

void BatchNormalization::build(const Shape& input_shape) {
  const int rank = input_shape.rank();
  if (rank < 1) throw invalid_argument("Input has undefined rank: {}", input_shape.str());
  InputSpec spec{.ndim = rank};
  Shape param_shape;
  for (int64_t given : options_.axis) {
    const auto axis = static_cast<int>(given < 0 ? given + rank : given);
    if (axis < 0 || axis >= rank) throw invalid_argument("Invalid axis: {}", given);
    if (std::find(axes_.begin(), axes_.end(), axis) != axes_.end()) throw invalid_argument("Duplicate axis: {}", given);
    if (input_shape[axis] == kUnknown) {
      throw invalid_argument("Input has undefined `axis` dimension. Input shape: {}", input_shape.str());
    }
    axes_.push_back(axis);
    spec.axes[axis] = input_shape[axis];
  }
  set_input_spec(spec);
  const bool virtual_batch = options_.virtual_batch_size > 0;
  fused_ = options_.fused.value_or(true) && rank == 4 && can_be_fused(options_);
  if (axes_.size() == 1 && !virtual_batch) {
    param_shape = Shape{input_shape[axes_[0]]};
  } else {
    for (int d = 0; d < rank; ++d) {
      param_shape.append(spec.axes.contains(d) ? input_shape[d] : 1);
      if (d == 0 && virtual_batch) param_shape.append(1);
    }
    if (virtual_batch) {
      for (int& axis : axes_) ++axis;
    }
  }
  const DType type = dtype() == float16 ? float32 : dtype();
  auto average = [&](const char* name, const Initializer& initializer) {
    return add_weight(name, param_shape, {.initializer = initializer, .dtype = type, .trainable = false});
  };
  if (options_.scale) {
    gamma_ = add_weight("gamma", param_shape,
                        {options_.gamma_initializer, options_.gamma_regularizer, options_.gamma_constraint, type});
  } else if (fused_) {
    ones_ = constant_initializer(1.0)(graph(), param_shape, type);
  }
  if (options_.center) {
    beta_ = add_weight("beta", param_shape,
                       {options_.beta_initializer, options_.beta_regularizer, options_.beta_constraint, type});
  } else if (fused_) {
    zeros_ = constant_initializer(0.0)(graph(), param_shape, type);
  }
  moving_mean_ = average("moving_mean", options_.moving_mean_initializer);
  moving_variance_ = average("moving_variance", options_.moving_variance_initializer);
  if (!options_.renorm) return;
  Initializer stddev = Initializer::PartFunction([variance = options_.moving_variance_initializer](
                                                     Graph& g, const Shape& shape, DType t, const PartitionInfo* part) {
    return sqrt(variance(g, shape, t, part));
  });
  moving_stddev_ = average("moving_stddev", stddev);
  renorm_mean_ = average("renorm_mean", options_.moving_mean_initializer);
  renorm_stddev_ = average("renorm_stddev", stddev);
}

Output BatchNormalization::call(const Output& inputs) {
  BatchNormCall call{.axes = axes_,
                     .moving_mean = moving_mean_,
                     .moving_variance = moving_variance_,
                     .moving_stddev = moving_stddev_,
                     .renorm_mean = renorm_mean_,
                     .renorm_stddev = renorm_stddev_,
                     .training = options_.training,
                     .momentum = options_.momentum,
                     .epsilon = options_.epsilon,
                     .renorm_momentum = options_.renorm_momentum,
                     .fused = fused_,
                     .renorm = options_.renorm,
                     .clipping = options_.renorm_clipping,
                     .virtual_batch_size = options_.virtual_batch_size};
  if (gamma_ || ones_) call.gamma = gamma_ ? value_of(gamma_) : ones_;
  if (beta_ || zeros_) call.beta = beta_ ? value_of(beta_) : zeros_;
  BatchNormResult result = batch_norm_outputs(inputs, call);
  for (const Operation& update : result.updates) add_update(update);
  return result.outputs;
}

Output batch_normalization(const Output& inputs, const BatchNormalizationOptions& options, In::Where where) {
  return BatchNormalization(options, options.name)(inputs, where);
}

}  // namespace weir::layers
