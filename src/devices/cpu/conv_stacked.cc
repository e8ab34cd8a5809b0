#include "devices/cpu/conv_stacked.h"

#include <cmath>

#include "devices/cpu/conv_winograd_tiles.h"

namespace weir::cpu {
namespace {

constexpr int64_t kTaskElements = 16384;
constexpr int64_t kVector = 16;  // channels of a pixel that are worth to be transformed by themselves

// Row y of the output reads the padded rows 2 y + k. Stack v holds the padded rows 2 v and 2 v + 1, so that tap k is
// row k % 2 of stack y + k / 2. A further row of padding and a further tap, which is zero, may come before the others:
// where the padding is odd, stacks so begin at even rows of the image, of which fewer are needed. Stacks that would
// hold nothing but padding are padding.
class Stacks {
 public:
  // The better of the two ways, for the gradient of the input or in the other directions.
  Stacks(const ConvParams& p, bool to_input) : p_(p) {
    arrange(0, 0);
    if (p.pad_top % 2 == 0 && p.pad_left % 2 == 0) return;
    const double plain = products(to_input);
    arrange(p.pad_top % 2, p.pad_left % 2);
    if (!fit() || products(to_input) >= plain) arrange(0, 0);
  }

  // False where the output sees nothing but padding.
  bool fit() const { return q_.out_h() == p_.out_h() && q_.out_w() == p_.out_w(); }

  // What the method costs for a pair of the plain convolution's channels, in products of the direct method. Beside few
  // channels on the other side the transforms of a channel count for more than usual, most those of large tiles, which
  // leave the registers.
  double products(bool to_input) const {
    const WinogradKernels* kernels =
        find_winograd_variant(q_, to_input ? q_.in_h : q_.out_h(), to_input ? q_.in_w : q_.out_w());
    if (!kernels) return INFINITY;
    const bool wide = is_wide(q_);
    const double transform = kernels->tile == 8 ? (wide ? 90 : 36) : (wide ? 40 : 16), usual = wide ? 1.6 : 1.3;
    const double transforms = 1 + transform / static_cast<double>(q_.in_c) + transform / static_cast<double>(q_.out_c);
    return 4 * winograd_products(q_, to_input, stacking_) * std::max(1.0, transforms / usual);
  }
  const Stacking& stacking() const { return stacking_; }

  // The convolution of the stacks.
  const ConvParams& params() const { return q_; }

  struct Scratch {
    float *images, *filter;
    void* core;
    size_t bytes;
  };
  Scratch carve(void* scratch, size_t core) const {
    Carver carver(scratch);
    Scratch s{};
    s.images = carver.take<float>(copies() ? q_.batch * q_.in_h * q_.in_w * q_.in_c : 0);
    s.filter = carver.take<float>(taps_ * taps_ * q_.in_c * q_.out_c);
    s.core = carver.take<char>(static_cast<int64_t>(core));
    s.bytes = carver.used();
    return s;
  }

  void stack_images(ThreadPool& pool, const float* input, float* stacks) const {
    for_rows(pool, q_.in_h, q_.in_w * q_.in_c, [&](int64_t image, int64_t v) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t y = 2 * v + half - stacking_.before_h;
        const float* row = y < 0 || y >= p_.in_h ? nullptr : input + (image * p_.in_h + y) * p_.in_w * p_.in_c;
        float* to = stacks + (image * q_.in_h + v) * q_.in_w * q_.in_c + half * 2 * p_.in_c;
        for (int64_t x = 0; x < q_.in_w; ++x, to += q_.in_c) copy_pair(row, 2 * x - stacking_.before_w, to);
      }
    });
  }

