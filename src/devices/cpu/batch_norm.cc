#include "devices/cpu/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/thread_pool.h"
#include "devices/cpu/batch_norm_table.h"
#include "devices/cpu/isa.h"
#include "weir/dtype.h"

namespace weir::cpu {
namespace {

const BatchNormTable& table() {
#if defined(__x86_64__)
  static const BatchNormTable& chosen = isa() == Isa::Avx512 ? avx512::kBatchNormTable
                                        : isa() == Isa::Avx2 ? avx2::kBatchNormTable
                                                             : portable::kBatchNormTable;
  return chosen;
#else
  return portable::kBatchNormTable;
#endif
}

// Float32 with the channels side by side has loops of its own.
template <class T>
bool has_table(const ChannelShape& s) {
  return std::is_same_v<T, float> && s.inner == 1;
}

// With the channels before the pixels a plane of one channel is taken as rows of some columns, for the same loops, with
// the channel's numbers at each column.
template <class T>
bool has_planes(const ChannelShape& s) {
  return std::is_same_v<T, float> && s.inner > 1;
}
constexpr int64_t kColumns = 64;

struct Columns {
  float numbers[kColumns];
  void fill(float number, int64_t count) { std::fill_n(numbers, count, number); }
};

// Calls body(place, rows, columns) for the part of a plane that fills its columns, and for what is left.
template <class Body>
void for_plane(const ChannelShape& s, int64_t o, int64_t c, const Body& body) {
  const int64_t begin = (o * s.channels + c) * s.inner, rows = s.inner / kColumns, rest = s.inner % kColumns;
  if (rows > 0) body(begin, rows, kColumns);
  if (rest > 0) body(begin + rows * kColumns, 1, rest);
}

// The mask with a channel's numbers at each column.
struct MaskColumns {
  Columns scale, shift;
  ChannelMask of(const ChannelMask& mask, int64_t c, int64_t count) {
    if (mask.activation == Activation::None) return mask;
    scale.fill(mask.scale[c], count);
    shift.fill(mask.shift[c], count);
    return {scale.numbers, shift.numbers, mask.activation};
  }
};

// Rows of `outer` that one thread sums up. A function of the shape alone, so that sums are the same for any pool.
int64_t block_rows(const ChannelShape& s) {
  constexpr int64_t kBlocks = 16, kWorth = 32768;
  const int64_t row = std::max<int64_t>(s.channels * s.inner, 1);
  return std::max({(s.outer + kBlocks - 1) / kBlocks, kWorth / row, int64_t{1}});
}
int64_t block_count(const ChannelShape& s) { return (s.outer + block_rows(s) - 1) / block_rows(s); }

int64_t grain_rows(const ChannelShape& s) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, s.channels * s.inner));
}

// Blocks of rows from the last to the first: the last ones are what the pass before left in the cache, and whoever
// reads the result begins where this ends.
template <class Body>
void from_the_end(const ChannelShape& s, ThreadPool& pool, const Body& body) {
  pool.parallel_for(s.outer, grain_rows(s), [&](int64_t begin, int64_t end) { body(s.outer - end, s.outer - begin); });
}

