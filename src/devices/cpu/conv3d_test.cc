#include "devices/cpu/conv3d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {
namespace {

struct Results {
  std::vector<float> output, input_grad, filter_grad;
};

struct Volumes {
  explicit Volumes(const Conv3dParams& params) : p(params) {
    fill(input, p.plane.batch * p.in_d * p.plane.in_h * p.plane.in_w * p.plane.in_c, 1);
    fill(filter, p.k_d * p.plane.k_h * p.plane.k_w * p.plane.in_c * p.plane.out_c, 2);
    fill(output_grad, p.plane.batch * p.out_d() * p.plane.out_h() * p.plane.out_w() * p.plane.out_c, 3);
  }

  static void fill(std::vector<float>& values, int64_t count, uint32_t seed) {
    values.resize(static_cast<size_t>(count));
    for (float& v : values) {
      seed = seed * 1664525u + 1013904223u;
      v = static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f;
    }
  }

  Results run(int threads) const {
    ThreadPool pool(threads);
    Results r;
    r.output.assign(output_grad.size(), NAN);
    r.input_grad.assign(input.size(), NAN);
    r.filter_grad.assign(filter.size(), NAN);
    std::vector<std::max_align_t> memory;
    auto scratch = [&](size_t bytes) {
      memory.resize(bytes / sizeof(std::max_align_t) + 8);
      return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    };
    conv3d_forward(pool, p, input.data(), filter.data(), r.output.data(),
                   scratch(conv3d_forward_scratch_bytes<float>(p, threads)));
    conv3d_backward_input(pool, p, filter.data(), output_grad.data(), r.input_grad.data(),
                          scratch(conv3d_backward_input_scratch_bytes<float>(p, threads)));
    conv3d_backward_filter(pool, p, input.data(), output_grad.data(), r.filter_grad.data(),
                           scratch(conv3d_backward_filter_scratch_bytes<float>(p, threads)));
    return r;
  }

  // Plane by plane and tap by tap of the depth, by the convolution in two dimensions without Winograd's method.
  Results reference() const {
    ThreadPool pool(1);
    ConvParams one = p.plane;
    one.batch = 1;
    one.winograd = false;
    const int64_t in_plane = one.in_h * one.in_w * one.in_c, out_plane = one.out_h() * one.out_w() * one.out_c;
    const int64_t tap_size = one.k_h * one.k_w * one.in_c * one.out_c;
    Results r{std::vector<float>(output_grad.size()), std::vector<float>(input.size()),
              std::vector<float>(filter.size())};
    std::vector<float> part(static_cast<size_t>(std::max({in_plane, out_plane, tap_size})));
    std::vector<std::max_align_t> memory(
        std::max({conv_forward_scratch_bytes<float>(one, 1), conv_backward_input_scratch_bytes<float>(one, 1),
                  conv_backward_filter_scratch_bytes<float>(one, 1)}) /
            sizeof(std::max_align_t) +
        8);
    auto* scratch = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    auto add = [&](std::vector<float>& to, int64_t at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[static_cast<size_t>(at + i)] += part[static_cast<size_t>(i)];
    };
    for (int64_t n = 0; n < p.plane.batch; ++n) {
      for (int64_t z = 0; z < p.out_d(); ++z) {
        for (int64_t tap = 0; tap < p.k_d; ++tap) {
          const int64_t from = z * p.stride_d - p.pad_front + tap * p.dilation_d;
          if (from < 0 || from >= p.in_d) continue;
          const int64_t in = (n * p.in_d + from) * in_plane, out = (n * p.out_d() + z) * out_plane;
          conv_forward<float>(pool, one, input.data() + in, filter.data() + tap * tap_size, {}, part.data(), scratch);
          add(r.output, out, out_plane);
          conv_backward_input(pool, one, filter.data() + tap * tap_size, output_grad.data() + out, part.data(),
                              scratch);
          add(r.input_grad, in, in_plane);
          conv_backward_filter(pool, one, input.data() + in, output_grad.data() + out, part.data(), scratch);
          add(r.filter_grad, tap * tap_size, tap_size);
        }
      }
    }
    return r;
  }

  void check() const {
    const Results got = run(2), expected = reference();
    auto compare = [](const std::vector<float>& a, const std::vector<float>& b, const char* what) {
      ASSERT_EQ(a.size(), b.size());
      double largest = 0;
      for (float v : b) largest = std::max(largest, std::abs(static_cast<double>(v)));
      for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * largest) << what << " " << i;
    };
    compare(got.output, expected.output, "output");
    compare(got.input_grad, expected.input_grad, "input_grad");
    compare(got.filter_grad, expected.filter_grad, "filter_grad");
    const Results one = run(1);
    EXPECT_EQ(one.output, got.output);
    EXPECT_EQ(one.input_grad, got.input_grad);
    EXPECT_EQ(one.filter_grad, got.filter_grad);
  }

  Conv3dParams p;
  std::vector<float> input, filter, output_grad;
};

ConvParams plane(int64_t batch, int64_t size, int64_t in_c, int64_t k, int64_t out_c, int64_t stride = 1) {
  const int64_t pad = (k - 1) / 2;
  return {.batch = batch,
          .in_h = size,
          .in_w = size + 1,
          .in_c = in_c,
          .k_h = k,
          .k_w = k,
          .out_c = out_c,
          .stride_h = stride,
          .stride_w = stride,
          .pad_top = pad,
          .pad_bottom = pad,
          .pad_left = pad,
          .pad_right = pad};
}

TEST(Conv3d, IsTheSumOfConvolutionsOfPlanes) {
  Volumes({.plane = plane(2, 9, 3, 3, 5), .in_d = 5, .k_d = 3, .pad_front = 1, .pad_back = 1}).check();
  Volumes({.plane = plane(1, 7, 4, 2, 3, 2), .in_d = 7, .k_d = 2, .stride_d = 3, .pad_back = 2}).check();
  Volumes({.plane = plane(2, 6, 17, 1, 19), .in_d = 6, .k_d = 3, .dilation_d = 2, .pad_front = 2}).check();
}

TEST(Conv3d, TakesPlanesAsTheyLieWhereATapIsOne) {
  Volumes({.plane = plane(2, 8, 5, 3, 6), .in_d = 4, .k_d = 1}).check();
  Volumes({.plane = plane(2, 8, 5, 3, 6), .in_d = 4, .k_d = 1, .stride_d = 2}).check();
}

// Winograd's method, and more stacked planes than are made at a time.
TEST(Conv3d, GoesThroughLargeVolumesInChunks) {
  Volumes({.plane = plane(2, 24, 64, 3, 16), .in_d = 20, .k_d = 3, .pad_front = 1, .pad_back = 1}).check();
}

TEST(Conv3d, OfNothingIsNothing) {
  Volumes empty({.plane = plane(1, 4, 2, 1, 3), .in_d = 2, .k_d = 3});  // the filter is deeper than the volume
  EXPECT_EQ(empty.p.out_d(), 0);
  const Results r = empty.run(1);
  for (float v : r.input_grad) EXPECT_EQ(v, 0.0f);
  for (float v : r.filter_grad) EXPECT_EQ(v, 0.0f);
}

}  // namespace
}  // namespace weir::cpu
