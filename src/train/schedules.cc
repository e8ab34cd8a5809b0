#include "weir/schedules.h"

#include <numbers>

#include "nn/convert.h"
#include "weir/ops.h"

namespace weir::train {
namespace {

using nn::as_output;
using nn::graph_of;

// tf.cast of an argument: a number becomes the constant "Cast/x" of its own type first.
Output cast_argument(Graph& g, const In& value, DType dtype) {
  if (value.output()) return cast(value, dtype);
  Scope scope = g.name_scope("Cast");
  Output x = as_output(g, value, default_literal_type(value.value()), "x");
  return cast(x, dtype, scope.name());
}

// What the decays share: their arguments in the type of the learning rate.
struct Decay {
  Decay(Graph& g, const In& learning_rate, const In& step, const In& decay_steps, const In& decay_rate, bool staircase)
      : initial(as_output(g, learning_rate, float32, "initial_learning_rate")) {
    Output steps = cast_argument(g, decay_steps, initial.dtype());
    rate = cast_argument(g, decay_rate, initial.dtype());
    periods = cast_argument(g, step, initial.dtype()) / steps;
    if (staircase) periods = floor(periods);
  }
  Output initial, rate, periods;
};

}  // namespace

Output exponential_decay(const In& learning_rate, const In& global_step, const In& decay_steps, const In& decay_rate,
                         const DecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps, decay_rate);
  LineScope line(g, source_line(global_step.where()));
  Scope scope = g.name_scope(name.empty() ? "ExponentialDecay" : name);
  Decay d(g, learning_rate, global_step, decay_steps, decay_rate, options.staircase);
  return multiply(d.initial, pow(d.rate, d.periods), scope.name());
}

Output natural_exp_decay(const In& learning_rate, const In& global_step, const In& decay_steps, const In& decay_rate,
                         const DecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps, decay_rate);
  LineScope line(g, source_line(global_step.where()));
  Output rate = exp(NodeBuilder("Neg").graph(g).input(decay_rate).output());
  return exponential_decay(learning_rate, global_step, decay_steps, rate, options, name);
}

Output inverse_time_decay(const In& learning_rate, const In& global_step, const In& decay_steps, const In& decay_rate,
                          const DecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps, decay_rate);
  LineScope line(g, source_line(global_step.where()));
  Scope scope = g.name_scope(name.empty() ? "InverseTimeDecay" : name);
  Decay d(g, learning_rate, global_step, decay_steps, decay_rate, options.staircase);
  Output one = cast(g.constant(Literal(1), int32), d.initial.dtype());
  return divide(d.initial, add(one, multiply(d.rate, d.periods)), scope.name());
}

Output polynomial_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                        const PolynomialDecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps);
  LineScope line(g, source_line(global_step.where()));
  Scope scope = g.name_scope(name.empty() ? "PolynomialDecay" : name);
  Output initial = as_output(g, learning_rate, float32, "initial_learning_rate");
  const DType dtype = initial.dtype();
  Output end = cast_argument(g, options.end_learning_rate, dtype);
  Output power = cast_argument(g, options.power, dtype);
  Output step = cast_argument(g, global_step, dtype);
  Output steps = cast_argument(g, decay_steps, dtype);
  if (options.cycle) {
    // The first multiple of decay_steps that is not behind; at the start one of them.
    Output at_start = equal(step, 0);
    Output cycles = ceil(step / steps);
    steps = multiply(steps, where(at_start, ones_like(cycles), cycles));
  } else {
    step = decay_steps.output() ? minimum(step, steps) : minimum(step, decay_steps);
  }
  Output fraction = divide(step, steps);
  Output range = initial - end;
  Output left = 1 - fraction;
  return add(multiply(range, pow(left, power)), end, scope.name());
}

Output cosine_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                    const CosineDecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps);
  LineScope line(g, source_line(global_step.where()));
  Scope scope = g.name_scope(name.empty() ? "CosineDecay" : name);
  Output initial = as_output(g, learning_rate, float32, "initial_learning_rate");
  Output steps = cast_argument(g, decay_steps, initial.dtype());
  Output step = cast_argument(g, global_step, initial.dtype());
  Output fraction = minimum(step, steps) / steps;
  Output wave = cos(g.constant(Literal(std::numbers::pi), initial.dtype()) * fraction);
  Output cosine_decayed = 0.5 * (1.0 + wave);
  Output decayed = (1 - options.alpha) * cosine_decayed + options.alpha;
  return multiply(initial, decayed);
}

