#include "devices/cpu/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/update_table.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;

std::vector<const UpdateTable*> tables() {
  std::vector<const UpdateTable*> all = {&portable::kUpdateTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kUpdateTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kUpdateTable);
#endif
  return all;
}

const Floats kGrads[] = {{0.1f, -2.5f, 3.0f}, {-0.7f, 0.01f, 5.0f}};

void expect_near(const Floats& got, const Floats& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6 * std::fabs(want[i])) << i;
}

// Two steps from [1, -2, 0.5]; the expected values are TensorFlow 1.15's.
TEST(Update, TwoStepsMatchTensorFlow) {
  ThreadPool pool(2);
  const Floats start = {1.0f, -2.0f, 0.5f};
  {
    Floats var = start;
    for (const Floats& g : kGrads) apply_gradient_descent(var.data(), g.data(), 3, 0.1f, pool);
    expect_near(var, {1.06000006f, -1.75100005f, -0.300000012f});
  }
  for (bool nesterov : {false, true}) {
    Floats var = start, accum(3);
    for (const Floats& g : kGrads)
      apply_momentum(var.data(), accum.data(), g.data(), 3, {.lr = 0.1f, .momentum = 0.9f, .nesterov = nesterov}, pool);
    expect_near(
        var, nesterov ? Floats{1.10590005f, -1.32439995f, -1.26300001f} : Floats{1.051f, -1.52600002f, -0.569999993f});
  }
  {
    Floats var = start, m(3), v(3);
    AdamOptions options = {
        .lr = 0.1f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .beta1_power = 0.9f, .beta2_power = 0.999f};
    for (const Floats& g : kGrads) {
      apply_adam(var.data(), m.data(), v.data(), g.data(), 3, options, pool);
      options.beta1_power *= options.beta1;
      options.beta2_power *= options.beta2;
    }
    expect_near(var, {0.964195192f, -1.83329272f, 0.301721156f});
  }
  {
    Floats var = start, accum(3, 0.1f);
    for (const Floats& g : kGrads) apply_adagrad(var.data(), accum.data(), g.data(), 3, {.lr = 0.1f}, pool);
    expect_near(var, {1.06021845f, -1.90118742f, 0.314927489f});
  }
  {
    Floats var = start, ms(3, 1.0f), mom(3);
    for (const Floats& g : kGrads)
      apply_rms_prop(var.data(), ms.data(), mom.data(), g.data(), 3,
                     {.lr = 0.1f, .rho = 0.9f, .momentum = 0.5f, .epsilon = 1e-10f}, pool);
    expect_near(var, {1.05968475f, -1.69718742f, -0.0817424953f});
  }
}

TEST(Update, NesterovAdamMatchesTensorFlow) {
  ThreadPool pool(1);
  Floats var = {1.0f, -2.0f, 0.5f}, m = {0.1f, 0.2f, 0.3f}, v = {0.4f, 0.5f, 0.6f};
  apply_adam(var.data(), m.data(), v.data(), kGrads[1].data(), 3,
             {.lr = 0.1f,
              .beta1 = 0.9f,
              .beta2 = 0.99f,
              .epsilon = 1e-8f,
              .beta1_power = 0.81f,
              .beta2_power = 0.99f,
              .nesterov = true},
             pool);
  expect_near(var, {1.00432241f, -2.01226091f, 0.431653619f});
  expect_near(m, {0.0199999809f, 0.180999994f, 0.7700001f});
  expect_near(v, {0.400900006f, 0.495001018f, 0.843999803f});
}

TEST(Update, AdagradLeavesSlotsAloneWhenAsked) {
  ThreadPool pool(1);
  float var = 1, accum = 4;
  const float grad = 3;
  apply_adagrad(&var, &accum, &grad, 1, {.lr = 0.5f, .update_slots = false}, pool);
  EXPECT_EQ(accum, 4.0f);
  EXPECT_EQ(var, 0.25f);
}

Floats numbers(int64_t n, uint32_t state) {
  Floats x(n);
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f + 0.01f;
  return x;
}

