#include "devices/cpu/batch_norm.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "weir/dtype.h"

namespace weir::cpu {
namespace {

// Rows of `outer` that one thread sums up. A function of the shape alone, so that sums are the same for any pool.
int64_t block_rows(const ChannelShape& s) {
  constexpr int64_t kBlocks = 32, kWorth = 32768;
  const int64_t row = std::max<int64_t>(s.channels * s.inner, 1);
  return std::max({(s.outer + kBlocks - 1) / kBlocks, kWorth / row, int64_t{1}});
}
int64_t block_count(const ChannelShape& s) { return (s.outer + block_rows(s) - 1) / block_rows(s); }

int64_t grain_rows(const ChannelShape& s) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, s.channels * s.inner));
}

// Sums up two numbers per element into sums[2 * channels], in blocks that are added in order.
template <class Accumulate>
void sum_channels(const ChannelShape& s, double* partial, ThreadPool& pool, const Accumulate& accumulate) {
  const int64_t rows = block_rows(s), width = 2 * s.channels, blocks = block_count(s);
  pool.parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* sums = partial + b * width;
      std::fill(sums, sums + width, 0.0);
      for (int64_t o = b * rows; o < std::min(s.outer, (b + 1) * rows); ++o) accumulate(o, sums, sums + s.channels);
    }
  });
  for (int64_t b = 1; b < blocks; ++b) {
    for (int64_t i = 0; i < width; ++i) partial[i] += partial[b * width + i];
  }
  if (blocks == 0) std::fill(partial, partial + width, 0.0);
}

// Calls body(element, channel) for row o, in the order of memory.
template <class Body>
void for_row(const ChannelShape& s, int64_t o, const Body& body) {
  const int64_t start = o * s.channels * s.inner;
  if (s.inner == 1) {
    for (int64_t c = 0; c < s.channels; ++c) body(start + c, c);
    return;
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    for (int64_t i = 0; i < s.inner; ++i) body(start + c * s.inner + i, c);
  }
}

}  // namespace

size_t batch_norm_scratch(const ChannelShape& s) {
  return static_cast<size_t>(std::max<int64_t>(block_count(s), 1) * 2 * s.channels) * sizeof(double);
}

template <class T>
void channel_moments(const ChannelShape& s, const T* x, float* mean, float* variance, void* scratch, ThreadPool& pool) {
  auto* sums = static_cast<double*>(scratch);
  const double n = static_cast<double>(std::max<int64_t>(s.per_channel(), 1));
  sum_channels(s, sums, pool, [&](int64_t o, double* sum, double*) {
    for_row(s, o, [&](int64_t i, int64_t c) { sum[c] += static_cast<float>(x[i]); });
  });
  for (int64_t c = 0; c < s.channels; ++c) mean[c] = static_cast<float>(sums[c] / n);
  // A second pass around the mean: differences of large sums of squares would lose the variance of offset data.
  sum_channels(s, sums, pool, [&](int64_t o, double* squares, double*) {
    for_row(s, o, [&](int64_t i, int64_t c) {
      const float d = static_cast<float>(x[i]) - mean[c];
      squares[c] += d * d;
    });
  });
  for (int64_t c = 0; c < s.channels; ++c) variance[c] = static_cast<float>(sums[c] / n);
}

template <class T>
void channel_gradient_sums(const ChannelShape& s, const T* x, const T* dy, const float* mean, double* dy_sum,
                           double* dy_x_sum, void* scratch, ThreadPool& pool) {
  auto* sums = static_cast<double*>(scratch);
  sum_channels(s, sums, pool, [&](int64_t o, double* sum, double* products) {
    for_row(s, o, [&](int64_t i, int64_t c) {
      const float g = static_cast<float>(dy[i]);
      sum[c] += g;
      products[c] += g * (static_cast<float>(x[i]) - mean[c]);
    });
  });
  std::copy(sums, sums + s.channels, dy_sum);
  std::copy(sums + s.channels, sums + 2 * s.channels, dy_x_sum);
}

template <class T>
void scale_channels(const ChannelShape& s, const T* x, const float* scale, const float* shift, T* y, ThreadPool& pool) {
  pool.parallel_for(s.outer, grain_rows(s), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      for_row(s, o,
              [&](int64_t i, int64_t c) { y[i] = static_cast<T>(static_cast<float>(x[i]) * scale[c] + shift[c]); });
    }
  });
}

template <class T>
void combine_channels(const ChannelShape& s, const T* dy, const T* x, const float* a, const float* b,
                      const float* shift, T* dx, ThreadPool& pool) {
  pool.parallel_for(s.outer, grain_rows(s), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      for_row(s, o, [&](int64_t i, int64_t c) {
        dx[i] = static_cast<T>(static_cast<float>(dy[i]) * a[c] + static_cast<float>(x[i]) * b[c] + shift[c]);
      });
    }
  });
}

#define WEIR_INSTANTIATE(T)                                                                                            \
  template void channel_moments<T>(const ChannelShape&, const T*, float*, float*, void*, ThreadPool&);                 \
  template void channel_gradient_sums<T>(const ChannelShape&, const T*, const T*, const float*, double*, double*,      \
                                         void*, ThreadPool&);                                                          \
  template void scale_channels<T>(const ChannelShape&, const T*, const float*, const float*, T*, ThreadPool&);         \
  template void combine_channels<T>(const ChannelShape&, const T*, const T*, const float*, const float*, const float*, \
                                    T*, ThreadPool&);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(Half)
WEIR_INSTANTIATE(BFloat16)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
