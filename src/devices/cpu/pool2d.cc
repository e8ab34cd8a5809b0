#include "devices/cpu/pool2d.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/pool2d_table.h"

namespace weir::cpu {
namespace {

const Pool2dTable& table() {
#if defined(__x86_64__)
  static const Pool2dTable& chosen = isa() == Isa::Avx512 ? avx512::kPool2dTable
                                     : isa() == Isa::Avx2 ? avx2::kPool2dTable
                                                          : portable::kPool2dTable;
  return chosen;
#else
  return portable::kPool2dTable;
#endif
}

constexpr int64_t kTaskFloats = 32768;

// Output rows per task, by the input that they read.
int64_t row_grain(const Pool2dShape& s) {
  return std::max<int64_t>(1, kTaskFloats / std::max<int64_t>(1, s.stride_height * s.in_width * s.channels));
}

// Windows overlap in the gradient's image, so a task owns an image, or some channels of one when images are few. Its
// blocks of channels are multiples of a cache line.
template <class Body>
void for_each_image(const Pool2dShape& s, ThreadPool& pool, Body body) {
  const int64_t block = s.batch >= 8 ? s.channels : std::max<int64_t>(16, (s.channels / 8 + 15) / 16 * 16);
  const int64_t blocks = (s.channels + block - 1) / std::max<int64_t>(1, block);
  const int64_t image_floats = std::max<int64_t>(1, s.in_height * s.in_width * std::min(block, s.channels));
  pool.parallel_for(s.batch * blocks, std::max<int64_t>(1, kTaskFloats / image_floats),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t task = begin; task < end; ++task) {
                        const int64_t first = task % blocks * block;
                        body(task / blocks, first, std::min(first + block, s.channels));
                      }
                    });
}

}  // namespace

void max_pool(const float* x, float* y, const Pool2dShape& s, ThreadPool& pool) {
  pool.parallel_for(s.batch * s.out_height, row_grain(s),
                    [&, f = table().max_pool](int64_t begin, int64_t end) { f(x, y, s, begin, end); });
}

void avg_pool(const float* x, float* y, const Pool2dShape& s, ThreadPool& pool) {
  pool.parallel_for(s.batch * s.out_height, row_grain(s),
                    [&, f = table().avg_pool](int64_t begin, int64_t end) { f(x, y, s, begin, end); });
}

void max_pool_grad(const float* x, const float* y, const float* dy, float* dx, const Pool2dShape& s, ThreadPool& pool) {
  for_each_image(s, pool, [&, f = table().max_pool_grad](int64_t image, int64_t begin, int64_t end) {
    f(x, y, dy, dx, s, image, begin, end);
  });
}

void avg_pool_grad(const float* dy, float* dx, const Pool2dShape& s, ThreadPool& pool) {
  for_each_image(s, pool, [&, f = table().avg_pool_grad](int64_t image, int64_t begin, int64_t end) {
    f(dy, dx, s, image, begin, end);
  });
}

}  // namespace weir::cpu
