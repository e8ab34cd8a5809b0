#include "devices/cpu/conv_scatter.h"

namespace weir::cpu {
namespace {

constexpr int64_t kFewChannels = 4, kManyChannels = 16;
// Images go to the threads; the products of one are made by one thread, in an order that depends on the shape alone.
ThreadPool& one_thread() {
  static ThreadPool pool(1);
  return pool;
}

constexpr int64_t kChunkElements = 32768;  // of products, which stay in the second-level cache

// One dimension: pixel i and tap k meet at i * stride + origin + k * step of the result.
struct Axis {
  int64_t from, to, taps, stride, origin, step;

  // Pixels for which tap k has the result under it: [first, last).
  int64_t first(int64_t k) const { return std::clamp<int64_t>(divide_up_signed(-at(0, k)), 0, from); }
  int64_t last(int64_t k) const { return std::clamp<int64_t>(divide_up_signed(to - at(0, k)), 0, from); }
  int64_t at(int64_t pixel, int64_t k) const { return pixel * stride + origin + k * step; }

 private:
  int64_t divide_up_signed(int64_t x) const { return x > 0 ? divide_up(x, stride) : -(-x / stride); }
};

template <class T>
class Scatter {
 public:
  // from [batch, rows, columns, depth], matrix [depth, taps * channels] (transposed: stored the other way round).
  Scatter(Axis rows, Axis columns, int64_t depth, int64_t channels, bool transposed)
      : rows_(rows), columns_(columns), channels_(channels), width_(rows.taps * columns.taps * channels) {
    chunk_ = std::clamp<int64_t>(kChunkElements / std::max<int64_t>(1, columns.from * width_), 1, rows.from);
    product_ = {.m = chunk_ * columns.from,
                .n = width_,
                .k = depth,
                .lda = depth,
                .ldb = transposed ? depth : width_,
                .transpose_b = transposed,
                .ldc = width_};
    products_bytes_ = (static_cast<size_t>(product_.m * width_) * sizeof(T) + 63) / 64 * 64;
    // A chunk that is cut short may be planned otherwise.
    gemm_bytes_ = gemm_scratch_bytes(product_, 1);
    if (const int64_t rest = rows.from % chunk_; rest > 0) {
      Gemm<T> last = product_;
      last.m = rest * columns.from;
      gemm_bytes_ = std::max(gemm_bytes_, gemm_scratch_bytes(last, 1));
    }
    gemm_bytes_ = (gemm_bytes_ + 63) / 64 * 64;
  }

  size_t thread_bytes() const { return products_bytes_ + gemm_bytes_; }

  void run_image(const T* from, const T* matrix, T* to, void* scratch) const {
    T* products = static_cast<T*>(scratch);
    std::fill_n(to, rows_.to * columns_.to * channels_, T(0));
    Gemm<T> g = product_;
    g.b = matrix;
    g.c = products;
    for (int64_t row = 0; row < rows_.from; row += chunk_) {
      const int64_t count = std::min(chunk_, rows_.from - row);
      g.m = count * columns_.from;
      g.a = from + row * columns_.from * g.k;
      gemm(one_thread(), g, static_cast<char*>(scratch) + products_bytes_);
      for (int64_t i = 0; i < count; ++i) add_row(row + i, products + i * columns_.from * width_, to);
    }
  }

 private:
  void add_row(int64_t row, const T* products, T* to) const {
    for (int64_t h = 0; h < rows_.taps; ++h) {
      const int64_t y = rows_.at(row, h);
      if (y < 0 || y >= rows_.to) continue;
      for (int64_t w = 0; w < columns_.taps; ++w) {
        const int64_t first = columns_.first(w), last = columns_.last(w);
        const T* p = products + first * width_ + (h * columns_.taps + w) * channels_;
        T* at = to + (y * columns_.to + columns_.at(first, w)) * channels_;
        for (int64_t x = first; x < last; ++x, p += width_, at += columns_.stride * channels_) {
          for (int64_t c = 0; c < channels_; ++c) at[c] += p[c];
        }
      }
    }
  }