// Sums up two numbers per element into sums[2 * channels], in blocks of rows [begin, end) that are added in order.
template <class Accumulate>
void sum_blocks(const ChannelShape& s, double* partial, ThreadPool& pool, const Accumulate& accumulate) {
  const int64_t rows = block_rows(s), width = 2 * s.channels, blocks = block_count(s);
  pool.parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* sums = partial + b * width;
      std::fill(sums, sums + width, 0.0);
      accumulate(b * rows, std::min(s.outer, (b + 1) * rows), sums, sums + s.channels);
    }
  });
  for (int64_t b = 1; b < blocks; ++b) {
    for (int64_t i = 0; i < width; ++i) partial[i] += partial[b * width + i];
  }
  if (blocks == 0) std::fill(partial, partial + width, 0.0);
}
template <class Accumulate>
void sum_channels(const ChannelShape& s, double* partial, ThreadPool& pool, const Accumulate& accumulate) {
  sum_blocks(s, partial, pool, [&](int64_t begin, int64_t end, double* first, double* second) {
    for (int64_t o = begin; o < end; ++o) accumulate(o, first, second);
  });
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

float activate(float y, Activation activation) {
  if (activation == Activation::None) return y;
  if (y < 0) return 0;
  return activation == Activation::Relu6 && y > 6 ? 6 : y;
}

// As in the fused loops: a product with 0 or 1, so that a NaN stays visible.
float masked(float g, float x, int64_t c, const ChannelMask& mask) {
  if (mask.activation == Activation::None) return g;
  const float y = x * mask.scale[c] + mask.shift[c];
  return g * (y > 0 && (mask.activation == Activation::Relu || y < 6) ? 1.0f : 0.0f);
}

// Adds both sums of a plane to those of its channel: add(place, rows, columns, sums, other sums) adds up each column.
template <class Add>
void add_planes(const ChannelShape& s, int64_t o, int64_t c, double* sum, double* other, const Add& add) {
  double first[kColumns] = {}, second[kColumns] = {};
  for_plane(s, o, c, [&](int64_t at, int64_t rows, int64_t columns) { add(at, rows, columns, first, second); });
  for (int64_t i = 0; i < std::min(s.inner, kColumns); ++i) {
    sum[c] += first[i];
    other[c] += second[i];
  }
}

// From the sums around a pivot, which `mean` holds.
void finish_moments(const ChannelShape& s, const double* sums, float* mean, float* variance) {
  const double n = static_cast<double>(std::max<int64_t>(s.per_channel(), 1));
  for (int64_t c = 0; c < s.channels; ++c) {
    const double shift = sums[c] / n, spread = sums[s.channels + c] / n - shift * shift;
    mean[c] = static_cast<float>(mean[c] + shift);
    variance[c] = static_cast<float>(spread < 0 ? 0 : spread);  // NaN stays
  }
}

// One pass over the data. Sums are taken around a pivot, the mean of some rows: differences of large sums of squares
// would lose the variance of offset data, and what makes the pivot a bad one makes the variance large.
void row_moments(const ChannelShape& s, const float* x, float* mean, float* variance, double* sums, ThreadPool& pool) {
  const int64_t samples = std::min<int64_t>(16, s.outer), channels = s.channels;
  float* pivot = mean;
  std::fill_n(pivot, channels, 0.0f);
  for (int64_t i = 0; i < samples; ++i) {
    const float* row = x + i * s.outer / samples * channels;
    for (int64_t c = 0; c < channels; ++c) pivot[c] += row[c] / static_cast<float>(samples);
  }
  for (int64_t c = 0; c < channels; ++c) pivot[c] = std::isfinite(pivot[c]) ? pivot[c] : 0;
  sum_blocks(s, sums, pool, [&](int64_t begin, int64_t end, double* sum, double* squares) {
    table().moments(x + begin * channels, end - begin, channels, pivot, sum, squares);
  });
  finish_moments(s, sums, mean, variance);
}

// The same with the channels before the pixels.
void plane_moments(const ChannelShape& s, const float* x, float* mean, float* variance, double* sums,
                   ThreadPool& pool) {
  const int64_t all = s.per_channel(), samples = std::min<int64_t>(16, all);
  for (int64_t c = 0; c < s.channels; ++c) {
    float pivot = 0;
    for (int64_t i = 0; i < samples; ++i) {
      const int64_t at = i * all / samples;
      pivot += x[(at / s.inner * s.channels + c) * s.inner + at % s.inner] / static_cast<float>(samples);
    }
    mean[c] = std::isfinite(pivot) ? pivot : 0;
  }
  sum_channels(s, sums, pool, [&](int64_t o, double* sum, double* squares) {
    Columns pivot;
    for (int64_t c = 0; c < s.channels; ++c) {
      pivot.fill(mean[c], std::min(s.inner, kColumns));
      add_planes(s, o, c, sum, squares, [&](int64_t at, int64_t rows, int64_t columns, double* first, double* second) {
        table().moments(x + at, rows, columns, pivot.numbers, first, second);
      });
    }
  });
  finish_moments(s, sums, mean, variance);
}

}  // namespace

size_t batch_norm_scratch(const ChannelShape& s) {
  return static_cast<size_t>(std::max<int64_t>(block_count(s), 1) * 2 * s.channels) * sizeof(double);
}

