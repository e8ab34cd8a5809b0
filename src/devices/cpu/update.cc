#include "devices/cpu/update.h"

#include "base/racing_writes.h"
#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/update_table.h"

namespace weir::cpu {
namespace {

const UpdateTable& table() {
#if defined(__x86_64__)
  static const UpdateTable& chosen = isa() == Isa::Avx512 ? avx512::kUpdateTable
                                     : isa() == Isa::Avx2 ? avx2::kUpdateTable
                                                          : portable::kUpdateTable;
  return chosen;
#else
  return portable::kUpdateTable;
#endif
}

// Elements that a thread takes at a time: pieces that even out what threads lose to each other, but of arrays that come
// from memory a few long stretches, which the processor fetches ahead.
int64_t grain(int64_t n, const ThreadPool& pool) {
  constexpr int64_t kPiece = 16384, kFromMemory = 1 << 20;
  return n < kFromMemory ? kPiece : (n / (2 * pool.threads()) + kPiece) / kPiece * kPiece;
}

}  // namespace

void apply_gradient_descent(float* var, const float* grad, int64_t n, float lr, ThreadPool& pool) {
  pool.parallel_for(n, grain(n, pool), [&, f = table().gradient_descent](int64_t begin, int64_t end) {
    [[maybe_unused]] RacingWrites racing;
    f(var + begin, grad + begin, end - begin, lr);
  });
}

void apply_momentum(float* var, float* accum, const float* grad, int64_t n, const MomentumOptions& options,
                    ThreadPool& pool) {
  pool.parallel_for(n, grain(n, pool), [&, f = table().momentum](int64_t begin, int64_t end) {
    [[maybe_unused]] RacingWrites racing;
    f(var + begin, accum + begin, grad + begin, end - begin, options);
  });
}

void apply_adam(float* var, float* m, float* v, const float* grad, int64_t n, const AdamOptions& options,
                ThreadPool& pool) {
  pool.parallel_for(n, grain(n, pool), [&, f = table().adam](int64_t begin, int64_t end) {
    [[maybe_unused]] RacingWrites racing;
    f(var + begin, m + begin, v + begin, grad + begin, end - begin, options);
  });
}

void apply_adagrad(float* var, float* accum, const float* grad, int64_t n, const AdagradOptions& options,
                   ThreadPool& pool) {
  pool.parallel_for(n, grain(n, pool), [&, f = table().adagrad](int64_t begin, int64_t end) {
    [[maybe_unused]] RacingWrites racing;
    f(var + begin, accum + begin, grad + begin, end - begin, options);
  });
}

void apply_rms_prop(float* var, float* ms, float* mom, const float* grad, int64_t n, const RmsPropOptions& options,
                    ThreadPool& pool) {
  pool.parallel_for(n, grain(n, pool), [&, f = table().rms_prop](int64_t begin, int64_t end) {
    [[maybe_unused]] RacingWrites racing;
    f(var + begin, ms + begin, mom + begin, grad + begin, end - begin, options);
  });
}

}  // namespace weir::cpu
