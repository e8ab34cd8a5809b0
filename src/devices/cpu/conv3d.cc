// A plane of the output is a convolution in two dimensions of all planes that its taps lie on, taken together as one
// image with as many more channels. So volumes have every method that images have, Winograd's included, for the price
// of copies of the input, which are made for some planes at a time.

#include "devices/cpu/conv3d.h"

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {
namespace {

constexpr int64_t kChunkBytes = 16 << 20;  // of stacked planes at a time
constexpr int64_t kTaskElements = 16384;

template <class T>
class StackedPlanes {
 public:
  explicit StackedPlanes(const Conv3dParams& p) : p_(p), out_d_(p.out_d()), planes_(p.plane.batch * out_d_) {
    // Where a tap is a plane as it lies, nothing needs to be copied.
    single_ = p.k_d == 1 && p.stride_d == 1 && p.pad_front == 0 && p.pad_back == 0;
    stacked_ = pixels() * p.k_d * p.plane.in_c;
    const int64_t most = std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, stacked_ * bytes_of(1)));
    const int64_t chunks = single_ ? 1 : std::max<int64_t>(1, divide_up(planes_, most));
    chunk_ = divide_up(planes_, chunks);
  }

  bool is_empty() const { return planes_ <= 0 || !has_output(p_.plane) || !has_input(p_.plane) || p_.in_d <= 0; }

  struct Scratch {
    void* core;  // what the convolutions of a chunk want
    T* stack;    // a chunk of stacked planes
    T* filter;   // in their order
    size_t bytes;
  };
  template <class Bytes>
  Scratch carve(void* scratch, int threads, Bytes bytes) const {
    size_t core = bytes(chunk_params(chunk_), threads);
    if (const int64_t rest = planes_ % chunk_; rest > 0) core = std::max(core, bytes(chunk_params(rest), threads));
    Carver carver(scratch);
    Scratch s{};
    s.core = carver.take<char>(static_cast<int64_t>(core));
    s.stack = carver.take<T>(single_ ? 0 : chunk_ * stacked_);
    s.filter = carver.take<T>(single_ ? 0 : filter_size());
    s.bytes = carver.used();
    return s;
  }
  template <class Bytes>
  size_t scratch_bytes(int threads, Bytes bytes) const {
    return is_empty() ? 0 : carve(nullptr, threads, bytes).bytes;
  }

  bool single() const { return single_; }
  int64_t filter_size() const { return p_.k_d * p_.plane.k_h * p_.plane.k_w * p_.plane.in_c * p_.plane.out_c; }
  int64_t output_plane() const { return p_.plane.out_h() * p_.plane.out_w() * p_.plane.out_c; }

  // Calls body(first plane, params of the convolution in two dimensions).
  template <class Body>
  void for_chunks(Body body) const {
    for (int64_t first = 0; first < planes_; first += chunk_) {
      body(first, chunk_params(std::min(chunk_, planes_ - first)));
    }
  }

  // to[plane, pixel, tap, channel] for some planes of the output; zeros beyond the volume.
  void stack(ThreadPool& pool, const T* input, int64_t first, int64_t count, T* to) const {
    const int64_t channels = p_.plane.in_c, row = p_.plane.in_w * channels;
    for_rows(pool, count, [&](int64_t plane, int64_t y) {
      T* stacked = to + plane * stacked_ + y * row * p_.k_d;
      for (int64_t tap = 0; tap < p_.k_d; ++tap, stacked += channels) {
        const int64_t source = source_plane(first + plane, tap);
        const T* from = source < 0 ? nullptr : input + source * pixels() * channels + y * row;
        copy_pixels(from, stacked);
      }
    });
  }

  // The reverse, added up: what the planes of the input get from some planes of the output.
  void unstack(ThreadPool& pool, const T* from, int64_t first, int64_t count, T* input_grad) const {
    const int64_t channels = p_.plane.in_c, row = p_.plane.in_w * channels;
    const int64_t begin = first / out_d_ * p_.in_d, end = ((first + count - 1) / out_d_ + 1) * p_.in_d;
    for_rows(pool, end - begin, [&](int64_t plane, int64_t y) {
      plane += begin;
      T* to = input_grad + plane * pixels() * channels + y * row;
      for (int64_t tap = 0; tap < p_.k_d; ++tap) {
        const int64_t z = plane % p_.in_d + p_.pad_front - tap * p_.dilation_d;
        if (z < 0 || z % p_.stride_d != 0 || z / p_.stride_d >= out_d_) continue;
        const int64_t source = plane / p_.in_d * out_d_ + z / p_.stride_d - first;
        if (source >= 0 && source < count) {
          add_pixels(from + source * stacked_ + y * row * p_.k_d + tap * channels, to);
        }
      }
    });
  }

  // The filter [k_d, taps of a plane, in_c, out_c] as [taps of a plane, k_d, in_c, out_c], and back.
  void stack_filter(ThreadPool& pool, const T* filter, T* to) const {
    for_taps(pool,
             [&](int64_t plain, int64_t stacked, int64_t size) { std::copy_n(filter + plain, size, to + stacked); });
  }
  void unstack_filter(ThreadPool& pool, const T* stacked_grad, bool accumulate, T* filter_grad) const {
    for_taps(pool, [&](int64_t plain, int64_t stacked, int64_t size) {
      const T* from = stacked_grad + stacked;
      T* to = filter_grad + plain;
      for (int64_t i = 0; i < size; ++i) to[i] = accumulate ? to[i] + from[i] : from[i];
    });
  }

 private:
  static int64_t bytes_of(int64_t elements) { return elements * static_cast<int64_t>(sizeof(T)); }
  int64_t pixels() const { return p_.plane.in_h * p_.plane.in_w; }

  ConvParams chunk_params(int64_t planes) const {
    ConvParams plane = p_.plane;
    plane.batch = planes;
    plane.in_c *= p_.k_d;
    return plane;
  }

  // The plane of the input, numbered over the batch, under a tap of a plane of the output; -1 beyond the volume.
  int64_t source_plane(int64_t plane, int64_t tap) const {
    const int64_t z = plane % out_d_ * p_.stride_d - p_.pad_front + tap * p_.dilation_d;
    return z < 0 || z >= p_.in_d ? -1 : plane / out_d_ * p_.in_d + z;
  }

  template <class Body>
  void for_rows(ThreadPool& pool, int64_t planes, Body body) const {
    const int64_t rows = p_.plane.in_h;
    const int64_t grain = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, stacked_ / rows));
    pool.parallel_for(planes * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i / rows, i % rows);
    });
  }

  template <class Body>
  void for_taps(ThreadPool& pool, Body body) const {
    const int64_t taps = p_.plane.k_h * p_.plane.k_w, size = p_.plane.in_c * p_.plane.out_c;
    pool.parallel_for(p_.k_d * taps, std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, size)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          body(i * size, (i % taps * p_.k_d + i / taps) * size, size);
                        }
                      });
  }

  // One row of pixels into places k_d pixels from each other, or zeros.
  void copy_pixels(const T* from, T* to) const {
    const int64_t channels = p_.plane.in_c, step = p_.k_d * channels;
    for (int64_t x = 0; x < p_.plane.in_w; ++x, to += step) {
      if (from) {
        std::copy_n(from + x * channels, channels, to);
      } else {
        std::fill_n(to, channels, T(0));
      }
    }
  }
  void add_pixels(const T* from, T* to) const {
    const int64_t channels = p_.plane.in_c, step = p_.k_d * channels;
    for (int64_t x = 0; x < p_.plane.in_w; ++x, from += step, to += channels) {
      for (int64_t c = 0; c < channels; ++c) to[c] += from[c];
    }
  }

  const Conv3dParams& p_;
  const int64_t out_d_, planes_;  // planes of the output in the batch
  bool single_ = false;
  int64_t stacked_ = 0;  // elements of a stacked plane
  int64_t chunk_ = 0;    // planes at a time; depends on the shape alone
};

}  // namespace

