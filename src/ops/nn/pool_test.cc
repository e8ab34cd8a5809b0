#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

using namespace std::string_literals;

using Ints = std::vector<int64_t>;

struct Case {
  Shape input;
  int64_t window_h, window_w, stride_h, stride_w;
  std::string padding;
};

const std::vector<Case> kCases = {
    {{2, 6, 8, 3}, 2, 2, 2, 2, "VALID"}, {{2, 7, 5, 3}, 3, 3, 2, 2, "SAME"},  {{1, 5, 5, 17}, 3, 2, 1, 1, "SAME"},
    {{1, 4, 9, 1}, 1, 3, 3, 2, "VALID"}, {{3, 2, 2, 4}, 2, 2, 1, 1, "VALID"}, {{0, 4, 4, 2}, 2, 2, 2, 2, "SAME"},
    {{1, 3, 3, 2}, 1, 1, 2, 2, "SAME"},
};

AttrMap attrs_of(const Case& c) {
  return {{"ksize", Ints{1, c.window_h, c.window_w, 1}},
          {"strides", Ints{1, c.stride_h, c.stride_w, 1}},
          {"padding", c.padding}};
}

struct Pooled {
  int64_t out_h, out_w, top, left;
};

Pooled place(const Case& c) {
  auto along = [&](int64_t in, int64_t window, int64_t stride) -> std::pair<int64_t, int64_t> {
    if (c.padding == "VALID") return {(in - window) / stride + 1, 0};
    const int64_t out = (in + stride - 1) / stride;
    return {out, std::max<int64_t>(0, (out - 1) * stride + window - in) / 2};
  };
  const auto [out_h, top] = along(c.input[1], c.window_h, c.stride_h);
  const auto [out_w, left] = along(c.input[2], c.window_w, c.stride_w);
  return {out_h, out_w, top, left};
}

Shape output_of(const Case& c) { return {c.input[0], place(c).out_h, place(c).out_w, c.input[3]}; }

// Calls visit(output element, the input elements under its window) for every output.
template <class Visit>
void for_each_window(const Case& c, const Visit& visit) {
  const Pooled p = place(c);
  const int64_t channels = c.input[3];
  int64_t out = 0;
  for (int64_t n = 0; n < c.input[0]; ++n)
    for (int64_t oh = 0; oh < p.out_h; ++oh)
      for (int64_t ow = 0; ow < p.out_w; ++ow)
        for (int64_t k = 0; k < channels; ++k, ++out) {
          Ints under;
          for (int64_t h = oh * c.stride_h - p.top; h < oh * c.stride_h - p.top + c.window_h; ++h)
            for (int64_t w = ow * c.stride_w - p.left; w < ow * c.stride_w - p.left + c.window_w; ++w)
              if (h >= 0 && w >= 0 && h < c.input[1] && w < c.input[2])
                under.push_back(((n * c.input[1] + h) * c.input[2] + w) * channels + k);
          visit(out, under);
        }
}

int64_t largest(const Tensor& x, const Ints& under) {
  return *std::max_element(under.begin(), under.end(),
                           [&](int64_t a, int64_t b) { return x.data<double>()[a] < x.data<double>()[b]; });
}

Tensor max_pool(const Case& c, const Tensor& x) {
  Tensor y = zeros(output_of(c));
  for_each_window(
      c, [&](int64_t out, const Ints& under) { y.mutable_data<double>()[out] = x.data<double>()[largest(x, under)]; });
  return y;
}

// Numbers that all differ, so that the maximum is no kink.
Tensor distinct(const Shape& shape) {
  Tensor x = zeros(shape);
  const int64_t n = x.elements();
  for (int64_t i = 0; i < n; ++i)
    x.mutable_data<double>()[i] = static_cast<double>((i * 37 + 11) % std::max<int64_t>(n, 1));
  return x;
}

TEST(MaxPool, TakesTheLargestOfEachWindow) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " " + c.padding);
    check_op({.op = "MaxPool",
              .inputs = {distinct(c.input)},
              .attrs = attrs_of(c),
              .reference = [&](const Tensors& in) { return Tensors{max_pool(c, in[0])}; },
              .gradient = false});
  }
  check_op({.op = "MaxPool",
            .inputs = {distinct({1, 4, 5, 2})},
            .attrs = attrs_of({{1, 4, 5, 2}, 2, 2, 1, 2, "SAME"}),
            .reference =
                [](const Tensors& in) {
                  return Tensors{max_pool({{1, 4, 5, 2}, 2, 2, 1, 2, "SAME"}, in[0])};
                },
            .types = {float64}});
}

