#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "devices/cpu/conv.h"
#include "devices/cpu/test_data.h"

namespace weir::cpu {

// A convolution of random numbers and its gradients, by the kernels and by definition.
template <class T>
struct Case {
  explicit Case(const ConvParams& params) : p(params) {
    input = random_values<T>(p.batch * p.in_h * p.in_w * p.in_c, 1);
    filter = random_values<T>(p.k_h * p.k_w * p.in_c * p.out_c, 2);
    output_grad = random_values<T>(p.batch * p.out_h() * p.out_w() * p.out_c, 3);
    bias = random_values<T>(p.out_c, 4);
  }

  struct Results {
    std::vector<T> output, input_grad, filter_grad;
  };

  Results run(int threads, const Epilogue<T>& epilogue = {}) const {
    ThreadPool pool(threads);
    // What the results hold before must not matter.
    const T nan = std::numeric_limits<T>::quiet_NaN();
    Results r{std::vector<T>(output_grad.size(), nan), std::vector<T>(input.size(), nan),
              std::vector<T>(filter.size(), nan)};
    {
      Scratch scratch(conv_forward_scratch_bytes<T>(p, threads));
      conv_forward(pool, p, input.data(), filter.data(), epilogue, r.output.data(), scratch.data());
    }
    {
      Scratch scratch(conv_backward_input_scratch_bytes<T>(p, threads));
      conv_backward_input(pool, p, filter.data(), output_grad.data(), r.input_grad.data(), scratch.data());
    }
    {
      Scratch scratch(conv_backward_filter_scratch_bytes<T>(p, threads));
      conv_backward_filter(pool, p, input.data(), output_grad.data(), r.filter_grad.data(), scratch.data());
    }
    return r;
  }

  // All three by definition, in double.
  void reference(std::vector<double>& output, std::vector<double>& input_grad, std::vector<double>& filter_grad) const {
    output.assign(output_grad.size(), 0);
    input_grad.assign(input.size(), 0);
    filter_grad.assign(filter.size(), 0);
    size_t out = 0;
    for (int64_t b = 0; b < p.batch; ++b) {
      for (int64_t y = 0; y < p.out_h(); ++y) {
        for (int64_t x = 0; x < p.out_w(); ++x, out += static_cast<size_t>(p.out_c)) {
          for (int64_t h = 0; h < p.k_h; ++h) {
            for (int64_t w = 0; w < p.k_w; ++w) {
              const int64_t row = y * p.stride_h + h * p.dilation_h - p.pad_top;
              const int64_t column = x * p.stride_w + w * p.dilation_w - p.pad_left;
              if (row < 0 || row >= p.in_h || column < 0 || column >= p.in_w) continue;
              for (int64_t c = 0; c < p.in_c; ++c) {
                const auto in = static_cast<size_t>(((b * p.in_h + row) * p.in_w + column) * p.in_c + c);
                for (int64_t o = 0; o < p.out_c; ++o) {
                  const auto f = static_cast<size_t>(((h * p.k_w + w) * p.in_c + c) * p.out_c + o);
                  const size_t at = out + static_cast<size_t>(o);
                  output[at] += static_cast<double>(input[in]) * filter[f];
                  input_grad[in] += static_cast<double>(output_grad[at]) * filter[f];
                  filter_grad[f] += static_cast<double>(output_grad[at]) * input[in];
                }
              }
            }
          }
        }
      }
    }
  }

  // `factor` widens the tolerance, for Winograd's method.
  void check(double factor = 1) const {
    SCOPED_TRACE(testing::Message() << p.batch << "x" << p.in_h << "x" << p.in_w << "x" << p.in_c << " filter " << p.k_h
                                    << "x" << p.k_w << "x" << p.out_c << " stride " << p.stride_h << "," << p.stride_w
                                    << " dilation " << p.dilation_h << "," << p.dilation_w << " pads " << p.pad_top
                                    << "," << p.pad_bottom << "," << p.pad_left << "," << p.pad_right);
    std::vector<double> output, input_grad, filter_grad;
    reference(output, input_grad, filter_grad);
    const Results r = run(2);
    compare(r.output, output, p.k_h * p.k_w * p.in_c, factor, "output");
    compare(r.input_grad, input_grad, p.k_h * p.k_w * p.out_c, factor, "input_grad");
    compare(r.filter_grad, filter_grad, p.batch * p.out_h() * p.out_w(), factor, "filter_grad");
  }

  static void compare(const std::vector<T>& got, const std::vector<double>& expected, int64_t terms, double factor,
                      const char* what) {
    const double tolerance = factor * (sizeof(T) == 4 ? 2e-6 : 1e-14) * (4 + std::sqrt(static_cast<double>(terms)));
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << what << " " << i;
  }

  ConvParams p;
  std::vector<T> input, filter, output_grad, bias;
};

// As TensorFlow's SAME: the output has ceil(in / stride) pixels, and an odd pad goes to the end.
inline ConvParams same(ConvParams p) {
  auto pad = [](int64_t in, int64_t k, int64_t stride, int64_t dilation, int64_t& before, int64_t& after) {
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total = std::max<int64_t>(0, (out - 1) * stride + (k - 1) * dilation + 1 - in);
    before = total / 2;
    after = total - before;
  };
  pad(p.in_h, p.k_h, p.stride_h, p.dilation_h, p.pad_top, p.pad_bottom);
  pad(p.in_w, p.k_w, p.stride_w, p.dilation_w, p.pad_left, p.pad_right);
  return p;
}

// Layers of the usual models, and shapes wider, deeper and higher than a band.
inline std::vector<ConvParams> layers() {
  return {same({.batch = 3, .in_h = 28, .in_w = 28, .in_c = 1, .k_h = 5, .k_w = 5, .out_c = 32}),
          same({.batch = 3, .in_h = 14, .in_w = 14, .in_c = 32, .k_h = 5, .k_w = 5, .out_c = 64}),
          same({.batch = 2, .in_h = 24, .in_w = 24, .in_c = 3, .k_h = 5, .k_w = 5, .out_c = 64}),
          same({.batch = 10, .in_h = 12, .in_w = 12, .in_c = 64, .k_h = 5, .k_w = 5, .out_c = 64}),
          same({.batch = 21, .in_h = 7, .in_w = 6, .in_c = 20, .k_h = 3, .k_w = 3, .out_c = 18}),
          {.batch = 21, .in_h = 7, .in_w = 6, .in_c = 20, .k_h = 3, .k_w = 3, .out_c = 18, .stride_w = 2},
          same({.batch = 9, .in_h = 10, .in_w = 11, .in_c = 36, .k_h = 3, .k_w = 3, .out_c = 12}),
          same({.batch = 9, .in_h = 32, .in_w = 32, .in_c = 16, .k_h = 3, .k_w = 3, .out_c = 16}),
          {.batch = 2, .in_h = 9, .in_w = 9, .in_c = 40, .k_h = 2, .k_w = 3, .out_c = 7, .stride_h = 2, .stride_w = 3},
          same({.batch = 1, .in_h = 3, .in_w = 1500, .in_c = 2, .k_h = 3, .k_w = 3, .out_c = 5}),
          same({.batch = 1, .in_h = 5, .in_w = 5, .in_c = 700, .k_h = 3, .k_w = 3, .out_c = 9}),
          same({.batch = 1, .in_h = 70, .in_w = 60, .in_c = 32, .k_h = 3, .k_w = 3, .out_c = 4})};
}

}  // namespace weir::cpu