template <class T>
size_t conv3d_forward_scratch_bytes(const Conv3dParams& p, int threads) {
  return StackedPlanes<T>(p).scratch_bytes(threads, conv_forward_scratch_bytes<T>);
}
template <class T>
size_t conv3d_backward_input_scratch_bytes(const Conv3dParams& p, int threads) {
  return StackedPlanes<T>(p).scratch_bytes(threads, conv_backward_input_scratch_bytes<T>);
}
template <class T>
size_t conv3d_backward_filter_scratch_bytes(const Conv3dParams& p, int threads) {
  return StackedPlanes<T>(p).scratch_bytes(threads, conv_backward_filter_scratch_bytes<T>);
}

template <class T>
void conv3d_forward(ThreadPool& pool, const Conv3dParams& p, const T* input, const T* filter, T* output,
                    void* scratch) {
  const StackedPlanes<T> planes(p);
  if (planes.is_empty()) {
    std::fill_n(output, p.plane.batch * p.out_d() * planes.output_plane(), T(0));
    return;
  }
  const auto at = planes.carve(scratch, pool.threads(), conv_forward_scratch_bytes<T>);
  if (!planes.single()) planes.stack_filter(pool, filter, at.filter);
  planes.for_chunks([&](int64_t first, const ConvParams& chunk) {
    if (!planes.single()) planes.stack(pool, input, first, chunk.batch, at.stack);
    conv_forward<T>(pool, chunk, planes.single() ? input : at.stack, planes.single() ? filter : at.filter, {},
                    output + first * planes.output_plane(), at.core);
  });
}