template <class T>
void channel_moments(const ChannelShape& s, const T* x, float* mean, float* variance, void* scratch, ThreadPool& pool) {
  auto* sums = static_cast<double*>(scratch);
  if constexpr (std::is_same_v<T, float>) {
    if (has_table<T>(s)) return row_moments(s, x, mean, variance, sums, pool);
    if (has_planes<T>(s)) return plane_moments(s, x, mean, variance, sums, pool);
  }
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
void channel_gradient_sums(const ChannelShape& s, const T* x, const T* dy, const float* mean, const ChannelMask& mask,
                           double* dy_sum, double* dy_x_sum, void* scratch, ThreadPool& pool) {
  auto* sums = static_cast<double*>(scratch);
  if constexpr (std::is_same_v<T, float>) {
    if (has_table<T>(s)) {
      sum_blocks(s, sums, pool, [&](int64_t begin, int64_t end, double* sum, double* products) {
        const int64_t at = begin * s.channels;
        table().gradient_sums(x + at, dy + at, end - begin, s.channels, mean, mask, sum, products);
      });
      std::copy(sums, sums + s.channels, dy_sum);
      std::copy(sums + s.channels, sums + 2 * s.channels, dy_x_sum);
      return;
    }
  }
  sum_channels(s, sums, pool, [&](int64_t o, double* sum, double* products) {
    if constexpr (std::is_same_v<T, float>) {
      Columns means;
      MaskColumns masks;
      for (int64_t c = 0; c < s.channels; ++c) {
        const int64_t most = std::min(s.inner, kColumns);
        const ChannelMask own = masks.of(mask, c, most);
        means.fill(mean[c], most);
        add_planes(s, o, c, sum, products,
                   [&](int64_t at, int64_t rows, int64_t columns, double* first, double* second) {
                     table().gradient_sums(x + at, dy + at, rows, columns, means.numbers, own, first, second);
                   });
      }
      return;
    }
    for_row(s, o, [&](int64_t i, int64_t c) {
      const float v = static_cast<float>(x[i]), g = masked(static_cast<float>(dy[i]), v, c, mask);
      sum[c] += g;
      products[c] += g * (v - mean[c]);
    });
  });
  std::copy(sums, sums + s.channels, dy_sum);
  std::copy(sums + s.channels, sums + 2 * s.channels, dy_x_sum);
}

template <class T>
void scale_channels(const ChannelShape& s, const T* x, const T* side, const float* scale, const float* shift,
                    Activation activation, T* y, ThreadPool& pool) {
  from_the_end(s, pool, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      if (has_table<T>(s)) {
        const int64_t at = begin * s.channels;
        table().scale(x + at, side ? side + at : nullptr, end - begin, s.channels, scale, shift, activation, y + at);
        return;
      }
      Columns factor, offset;
      for (int64_t plane = begin * s.channels; plane < end * s.channels; ++plane) {
        const int64_t c = plane % s.channels, most = std::min(s.inner, kColumns);
        factor.fill(scale[c], most);
        offset.fill(shift[c], most);
        for_plane(s, plane / s.channels, c, [&](int64_t at, int64_t rows, int64_t columns) {
          table().scale(x + at, side ? side + at : nullptr, rows, columns, factor.numbers, offset.numbers, activation,
                        y + at);
        });
      }
      return;
    }
    for (int64_t o = begin; o < end; ++o) {
      for_row(s, o, [&](int64_t i, int64_t c) {
        const float more = side ? static_cast<float>(side[i]) : 0.0f;
        y[i] = static_cast<T>(activate(static_cast<float>(x[i]) * scale[c] + shift[c] + more, activation));
      });
    }
  });
}

template <class T>
void combine_channels(const ChannelShape& s, const T* dy, const T* x, const float* a, const float* b,
                      const float* shift, const ChannelMask& mask, T* dx, ThreadPool& pool) {
  from_the_end(s, pool, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      if (has_table<T>(s)) {
        const int64_t at = begin * s.channels;
        table().combine(dy + at, x + at, end - begin, s.channels, a, b, shift, mask, dx + at);
        return;
      }
      Columns factor, slope, offset;
      MaskColumns masks;
      for (int64_t plane = begin * s.channels; plane < end * s.channels; ++plane) {
        const int64_t c = plane % s.channels, most = std::min(s.inner, kColumns);
        factor.fill(a[c], most);
        slope.fill(b[c], most);
        offset.fill(shift[c], most);
        const ChannelMask own = masks.of(mask, c, most);
        for_plane(s, plane / s.channels, c, [&](int64_t at, int64_t rows, int64_t columns) {
          table().combine(dy + at, x + at, rows, columns, factor.numbers, slope.numbers, offset.numbers, own, dx + at);
        });
      }
      return;
    }
    for (int64_t o = begin; o < end; ++o) {
      for_row(s, o, [&](int64_t i, int64_t c) {
        const float v = static_cast<float>(x[i]), g = masked(static_cast<float>(dy[i]), v, c, mask);
        dx[i] = static_cast<T>(g * a[c] + v * b[c] + shift[c]);
      });
    }
  });
}

#define WEIR_INSTANTIATE(T)                                                                                            \
  template void channel_moments<T>(const ChannelShape&, const T*, float*, float*, void*, ThreadPool&);                 \
  template void channel_gradient_sums<T>(const ChannelShape&, const T*, const T*, const float*, const ChannelMask&,    \
                                         double*, double*, void*, ThreadPool&);                                        \
  template void scale_channels<T>(const ChannelShape&, const T*, const T*, const float*, const float*, Activation, T*, \
                                  ThreadPool&);                                                                        \
  template void combine_channels<T>(const ChannelShape&, const T*, const T*, const float*, const float*, const float*, \
                                    const ChannelMask&, T*, ThreadPool&);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(Half)
WEIR_INSTANTIATE(BFloat16)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