TEST(MaxPoolGrad, GoesToTheLargestOfEachWindow) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " " + c.padding);
    const Tensor x = converted(converted(distinct(c.input), int32), float64), y = max_pool(c, x);
    check_op({.op = "MaxPoolGrad",
              .inputs = {x, y, ramp(output_of(c))},
              .attrs = attrs_of(c),
              .reference =
                  [&](const Tensors& in) {
                    Tensor dx = zeros(c.input);
                    for_each_window(c, [&](int64_t out, const Ints& under) {
                      dx.mutable_data<double>()[largest(in[0], under)] += in[2].data<double>()[out];
                    });
                    return Tensors{dx};
                  },
              .types = {float32, float64, int32, int64},
              .gradient = false});
    check_op({.op = "MaxPoolGradGrad",
              .inputs = {x, y, ramp(c.input)},
              .attrs = attrs_of(c),
              .reference =
                  [&](const Tensors& in) {
                    Tensor dy = zeros(output_of(c));
                    for_each_window(c, [&](int64_t out, const Ints& under) {
                      dy.mutable_data<double>()[out] = in[2].data<double>()[largest(in[0], under)];
                    });
                    return Tensors{dy};
                  },
              .types = {float32, float64, int32, int64},
              .gradient = false});
  }
}

// TensorFlow's rule where the maximum is not unique.
TEST(MaxPoolGrad, GoesToTheFirstOfEquals) {
  check_op({.op = "MaxPoolGrad",
            .inputs = {{{{{5}, {5}}, {{5}, {5}}}}, {{{{5}}}}, {{{{3}}}}},
            .attrs = {{"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 2, 2, 1}}, {"padding", "VALID"s}},
            .outputs = {{{{{3}, {0}}, {{0}, {0}}}}},
            .gradient = false});
}

TEST(AvgPool, AveragesWhatLiesInTheImage) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " " + c.padding);
    check_op(
        {.op = "AvgPool", .inputs = {scattered(c.input)}, .attrs = attrs_of(c), .reference = [&](const Tensors& in) {
           Tensor y = zeros(output_of(c));
           for_each_window(c, [&](int64_t out, const Ints& under) {
             for (int64_t i : under)
               y.mutable_data<double>()[out] += in[0].data<double>()[i] / static_cast<double>(under.size());
           });
           return Tensors{y};
         }});
    Tensor sizes(int32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.mutable_data<int32_t>()[i] = static_cast<int32_t>(c.input[i]);
    check_op({.op = "AvgPoolGrad",
              .inputs = {sizes, scattered(output_of(c))},
              .attrs = attrs_of(c),
              .reference = [&](const Tensors& in) {
                Tensor dx = zeros(c.input);
                for_each_window(c, [&](int64_t out, const Ints& under) {
                  for (int64_t i : under)
                    dx.mutable_data<double>()[i] += in[1].data<double>()[out] / static_cast<double>(under.size());
                });
                return Tensors{dx};
              }});
  }
}

TEST(Pools, TakeNchwImages) {
  const AttrMap attrs = {
      {"ksize", Ints{1, 1, 2, 2}}, {"strides", Ints{1, 1, 2, 2}}, {"padding", "VALID"s}, {"data_format", "NCHW"s}};
  const In image = {{{{1, 2}, {3, 4}}, {{8, 7}, {6, 5}}}};
  check_op({.op = "MaxPool", .inputs = {image}, .attrs = attrs, .outputs = {{{{{4}}, {{8}}}}}, .gradient = false});
  check_op({.op = "AvgPool", .inputs = {image}, .attrs = attrs, .outputs = {{{{{2.5}}, {{6.5}}}}}});
  check_op({.op = "MaxPoolGrad",
            .inputs = {image, {{{{4}}, {{8}}}}, {{{{1}}, {{2}}}}},
            .attrs = attrs,
            .outputs = {{{{{0, 0}, {0, 1}}, {{2, 0}, {0, 0}}}}},
            .gradient = false});
  check_op({.op = "AvgPoolGrad",
            .inputs = {{1, 2, 2, 2}, {{{{4}}, {{8}}}}},
            .attrs = attrs,
            .outputs = {{{{{1, 1}, {1, 1}}, {{2, 2}, {2, 2}}}}}});
}

