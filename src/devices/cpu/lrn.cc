#include "devices/cpu/lrn.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/lrn_generic.h"
#include "devices/cpu/lrn_table.h"

namespace weir::cpu {
namespace {

const LrnTable& table() {
#if defined(__x86_64__)
  static const LrnTable& chosen = isa() == Isa::Avx512 ? avx512::kLrnTable
                                  : isa() == Isa::Avx2 ? avx2::kLrnTable
                                                       : portable::kLrnTable;
  return chosen;
#else
  return portable::kLrnTable;
#endif
}

int64_t grain(int64_t channels) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, channels)); }

// A radius beyond the channels sees no more than they are.
LrnOptions limited(LrnOptions options, int64_t channels) {
  options.depth_radius = std::min(options.depth_radius, channels);
  return options;
}

}  // namespace

void lrn(const float* x, float* y, int64_t pixels, int64_t channels, const LrnOptions& options, ThreadPool& pool) {
  const LrnOptions o = limited(options, channels);
  pool.parallel_for(pixels, grain(channels), [&, f = table().forward](int64_t begin, int64_t end) {
    if (o.depth_radius > kLargestLrnRadius)
      lrn_generic<float>(x, y, begin, end, channels, o);
    else
      f(x + begin * channels, y + begin * channels, end - begin, channels, o);
  });
}

void lrn_grad(const float* dy, const float* x, const float* y, float* dx, int64_t pixels, int64_t channels,
              const LrnOptions& options, ThreadPool& pool) {
  const LrnOptions o = limited(options, channels);
  pool.parallel_for(pixels, grain(channels), [&, f = table().backward](int64_t begin, int64_t end) {
    const int64_t at = begin * channels;
    if (o.depth_radius > kLargestLrnRadius)
      lrn_grad_generic<float>(dy, x, y, dx, begin, end, channels, o);
    else
      f(dy + at, x + at, y + at, dx + at, end - begin, channels, o);
  });
}

}  // namespace weir::cpu