Output cosine_decay_restarts(const In& learning_rate, const In& global_step, const In& first_decay_steps,
                             const CosineRestartsOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, first_decay_steps);
  LineScope line(g, source_line(global_step.where()));
  Scope scope = g.name_scope(name.empty() ? "SGDRDecay" : name);
  Output initial = as_output(g, learning_rate, float32, "initial_learning_rate");
  Output steps = cast_argument(g, first_decay_steps, initial.dtype());
  Output periods = cast_argument(g, global_step, initial.dtype()) / steps;
  Output restart, fraction;  // which period it is, and how much of it is over
  if (options.t_mul == 1) {
    restart = floor(periods);
    fraction = periods - restart;
  } else {
    const float t = options.t_mul;
    Output t_mul = g.constant(Literal(t), initial.dtype());
    restart = floor(log(1 - periods * (1 - t)) / log(t_mul));
    Output length = pow(t_mul, restart);
    fraction = (periods - (1 - length) / (1 - t)) / length;
  }
  Output height = pow(g.constant(Literal(options.m_mul), initial.dtype()), restart);
  Output wave = cos(g.constant(Literal(std::numbers::pi), initial.dtype()) * fraction);
  Output cosine_decayed = 0.5 * height * (1.0 + wave);
  return multiply(initial, (1 - options.alpha) * cosine_decayed + options.alpha, scope.name());
}

Output linear_cosine_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                           const LinearCosineDecayOptions& options, std::string_view name) {
  Graph& g = graph_of(global_step, learning_rate, decay_steps);
  LineScope line(g, source_line(global_step.where()));
  const bool noisy = options.initial_variance > 0;
  Scope scope = g.name_scope(!name.empty() ? name : noisy ? "NoisyLinearCosineDecay" : "LinearCosineDecay");
  Output initial = as_output(g, learning_rate, float32, "initial_learning_rate");
  const DType dtype = initial.dtype();
  Output steps = cast_argument(g, decay_steps, dtype);
  Output step = minimum(cast_argument(g, global_step, dtype), steps);
  Output linear = (steps - step) / steps;
  if (noisy) {
    Output power = g.constant(Literal(options.variance_decay), dtype);
    Output deviation = sqrt(options.initial_variance / pow(1.0 + step, power));
    linear = linear + random_normal(g, shape(linear), {.dtype = dtype}) * deviation;
  }
  Output fraction = 2.0 * options.num_periods * step / steps;
  Output wave = cos(g.constant(Literal(std::numbers::pi), dtype) * fraction);
  Output cosine_decayed = 0.5 * (1.0 + wave);
  return multiply(initial, (options.alpha + linear) * cosine_decayed + options.beta, scope.name());
}

// TensorFlow makes a tf.case of it; a chain of selections computes the same from values that are there anyway.
Output piecewise_constant(const In& x, const std::vector<In>& boundaries, const std::vector<In>& values,
                          std::string_view name) {
  if (boundaries.empty() || values.size() != boundaries.size() + 1) {
    throw invalid_argument("{} boundaries need {} values; there are {}", boundaries.size(), boundaries.size() + 1,
                           values.size());
  }
  Graph& g = graph_of(x);
  LineScope line(g, source_line(x.where()));
  Scope scope = g.name_scope(name.empty() ? "PiecewiseConstant" : name);
  auto own_type = [](const In& in) {
    return in.output() ? in.output().dtype() : in.weak() ? default_literal_type(in.value()) : in.value().dtype();
  };
  const DType type = x.output().dtype();
  std::vector<Output> limits, constants;
  for (const In& boundary : boundaries) {
    const DType own = own_type(boundary);
    if (own != type && !(own == int32 && type == int64) && !(boundary.weak() && type == float64 && own == float32)) {
      throw invalid_argument("Boundaries ({}) must have the same dtype as x ({})", dtype_name(own), dtype_name(type));
    }
    limits.push_back(cast(as_output(g, boundary, type, "Const"), type));
  }
  for (const In& value : values) {
    if (own_type(value) != own_type(values[0])) {
      throw invalid_argument("Values must have elements all with the same dtype ({} vs {})",
                             dtype_name(own_type(values[0])), dtype_name(own_type(value)));
    }
    constants.push_back(as_output(g, value, own_type(value), "Const"));
  }
  Output result = constants.back();
  for (size_t i = limits.size(); i-- > 0;) result = where(less_equal(x, limits[i]), constants[i], result);
  return identity(result, scope.name());
}

}  // namespace weir::train
