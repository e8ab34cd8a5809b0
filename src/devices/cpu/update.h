#pragma once

#include <stdint.h>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// The updates of TensorFlow's Apply* operations on float32, each in one pass over its n-element arrays on all cores.
// Arrays do not overlap.

// var -= lr * grad
void apply_gradient_descent(float* var, const float* grad, int64_t n, float lr, ThreadPool& pool);

// accum = accum * momentum + grad; var -= lr * accum, or with Nesterov's look-ahead lr * (grad + momentum * accum).
struct MomentumOptions {
  float lr;
  float momentum;
  bool nesterov = false;
};
void apply_momentum(float* var, float* accum, const float* grad, int64_t n, const MomentumOptions& options,
                    ThreadPool& pool);

// m += (grad - m) * (1 - beta1); v += (grad^2 - v) * (1 - beta2);
// var -= lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon), where Nesterov's look-ahead puts
// grad * (1 - beta1) + beta1 * m for m.
struct AdamOptions {
  float lr;
  float beta1;
  float beta2;
  float epsilon;
  float beta1_power;
  float beta2_power;
  bool nesterov = false;
};
void apply_adam(float* var, float* m, float* v, const float* grad, int64_t n, const AdamOptions& options,
                ThreadPool& pool);

// accum += grad^2 (unless update_slots is off); var -= lr * grad / sqrt(accum)
struct AdagradOptions {
  float lr;
  bool update_slots = true;
};
void apply_adagrad(float* var, float* accum, const float* grad, int64_t n, const AdagradOptions& options,
                   ThreadPool& pool);

// ms += (grad^2 - ms) * (1 - rho); mom = mom * momentum + lr * grad / sqrt(ms + epsilon); var -= mom
struct RmsPropOptions {
  float lr;
  float rho;
  float momentum;
  float epsilon;
};
void apply_rms_prop(float* var, float* ms, float* mom, const float* grad, int64_t n, const RmsPropOptions& options,
                    ThreadPool& pool);

}  // namespace weir::cpu
