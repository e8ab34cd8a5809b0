#include "devices/cpu/pool3d.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/pool3d_table.h"

namespace weir::cpu {
namespace {

const Pool3dTable& table() {
#if defined(__x86_64__)
  static const Pool3dTable& chosen = isa() == Isa::Avx512 ? avx512::kPool3dTable
                                     : isa() == Isa::Avx2 ? avx2::kPool3dTable
                                                          : portable::kPool3dTable;
  return chosen;
#else
  return portable::kPool3dTable;
#endif
}

// Tasks of a thread's grain, by the floats of input that one task reads.
int64_t grain(int64_t floats) {
  constexpr int64_t kTaskFloats = 32768;
  return std::max<int64_t>(1, kTaskFloats / std::max<int64_t>(1, floats));
}

// How far apart along a dimension the inputs are that neighbouring outputs begin to read.
int64_t step(const Pool3dShape& s, int dim) { return std::min(s.stride[dim], s.in[dim]); }

int64_t row_grain(const Pool3dShape& s) { return grain(step(s, 0) * step(s, 1) * s.in[2] * s.channels); }

// Where windows overlap from plane to plane, a task owns a volume, or some channels of one when volumes are few; its
// blocks of channels are multiples of a cache line. Otherwise it owns a plane of the output. Which of the two does not
// depend on the threads, and neither does the order in which an element's gradients are added up.
template <class Body>
void for_each_part(const Pool3dShape& s, ThreadPool& pool, Body body) {
  const int64_t plane = s.in[1] * s.in[2] * s.channels;
  if (s.stride[0] >= s.window[0]) {
    pool.parallel_for(s.batch * s.out[0], grain(step(s, 0) * plane), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t at = task % s.out[0];
        body(Pool3dPart{task / s.out[0], at, at + 1, 0, s.channels});
      }
    });
    return;
  }
  const int64_t split = std::max<int64_t>(16, (s.channels / 8 + 15) / 16 * 16);
  const int64_t block = s.batch >= 8 ? std::max<int64_t>(1, s.channels) : split;
  const int64_t blocks = (s.channels + block - 1) / block;
  pool.parallel_for(s.batch * blocks, grain(s.in[0] * s.in[1] * s.in[2] * std::min(block, s.channels)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t task = begin; task < end; ++task) {
                        const int64_t first = task % blocks * block;
                        body(Pool3dPart{task / blocks, 0, s.out[0], first, std::min(first + block, s.channels)});
                      }
                    });
}

}  // namespace

void max_pool_3d(const float* x, float* y, const Pool3dShape& s, ThreadPool& pool) {
  pool.parallel_for(s.batch * s.out[0] * s.out[1], row_grain(s),
                    [&, f = table().max_pool](int64_t begin, int64_t end) { f(x, y, s, begin, end); });
}

void avg_pool_3d(const float* x, float* y, const Pool3dShape& s, ThreadPool& pool) {
  pool.parallel_for(s.batch * s.out[0] * s.out[1], row_grain(s),
                    [&, f = table().avg_pool](int64_t begin, int64_t end) { f(x, y, s, begin, end); });
}

void max_pool_3d_grad(const float* x, const float* dy, float* dx, const Pool3dShape& s, ThreadPool& pool) {
  for_each_part(s, pool, [&, f = table().max_pool_grad](const Pool3dPart& part) { f(x, dy, dx, s, part); });
}

void avg_pool_3d_grad(const float* dy, float* dx, const Pool3dShape& s, ThreadPool& pool) {
  for_each_part(s, pool, [&, f = table().avg_pool_grad](const Pool3dPart& part) { f(dy, dx, s, part); });
}

}  // namespace weir::cpu
