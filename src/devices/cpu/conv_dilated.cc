#include "devices/cpu/conv_dilated.h"

namespace weir::cpu {
namespace {

constexpr int64_t kTaskElements = 16384;

// Images [batch, height, width, channels] and the sets of their pixels that lie `apart` rows and columns from each
// other: [batch, apart_h, apart_w, set_h, set_w, channels]. Pixel (v, u) of set (a, b) is pixel (v * apart_h + a -
// pad_h, u * apart_w + b - pad_w) of the image.
struct Sets {
  int64_t batch, height, width, channels;
  int64_t apart_h, apart_w, set_h, set_w;
  int64_t pad_h, pad_w;

  int64_t elements() const { return batch * apart_h * apart_w * set_h * set_w * channels; }

  // Zeros for pixels of a set that lie beyond the image.
  void separate(ThreadPool& pool, const float* images, float* sets) const {
    for_rows(pool, batch * apart_h * apart_w * set_h, set_w, [&](int64_t i) {
      const int64_t set = i / set_h, b = set % apart_w, a = set / apart_w % apart_h, image = set / apart_w / apart_h;
      const int64_t y = i % set_h * apart_h + a - pad_h;
      float* to = sets + i * set_w * channels;
      if (y < 0 || y >= height) {
        std::fill_n(to, set_w * channels, 0.0f);
        return;
      }
      const float* row = images + (image * height + y) * width * channels;
      for (int64_t u = 0; u < set_w; ++u, to += channels) {
        const int64_t x = u * apart_w + b - pad_w;
        if (x < 0 || x >= width) {
          std::fill_n(to, channels, 0.0f);
        } else {
          std::copy_n(row + x * channels, channels, to);
        }
      }
    });
  }

  // The reverse; zeros for pixels of the image that lie in no set.
  void join(ThreadPool& pool, const float* sets, float* images) const { join(pool, sets, {}, images); }
  void join(ThreadPool& pool, const float* sets, const Epilogue<float>& epilogue, float* images) const {
    for_rows(pool, batch * height, width, [&](int64_t i) {
      const int64_t y = i % height + pad_h, a = y % apart_h, v = y / apart_h;
      float* to = images + i * width * channels;
      for (int64_t x = 0; x < width; ++x, to += channels) {
        const int64_t b = (x + pad_w) % apart_w, u = (x + pad_w) / apart_w;
        if (v >= set_h || u >= set_w) {
          std::fill_n(to, channels, 0.0f);
          continue;
        }
        const int64_t set = (i / height * apart_h + a) * apart_w + b;
        std::copy_n(sets + ((set * set_h + v) * set_w + u) * channels, channels, to);
      }
      finish_pixels(epilogue, i * width, width, channels, images);
    });
  }

 private:
  template <class Body>
  void for_rows(ThreadPool& pool, int64_t rows, int64_t pixels, Body body) const {
    pool.parallel_for(rows, std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, pixels * channels)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) body(i);
                      });
  }
};

struct Separation {
  explicit Separation(const ConvParams& p) {
    const int64_t out_h = divide_up(p.out_h(), p.dilation_h), out_w = divide_up(p.out_w(), p.dilation_w);
    params = p;
    params.batch = p.batch * p.dilation_h * p.dilation_w;
    params.in_h = out_h + p.k_h - 1;
    params.in_w = out_w + p.k_w - 1;
    params.dilation_h = params.dilation_w = 1;
    params.pad_top = params.pad_bottom = params.pad_left = params.pad_right = 0;
    input = {p.batch,      p.in_h,      p.in_w,      p.in_c,    p.dilation_h,
             p.dilation_w, params.in_h, params.in_w, p.pad_top, p.pad_left};
    output = {p.batch, p.out_h(), p.out_w(), p.out_c, p.dilation_h, p.dilation_w, out_h, out_w, 0, 0};
  }

  struct Scratch {
    float *input, *output;
    void* core;
    size_t bytes;
  };
  Scratch carve(void* scratch, size_t core) const {
    Carver carver(scratch);
    Scratch s{};
    s.input = carver.take<float>(input.elements());
    s.output = carver.take<float>(output.elements());
    s.core = carver.take<char>(static_cast<int64_t>(core));
    s.bytes = carver.used();
    return s;
  }

  ConvParams params;  // of the sets
  Sets input, output;
};

}  // namespace

bool separating_pays(const ConvParams& p, bool to_input) {
  if (p.dilation_h * p.dilation_w == 1 || p.stride_h != 1 || p.stride_w != 1) return false;
  if (p.in_c < 16 || p.out_c < 16 || !has_output(p) || !has_input(p)) return false;
  // The copies cost some; the direct method does not reach the peak.
  return 1.1 * winograd_products(Separation(p).params, to_input) < 1.15 * static_cast<double>(direct_products(p));
}

size_t separated_forward_scratch_bytes(const ConvParams& p, int threads) {
  const Separation s(p);
  return s.carve(nullptr, winograd_forward_scratch_bytes(s.params, threads)).bytes;
}
size_t separated_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  const Separation s(p);
  return s.carve(nullptr, winograd_backward_input_scratch_bytes(s.params, threads)).bytes;
}
size_t separated_backward_filter_scratch_bytes(const ConvParams& p, int threads) {
  const Separation s(p);
  return s.carve(nullptr, winograd_backward_filter_scratch_bytes(s.params, threads)).bytes;
}

void separated_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                       const Epilogue<float>& epilogue, float* output, void* scratch) {
  const Separation s(p);
  const auto at = s.carve(scratch, 0);
  s.input.separate(pool, input, at.input);
  // What is added to the result lies as that does, not as its sets.
  const bool late = epilogue.side;
  winograd_forward(pool, s.params, at.input, filter, late ? Epilogue<float>{} : epilogue, at.output, at.core);
  s.output.join(pool, at.output, late ? epilogue : Epilogue<float>{}, output);
}

void separated_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                              float* input_grad, void* scratch) {
  const Separation s(p);
  const auto at = s.carve(scratch, 0);
  s.output.separate(pool, output_grad, at.output);
  winograd_backward_input(pool, s.params, filter, at.output, at.input, at.core);
  s.input.join(pool, at.input, input_grad);
}

void separated_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                               float* filter_grad, void* scratch) {
  const Separation s(p);
  const auto at = s.carve(scratch, 0);
  s.input.separate(pool, input, at.input);
  s.output.separate(pool, output_grad, at.output);
  winograd_backward_filter(pool, s.params, at.input, at.output, filter_grad, at.core);
}

}  // namespace weir::cpu