  // Whether images are copied. Where pixels have channels enough, tiles take what belongs to each pixel of a stack from
  // the image, and put it there.
  bool copies() const { return stacking_.height == 0; }
  // Pixels that lie in no stack were not read.
  void clear_unread(ThreadPool& pool, float* input_grad) const {
    if (2 * q_.in_h - stacking_.before_h >= p_.in_h && 2 * q_.in_w - stacking_.before_w >= p_.in_w) return;
    const int64_t row = p_.in_w * p_.in_c;
    for_rows(pool, p_.in_h, row,
             [&](int64_t image, int64_t y) { std::fill_n(input_grad + (image * p_.in_h + y) * row, row, 0.0f); });
  }
  void unstack_images(ThreadPool& pool, const float* stacks, float* input_grad) const {
    for_rows(pool, p_.in_h, p_.in_w * p_.in_c, [&](int64_t image, int64_t y) {
      const int64_t v = (y + stacking_.before_h) / 2, half = (y + stacking_.before_h) % 2;
      float* to = input_grad + (image * p_.in_h + y) * p_.in_w * p_.in_c;
      if (v >= q_.in_h) {
        std::fill_n(to, p_.in_w * p_.in_c, 0.0f);
        return;
      }
      const float* row = stacks + (image * q_.in_h + v) * q_.in_w * q_.in_c + half * 2 * p_.in_c;
      for (int64_t x = 0; x < p_.in_w; ++x, to += p_.in_c) {
        const int64_t column = (x + stacking_.before_w) / 2;
        if (column < q_.in_w) {
          std::copy_n(row + column * q_.in_c + (x + stacking_.before_w) % 2 * p_.in_c, p_.in_c, to);
        } else {
          std::fill_n(to, p_.in_c, 0.0f);
        }
      }
    });
  }

  // Calls body(offset of a tap's matrix in the filter, or -1 where it has none; offset in the stacked filter).
  template <class Body>
  void for_taps(ThreadPool& pool, Body body) const {
    const int64_t matrix = p_.in_c * p_.out_c;
    pool.parallel_for(4 * taps_ * taps_, std::max<int64_t>(1, kTaskElements / matrix), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t h = i / 4 / taps_ * 2 + i % 4 / 2 - shift_h_, w = i / 4 % taps_ * 2 + i % 2 - shift_w_;
        const bool inside = h >= 0 && h < p_.k_h && w >= 0 && w < p_.k_w;
        body(inside ? (h * p_.k_w + w) * matrix : -1, i * matrix);
      }
    });
  }
  void stack_filter(ThreadPool& pool, const float* filter, float* stacked) const {
    for_taps(pool, [&](int64_t from, int64_t to) {
      if (from >= 0) {
        std::copy_n(filter + from, p_.in_c * p_.out_c, stacked + to);
      } else {
        std::fill_n(stacked + to, p_.in_c * p_.out_c, 0.0f);
      }
    });
  }
  void unstack_filter(ThreadPool& pool, const float* stacked, float* filter_grad) const {
    for_taps(pool, [&](int64_t to, int64_t from) {
      if (to >= 0) std::copy_n(stacked + from, p_.in_c * p_.out_c, filter_grad + to);
    });
  }

 private:
  void arrange(int64_t shift_h, int64_t shift_w) {
    shift_h_ = shift_h;
    shift_w_ = shift_w;
    taps_ = std::max(divide_up(p_.k_h + shift_h, 2), divide_up(p_.k_w + shift_w, 2));
    stacking_ = {.channels = p_.in_c,
                 .first_h = shift_h > 0,
                 .last_h = 2 * taps_ > p_.k_h + shift_h,
                 .first_w = shift_w > 0,
                 .last_w = 2 * taps_ > p_.k_w + shift_w,
                 .before_h = (p_.pad_top + shift_h) % 2,
                 .before_w = (p_.pad_left + shift_w) % 2};
    if (p_.in_c % kVector == 0) {
      stacking_.height = p_.in_h;
      stacking_.width = p_.in_w;
    }
    q_ = p_;
    q_.in_c = 4 * p_.in_c;
    q_.k_h = q_.k_w = taps_;
    q_.stride_h = q_.stride_w = 1;
    const auto fit = [&](int64_t pad, int64_t in, int64_t out, int64_t& before, int64_t& stacks, int64_t& behind) {
      before = pad / 2;
      stacks = std::max<int64_t>(std::min(divide_up(in + pad % 2, 2), out + taps_ - 1 - before), 1);
      behind = std::max<int64_t>(out + taps_ - 1 - before - stacks, 0);
    };
    fit(p_.pad_top + shift_h, p_.in_h, p_.out_h(), q_.pad_top, q_.in_h, q_.pad_bottom);
    fit(p_.pad_left + shift_w, p_.in_w, p_.out_w(), q_.pad_left, q_.in_w, q_.pad_right);
  }

  template <class Body>
  void for_rows(ThreadPool& pool, int64_t rows, int64_t row_elements, Body body) const {
    pool.parallel_for(p_.batch * rows, std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, row_elements)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) body(i / rows, i % rows);
                      });
  }

  // Pixels x and x + 1 of a row, zeros beyond it; without a row, zeros.
  void copy_pair(const float* row, int64_t x, float* to) const {
    if (row && x >= 0 && x + 1 < p_.in_w) {
      std::copy_n(row + x * p_.in_c, 2 * p_.in_c, to);
      return;
    }
    for (int64_t i = 0; i < 2; ++i) {
      if (row && x + i >= 0 && x + i < p_.in_w) {
        std::copy_n(row + (x + i) * p_.in_c, p_.in_c, to + i * p_.in_c);
      } else {
        std::fill_n(to + i * p_.in_c, p_.in_c, 0.0f);
      }
    }
  }

  const ConvParams& p_;
  ConvParams q_;
  int64_t taps_ = 0;
  int64_t shift_h_ = 0, shift_w_ = 0;  // zero taps before the others
  Stacking stacking_;
};

}  // namespace