template <class T>
void conv3d_backward_input(ThreadPool& pool, const Conv3dParams& p, const T* filter, const T* output_grad,
                           T* input_grad, void* scratch) {
  const StackedPlanes<T> planes(p);
  if (!planes.single() || planes.is_empty()) {
    const int64_t size = p.plane.in_h * p.plane.in_w * p.plane.in_c;
    pool.parallel_for(
        p.plane.batch * p.in_d, std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, size)),
        [&](int64_t begin, int64_t end) { std::fill(input_grad + begin * size, input_grad + end * size, T(0)); });
  }
  if (planes.is_empty()) return;
  const auto at = planes.carve(scratch, pool.threads(), conv_backward_input_scratch_bytes<T>);
  if (!planes.single()) planes.stack_filter(pool, filter, at.filter);
  planes.for_chunks([&](int64_t first, const ConvParams& chunk) {
    const T* grad = output_grad + first * planes.output_plane();
    if (planes.single()) return conv_backward_input(pool, chunk, filter, grad, input_grad, at.core);
    conv_backward_input<T>(pool, chunk, at.filter, grad, at.stack, at.core);
    planes.unstack(pool, at.stack, first, chunk.batch, input_grad);
  });
}

template <class T>
void conv3d_backward_filter(ThreadPool& pool, const Conv3dParams& p, const T* input, const T* output_grad,
                            T* filter_grad, void* scratch) {
  const StackedPlanes<T> planes(p);
  if (planes.is_empty()) {
    std::fill_n(filter_grad, planes.filter_size(), T(0));
    return;
  }
  const auto at = planes.carve(scratch, pool.threads(), conv_backward_filter_scratch_bytes<T>);
  planes.for_chunks([&](int64_t first, const ConvParams& chunk) {
    const T* grad = output_grad + first * planes.output_plane();
    if (planes.single()) return conv_backward_filter(pool, chunk, input, grad, filter_grad, at.core);
    planes.stack(pool, input, first, chunk.batch, at.stack);
    conv_backward_filter<T>(pool, chunk, at.stack, grad, at.filter, at.core);
    planes.unstack_filter(pool, at.filter, first > 0, filter_grad);
  });
}

#define WEIR_INSTANTIATE(T)                                                                             \
  template size_t conv3d_forward_scratch_bytes<T>(const Conv3dParams&, int);                            \
  template size_t conv3d_backward_input_scratch_bytes<T>(const Conv3dParams&, int);                     \
  template size_t conv3d_backward_filter_scratch_bytes<T>(const Conv3dParams&, int);                    \
  template void conv3d_forward(ThreadPool&, const Conv3dParams&, const T*, const T*, T*, void*);        \
  template void conv3d_backward_input(ThreadPool&, const Conv3dParams&, const T*, const T*, T*, void*); \
  template void conv3d_backward_filter(ThreadPool&, const Conv3dParams&, const T*, const T*, T*, void*);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