TEST(Pools, RejectWhatDoesNotFit) {
  const AttrMap attrs = {{"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 1, 1, 1}}, {"padding", "VALID"s}};
  check_op({.op = "MaxPool",
            .inputs = {ramp({1, 2, 2, 1})},
            .attrs = attrs,
            .outputs = {{{{{4}}}}},
            .gradient = false,
            .bad = {{.inputs = {zeros({1, 1, 2, 1})}, .message = "does not fit"},
                    {.inputs = {zeros({2, 2, 1})}, .message = "rank 4"},
                    {.inputs = {zeros({1, 2, 2, 1})}, .attrs = {{"ksize", Ints{1, 2, 2, 0}}}, .message = "positive"},
                    {.inputs = {zeros({2, 2, 2, 1})},
                     .attrs = {{"ksize", Ints{2, 2, 2, 1}}},
                     .code = Code::Unimplemented,
                     .message = "not yet supported on the"}}});
}

TEST(MaxPoolV2, TakesItsWindowsFromInputs) {
  for (const Case& c : kCases) {
    check_op(
        {.op = "MaxPoolV2",
         .inputs = {scattered(c.input), Tensor(std::vector<int32_t>{1, int32_t(c.window_h), int32_t(c.window_w), 1}),
                    Tensor(std::vector<int32_t>{1, int32_t(c.stride_h), int32_t(c.stride_w), 1})},
         .attrs = {{"padding", c.padding}},
         .reference = [&](const Tensors& in) { return Tensors{max_pool(c, in[0])}; },
         .gradient = false});
  }
}

TEST(MaxPoolV2, GradientsHaveTheShapeOfTheImagesAlsoWhenTheWindowsAreFed) {
  check_op(
      {.op = "MaxPoolGradGradV2",
       .inputs = {ramp({1, 2, 2, 2}, 0), zeros({1, 1, 1, 2}), ramp({1, 2, 2, 2}, 1), {1, 2, 2, 1}, {1, 2, 2, 1}},
       .attrs = {{"padding", "VALID"s}},
       .outputs = {{{{{7, 8}}}}},
       .gradient = false,
       .bad = {{.inputs = {zeros({1, 2, 2, 2}), zeros({1, 1, 1, 2}), zeros({1, 2, 2, 1}), {1, 2, 2, 1}, {1, 2, 2, 1}},
                .message = "differ"}}});
}

TEST(MaxPool, PoolsChannelsWhenRowsAndColumnsStay) {
  const AttrMap attrs = {{"ksize", Ints{1, 1, 1, 3}}, {"strides", Ints{1, 1, 1, 3}}, {"padding", "SAME"s}};
  const Code unimplemented = Code::Unimplemented;
  check_op({.op = "MaxPool",
            .inputs = {ramp({1, 2, 1, 6})},
            .attrs = attrs,
            .outputs = {{{{{3, 6}}, {{9, 12}}}}},
            .gradient = false,
            .bad = {{.inputs = {zeros({1, 2, 2, 4})}, .code = unimplemented, .message = "evenly divide"},
                    {.inputs = {zeros({1, 2, 2, 6})},
                     .attrs = {{"strides", Ints{1, 1, 1, 1}}},
                     .code = unimplemented,
                     .message = "depth window to equal the depth stride"},
                    {.inputs = {zeros({1, 2, 2, 6})},
                     .attrs = {{"ksize", Ints{1, 2, 2, 3}}},
                     .code = unimplemented,
                     .message = "exactly one of pooling across depth"},
                    {.inputs = {zeros({1, 2, 2, 6})},
                     .attrs = {{"strides", Ints{2, 1, 1, 3}}},
                     .code = unimplemented,
                     .message = "not yet supported on the batch"}}});
}

TEST(MaxPoolWithArgmax, TellsWhereEachMaximumWas) {
  const AttrMap attrs = {{"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 1, 1, 1}}, {"padding", "VALID"s}};
  const Tensor x = Tensor::from<double>({1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 3}, {2, 3, 3, 1});
  const Tensor y = Tensor::from<double>({1, 1, 1, 1, 2, 2, 1, 3}, {2, 2, 2, 1});
  check_op({.op = "MaxPoolWithArgmax",
            .inputs = {x},
            .attrs = attrs,
            .outputs = {y, Tensor::from<int64_t>({0, 1, 3, 5, 1, 1, 3, 8}, {2, 2, 2, 1})},
            .gradient = false});
  AttrMap batch = attrs;
  batch.set("include_batch_in_index", true);
  check_op({.op = "MaxPoolWithArgmax",
            .inputs = {x},
            .attrs = batch,
            .outputs = {y, Tensor::from<int64_t>({0, 1, 3, 5, 10, 10, 12, 17}, {2, 2, 2, 1})},
            .gradient = false});
}

TEST(MaxPoolWithArgmax, GradientsFollowThePlaces) {
  const AttrMap attrs = {
      {"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 1, 1, 1}}, {"padding", "VALID"s}, {"Targmax", int64}};
  const Tensor places = Tensor::from<int64_t>({0, 1, 3, 1}, {1, 2, 2, 1});
  check_op(
      {.op = "MaxPoolGradWithArgmax",
       .inputs = {zeros({1, 3, 3, 1}), ramp({1, 2, 2, 1}, 11), places},
       .attrs = attrs,
       .outputs = {Tensor::from<double>({11, 26, 0, 13, 0, 0, 0, 0, 0}, {1, 3, 3, 1})},
       .gradient_inputs = {1},
       .bad = {{.inputs = {zeros({1, 3, 3, 1}), ramp({1, 2, 2, 1}), Tensor::from<int64_t>({0, 1, 9, 5}, {1, 2, 2, 1})},
                .message = "argmax 9"}}});
  check_op({.op = "MaxPoolGradGradWithArgmax",
            .inputs = {zeros({1, 3, 3, 1}), ramp({1, 3, 3, 1}, 11), places},
            .attrs = attrs,
            .outputs = {Tensor::from<double>({11, 12, 14, 12}, {1, 2, 2, 1})},
            .gradient_inputs = {1}});
}

}  // namespace
}  // namespace weir::testing