bool stacking_pays(const ConvParams& p, bool to_input) {
  if (p.stride_h != 2 || p.stride_w != 2 || p.dilation_h != 1 || p.dilation_w != 1 || p.k_h != p.k_w) return false;
  if (p.k_h < 3 || p.k_h > 8 || p.in_c < 3 || p.out_c < 16 || !has_output(p) || !has_input(p)) return false;
  const Stacks stacks(p, to_input);
  if (!stacks.fit()) return false;
  // The copies of stacks cost some, most where they are what the method writes; the direct method does not reach the
  // peak.
  const double copies = to_input ? 1.45 : 1.1;
  return copies * stacks.products(to_input) < 1.15 * static_cast<double>(direct_products(p));
}

size_t stacked_forward_scratch_bytes(const ConvParams& p, int threads) {
  const Stacks stacks(p, false);
  return stacks.carve(nullptr, winograd_forward_scratch_bytes(stacks.params(), threads)).bytes;
}
size_t stacked_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  const Stacks stacks(p, true);
  return stacks.carve(nullptr, winograd_backward_input_scratch_bytes(stacks.params(), threads)).bytes;
}
size_t stacked_backward_filter_scratch_bytes(const ConvParams& p, int threads) {
  const Stacks stacks(p, false);
  return stacks.carve(nullptr, winograd_backward_filter_scratch_bytes(stacks.params(), threads, stacks.stacking()))
      .bytes;
}

void stacked_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                     const Epilogue<float>& epilogue, float* output, void* scratch) {
  const Stacks stacks(p, false);
  const auto at = stacks.carve(scratch, 0);
  if (stacks.copies()) stacks.stack_images(pool, input, at.images);
  stacks.stack_filter(pool, filter, at.filter);
  winograd_forward(pool, stacks.params(), stacks.copies() ? at.images : input, at.filter, epilogue, output, at.core,
                   stacks.stacking());
}

void stacked_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                            float* input_grad, void* scratch) {
  const Stacks stacks(p, true);
  const auto at = stacks.carve(scratch, 0);
  stacks.stack_filter(pool, filter, at.filter);
  if (!stacks.copies()) stacks.clear_unread(pool, input_grad);
  float* grad = stacks.copies() ? at.images : input_grad;
  winograd_backward_input(pool, stacks.params(), at.filter, output_grad, grad, at.core, stacks.stacking());
  if (stacks.copies()) stacks.unstack_images(pool, at.images, input_grad);
}

void stacked_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                             float* filter_grad, void* scratch) {
  const Stacks stacks(p, false);
  const auto at = stacks.carve(scratch, 0);
  if (stacks.copies()) stacks.stack_images(pool, input, at.images);
  winograd_backward_filter(pool, stacks.params(), stacks.copies() ? at.images : input, output_grad, at.filter, at.core,
                           stacks.stacking());
  stacks.unstack_filter(pool, at.filter, filter_grad);
}

}  // namespace weir::cpu
