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
  std::vector<Output> limits, constants;
  for (const In& boundary : boundaries)
    limits.push_back(cast(as_output(g, boundary, x.output().dtype(), "Const"), x.output().dtype()));
  for (const In& value : values) constants.push_back(as_output(g, value, float32, "Const"));
  Output result = constants.back();
  for (size_t i = limits.size(); i-- > 0;) result = where(less_equal(x, limits[i]), constants[i], result);
  return identity(result, scope.name());
}

}  // namespace weir::train