// All updates one after the other on the same arrays: the state after them.
template <class Each>
Floats after_updates(int64_t n, Each each) {
  Floats var = numbers(n, 1), a = numbers(n, 2), b = numbers(n, 3), grad = numbers(n, 4);
  each(var.data(), a.data(), b.data(), grad.data());
  var.insert(var.end(), a.begin(), a.end());
  var.insert(var.end(), b.begin(), b.end());
  return var;
}
const MomentumOptions kMomentum = {.lr = 0.01f, .momentum = 0.9f, .nesterov = true};
const AdamOptions kAdam = {
    .lr = 0.01f, .beta1 = 0.9f, .beta2 = 0.99f, .epsilon = 1e-6f, .beta1_power = 0.5f, .beta2_power = 0.9f};
const RmsPropOptions kRmsProp = {.lr = 0.01f, .rho = 0.9f, .momentum = 0.8f, .epsilon = 1e-6f};

TEST(Update, EveryInstructionSetAgreesWithTheFormulas) {
  for (int64_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 70}) {
    const Floats want = after_updates(n, [n](float* var, float* a, float* b, const float* grad) {
      for (int64_t i = 0; i < n; ++i) {
        const double g = grad[i];
        double x = var[i], p = a[i], q = b[i];
        x -= g * 0.05;
        p = p * kMomentum.momentum + g;
        x -= g * kMomentum.lr + p * kMomentum.momentum * kMomentum.lr;
        p += (g - p) * (1 - double{kAdam.beta1});
        q += (g * g - q) * (1 - double{kAdam.beta2});
        x -= p * kAdam.lr * std::sqrt(1 - kAdam.beta2_power) / (1 - kAdam.beta1_power) / (std::sqrt(q) + kAdam.epsilon);
        p += g * g;
        x -= g * 0.02 / std::sqrt(p);
        p += (g * g - p) * (1 - double{kRmsProp.rho});
        q = q * kRmsProp.momentum + g * kRmsProp.lr / std::sqrt(p + kRmsProp.epsilon);
        var[i] = static_cast<float>(x - q), a[i] = static_cast<float>(p), b[i] = static_cast<float>(q);
      }
    });
    for (const UpdateTable* t : tables()) {
      const Floats got = after_updates(n, [n, t](float* var, float* a, float* b, const float* grad) {
        t->gradient_descent(var, grad, n, 0.05f);
        t->momentum(var, a, grad, n, kMomentum);
        t->adam(var, a, b, grad, n, kAdam);
        t->adagrad(var, a, grad, n, {.lr = 0.02f});
        t->rms_prop(var, a, b, grad, n, kRmsProp);
      });
      for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << n << " " << i;
    }
  }
}

TEST(Update, BitsDoNotDependOnTheNumberOfThreads) {
  constexpr int64_t n = 70001;
  auto run = [](int threads) {
    ThreadPool pool(threads);
    return after_updates(n, [&pool](float* var, float* a, float* b, const float* grad) {
      apply_gradient_descent(var, grad, n, 0.05f, pool);
      apply_momentum(var, a, grad, n, kMomentum, pool);
      apply_adam(var, a, b, grad, n, kAdam, pool);
      apply_adagrad(var, a, grad, n, {.lr = 0.02f}, pool);
      apply_rms_prop(var, a, b, grad, n, kRmsProp, pool);
    });
  };
  const Floats one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(4));
}

TEST(Update, LargeArraysGiveTheBitsOfOneThread) {
  const int64_t n = (int64_t{3} << 20) + 37;  // taken in long stretches, the last of them short
  const AdamOptions options = {
      .lr = 0.1f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .beta1_power = 0.9f, .beta2_power = 0.999f};
  Floats grad(n);
  for (int64_t i = 0; i < n; ++i) grad[i] = static_cast<float>(i % 1013) * 0.01f - 5.0f;
  std::vector<Floats> results;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    Floats var(n, 1.0f), m(n), v(n);
    apply_adam(var.data(), m.data(), v.data(), grad.data(), n, options, pool);
    apply_gradient_descent(var.data(), grad.data(), n, 0.01f, pool);
    results.push_back(std::move(var));
  }
  EXPECT_NE(results[0].front(), 1.0f);
  EXPECT_NE(results[0].back(), 1.0f);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

}  // namespace
}  // namespace weir::cpu
