#pragma once

#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Learning rates that change with the number of steps: pass the variable that the optimizer counts up (`global_step`),
// or any tensor. Names and values are TensorFlow's.
namespace weir::train {

struct DecayOptions {
  bool staircase = false;  // the rate changes every decay_steps steps only
};
// learning_rate * decay_rate ^ (step / decay_steps)
WEIR_API Output exponential_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                                  const In& decay_rate, const DecayOptions& options = {}, std::string_view name = {});
// learning_rate * exp(-decay_rate * step / decay_steps)
WEIR_API Output natural_exp_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                                  const In& decay_rate, const DecayOptions& options = {}, std::string_view name = {});
// learning_rate / (1 + decay_rate * step / decay_steps)
WEIR_API Output inverse_time_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                                   const In& decay_rate, const DecayOptions& options = {}, std::string_view name = {});

struct PolynomialDecayOptions {
  In end_learning_rate = 0.0001f;
  In power = 1.0f;
  bool cycle = false;  // begin again, over a longer distance, instead of staying at the end
};
// From learning_rate to end_learning_rate within decay_steps, along (1 - step / decay_steps) ^ power.
WEIR_API Output polynomial_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                                 const PolynomialDecayOptions& options = {}, std::string_view name = {});

struct CosineDecayOptions {
  float alpha = 0;  // the least rate, as a fraction of the first
};
// Half a cosine wave within decay_steps.
WEIR_API Output cosine_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                             const CosineDecayOptions& options = {}, std::string_view name = {});

struct CosineRestartsOptions {
  float t_mul = 2;  // each period is so many times as long as the one before
  float m_mul = 1;  // and begins at so much of its rate
  float alpha = 0;
};
// cosine_decay that begins again when a period ends; the first one lasts first_decay_steps.
WEIR_API Output cosine_decay_restarts(const In& learning_rate, const In& global_step, const In& first_decay_steps,
                                      const CosineRestartsOptions& options = {}, std::string_view name = {});

struct LinearCosineDecayOptions {
  float num_periods = 0.5f;
  float alpha = 0, beta = 0.001f;
  // Noise on the line: its variance at first, and the power of the step that it falls with.
  float initial_variance = 0, variance_decay = 0.55f;
};
// learning_rate * ((alpha + line from 1 to 0) * cosine wave + beta), with noise when there is a variance.
WEIR_API Output linear_cosine_decay(const In& learning_rate, const In& global_step, const In& decay_steps,
                                    const LinearCosineDecayOptions& options = {}, std::string_view name = {});

// values[0] while x <= boundaries[0], values[1] while x <= boundaries[1], ..., else the last value. Throws
// InvalidArgument unless there is one value more than boundaries, boundaries have x's type and values one type.
WEIR_API Output piecewise_constant(const In& x, const std::vector<In>& boundaries, const std::vector<In>& values,
                                   std::string_view name = {});

}  // namespace weir::train