  Axis rows_, columns_;
  int64_t channels_, width_;
  int64_t chunk_;  // rows of an image that are multiplied at once
  Gemm<T> product_;
  size_t products_bytes_, gemm_bytes_;
};

template <class T>
Scatter<T> forward_scatter(const ConvParams& p) {
  return Scatter<T>({p.in_h, p.out_h(), p.k_h, 1, p.pad_top, -p.dilation_h},
                    {p.in_w, p.out_w(), p.k_w, 1, p.pad_left, -p.dilation_w}, p.in_c, p.out_c, false);
}
template <class T>
Scatter<T> backward_scatter(const ConvParams& p) {
  return Scatter<T>({p.out_h(), p.in_h, p.k_h, p.stride_h, -p.pad_top, p.dilation_h},
                    {p.out_w(), p.in_w, p.k_w, p.stride_w, -p.pad_left, p.dilation_w}, p.out_c, p.in_c, true);
}

template <class T>
size_t matrix_bytes(const ConvParams& p) {
  return (static_cast<size_t>(p.k_h * p.k_w * p.in_c * p.out_c) * sizeof(T) + 63) / 64 * 64;
}

}  // namespace

bool scatters_forward(const ConvParams& p) {
  return p.out_c <= kFewChannels && p.in_c >= kManyChannels && p.stride_h == 1 && p.stride_w == 1 && p.k_h * p.k_w > 1;
}
bool scatters_backward_input(const ConvParams& p) {
  return p.in_c <= kFewChannels && p.out_c >= kManyChannels && p.k_h * p.k_w > 1;
}

template <class T>
size_t scatter_forward_scratch_bytes(const ConvParams& p, int threads) {
  return matrix_bytes<T>(p) + forward_scatter<T>(p).thread_bytes() * static_cast<size_t>(threads);
}
template <class T>
size_t scatter_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  return backward_scatter<T>(p).thread_bytes() * static_cast<size_t>(threads);
}

template <class T>
void scatter_forward(ThreadPool& pool, const ConvParams& p, const T* input, const T* filter,
                     const Epilogue<T>& epilogue, T* output, void* scratch) {
  const Scatter<T> scatter = forward_scatter<T>(p);
  T* matrix = static_cast<T*>(scratch);  // the filter as [in_c, taps, out_c]
  const int64_t taps = p.k_h * p.k_w;
  for (int64_t c = 0; c < p.in_c; ++c) {
    for (int64_t t = 0; t < taps; ++t) {
      std::copy_n(filter + (t * p.in_c + c) * p.out_c, p.out_c, matrix + (c * taps + t) * p.out_c);
    }
  }
  char* rest = static_cast<char*>(scratch) + matrix_bytes<T>(p);
  const int64_t in = p.in_h * p.in_w * p.in_c, pixels = p.out_h() * p.out_w();
  pool.parallel_for(p.batch, 1, [&](int64_t begin, int64_t end) {
    void* mine = rest + static_cast<size_t>(ThreadPool::thread_index()) * scatter.thread_bytes();
    for (int64_t n = begin; n < end; ++n) {
      scatter.run_image(input + n * in, matrix, output + n * pixels * p.out_c, mine);
      finish_pixels(epilogue, n * pixels, pixels, p.out_c, output);
    }
  });
}

template <class T>
void scatter_backward_input(ThreadPool& pool, const ConvParams& p, const T* filter, const T* output_grad, T* input_grad,
                            void* scratch) {
  const Scatter<T> scatter = backward_scatter<T>(p);
  const int64_t in = p.in_h * p.in_w * p.in_c, out = p.out_h() * p.out_w() * p.out_c;
  pool.parallel_for(p.batch, 1, [&](int64_t begin, int64_t end) {
    void* mine = static_cast<char*>(scratch) + static_cast<size_t>(ThreadPool::thread_index()) * scatter.thread_bytes();
    for (int64_t n = begin; n < end; ++n) {
      scatter.run_image(output_grad + n * out, filter, input_grad + n * in, mine);
    }
  });
}

#define WEIR_INSTANTIATE(T)                                                                                         \
  template size_t scatter_forward_scratch_bytes<T>(const ConvParams&, int);                                         \
  template size_t scatter_backward_input_scratch_bytes<T>(const ConvParams&, int);                                  \
  template void scatter_forward(ThreadPool&, const ConvParams&, const T*, const T*, const Epilogue<T>&, T*, void*); \
  template void scatter_backward_input(ThreadPool&, const ConvParams&, const T*, const T*, T*, void*);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
