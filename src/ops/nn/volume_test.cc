#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

using namespace std::string_literals;
using Ints = std::vector<int64_t>;

struct Case {
  Shape input, filter;  // the filter of a pool has one channel in and out that do not count
  Ints strides;
  std::string padding;
  Ints dilations = {1, 1, 1};
};

const std::vector<Case> kCases = {
    {{1, 2, 3, 2, 3}, {1, 1, 1, 3, 2}, {1, 1, 1}, "VALID"}, {{2, 3, 4, 3, 2}, {2, 2, 2, 2, 3}, {1, 1, 1}, "SAME"},
    {{1, 4, 5, 3, 1}, {2, 3, 2, 1, 2}, {2, 1, 3}, "SAME"},  {{1, 5, 4, 4, 2}, {3, 2, 1, 2, 1}, {2, 2, 1}, "VALID"},
    {{0, 4, 4, 4, 2}, {2, 2, 2, 2, 2}, {1, 1, 1}, "SAME"},
};

struct Along {
  int64_t out, before;
};

Along along(const Case& c, int i) {
  const auto at = static_cast<size_t>(i);
  const int64_t in = c.input[i + 1], extent = (c.filter[i] - 1) * c.dilations[at] + 1, stride = c.strides[at];
  if (c.padding == "VALID") return {(in - extent) / stride + 1, 0};
  const int64_t out = (in + stride - 1) / stride;
  return {out, std::max<int64_t>(0, (out - 1) * stride + extent - in) / 2};
}

// Calls visit(output voxel, tap, input voxel), each numbered over its whole tensor without the channels.
template <class Visit>
void for_each_use(const Case& c, const Visit& visit) {
  const Along a[3] = {along(c, 0), along(c, 1), along(c, 2)};
  auto place = [&](int i, int64_t out, int64_t tap) {
    const auto at = static_cast<size_t>(i);
    const int64_t in = out * c.strides[at] - a[i].before + tap * c.dilations[at];
    return in < 0 || in >= c.input[i + 1] ? -1 : in;
  };
  int64_t out = 0;
  for (int64_t n = 0; n < c.input[0]; ++n)
    for (int64_t z = 0; z < a[0].out; ++z)
      for (int64_t y = 0; y < a[1].out; ++y)
        for (int64_t x = 0; x < a[2].out; ++x, ++out)
          for (int64_t tap = 0; tap < c.filter[0] * c.filter[1] * c.filter[2]; ++tap) {
            const int64_t d = place(0, z, tap / c.filter[2] / c.filter[1]);
            const int64_t h = place(1, y, tap / c.filter[2] % c.filter[1]), w = place(2, x, tap % c.filter[2]);
            if (d < 0 || h < 0 || w < 0) continue;
            visit(out, tap, ((n * c.input[1] + d) * c.input[2] + h) * c.input[3] + w);
          }
}

Shape output_of(const Case& c, int64_t channels) {
  return {c.input[0], along(c, 0).out, along(c, 1).out, along(c, 2).out, channels};
}

Tensor convolved(const Case& c, const Tensor& x, const Tensor& f) {
  const int64_t in = c.filter[3], out = c.filter[4];
  Tensor y = zeros(output_of(c, out));
  for_each_use(c, [&](int64_t to, int64_t tap, int64_t from) {
    for (int64_t i = 0; i < in; ++i)
      for (int64_t o = 0; o < out; ++o)
        y.mutable_data<double>()[to * out + o] +=
            x.data<double>()[from * in + i] * f.data<double>()[(tap * in + i) * out + o];
  });
  return y;
}

AttrMap conv_attrs(const Case& c) {
  const Ints &s = c.strides, &d = c.dilations;
  return {
      {"strides", Ints{1, s[0], s[1], s[2], 1}}, {"padding", c.padding}, {"dilations", Ints{1, d[0], d[1], d[2], 1}}};
}

TEST(Conv3D, SumsProductsUnderTheWindow) {
  for (const Case& c : kCases) {
    check_op({.op = "Conv3D",
              .inputs = {scattered(c.input), scattered(c.filter, -1, 1, 2)},
              .attrs = conv_attrs(c),
              .reference = [&](const Tensors& in) { return Tensors{convolved(c, in[0], in[1])}; }});
  }
  const Case dilated{{1, 5, 4, 6, 2}, {2, 2, 3, 2, 2}, {1, 1, 1}, "SAME", {2, 1, 2}};
  check_op({.op = "Conv3D",
            .inputs = {scattered(dilated.input), scattered(dilated.filter, -1, 1, 2)},
            .attrs = conv_attrs(dilated),
            .reference = [&](const Tensors& in) { return Tensors{convolved(dilated, in[0], in[1])}; },
            .bad = {{.inputs = {zeros({1, 2, 2, 2, 3}), zeros({1, 1, 1, 2, 2})}, .message = "channels"},
                    {.inputs = {zeros({1, 2, 2, 2}), zeros({1, 1, 1, 2, 2})}, .message = "rank 5"},
                    {.inputs = {zeros({1, 2, 2, 2, 2}), zeros({3, 1, 1, 2, 2})},
                     .attrs = {{"padding", "VALID"s}},
                     .message = "Negative dimension size"}}});
}

TEST(Conv3D, TakesChannelsInFrontToo) {
  const AttrMap attrs = {{"strides", Ints{1, 1, 1, 1, 1}}, {"padding", "VALID"s}, {"data_format", "NCDHW"s}};
  check_op({.op = "Conv3D",
            .inputs = {ramp({1, 2, 1, 1, 2}), ramp({1, 1, 2, 2, 1})},
            .attrs = attrs,
            .outputs = {Tensor::from<double>({1 * 1 + 3 * 2 + 2 * 3 + 4 * 4}, {1, 1, 1, 1, 1})}});
}

template <class Pool>
Tensor pooled(const Case& c, const Tensor& x, const Pool& pool) {
  const int64_t channels = c.input[4];
  Tensor y = zeros(output_of(c, channels));
  std::vector<std::vector<double>> under(static_cast<size_t>(y.elements()));
  for_each_use(c, [&](int64_t to, int64_t, int64_t from) {
    for (int64_t k = 0; k < channels; ++k)
      under[static_cast<size_t>(to * channels + k)].push_back(x.data<double>()[from * channels + k]);
  });
  for (int64_t i = 0; i < y.elements(); ++i) y.mutable_data<double>()[i] = pool(under[static_cast<size_t>(i)]);
  return y;
}

AttrMap pool_attrs(const Case& c) {
  const Ints& s = c.strides;
  return {{"ksize", Ints{1, c.filter[0], c.filter[1], c.filter[2], 1}},
          {"strides", Ints{1, s[0], s[1], s[2], 1}},
          {"padding", c.padding}};
}

TEST(AvgPool3D, AveragesWhatLiesInTheVolume) {
  for (const Case& c : kCases) {
    auto mean = [](const std::vector<double>& v) {
      double sum = 0;
      for (double value : v) sum += value;
      return sum / static_cast<double>(v.size());
    };
    check_op({.op = "AvgPool3D",
              .inputs = {scattered(c.input)},
              .attrs = pool_attrs(c),
              .reference = [&](const Tensors& in) { return Tensors{pooled(c, in[0], mean)}; }});
  }
}

TEST(MaxPool3D, TakesTheLargest) {
  for (const Case& c : kCases) {
    check_op({.op = "MaxPool3D",
              .inputs = {scattered(c.input)},
              .attrs = pool_attrs(c),
              .reference =
                  [&](const Tensors& in) {
                    return Tensors{
                        pooled(c, in[0], [](const auto& v) { return *std::max_element(v.begin(), v.end()); })};
                  },
              .gradient = false});
  }
}

TEST(MaxPool3D, SendsTheGradientToAllOfTheLargest) {
  const AttrMap attrs = {{"ksize", Ints{1, 1, 1, 2, 1}}, {"strides", Ints{1, 1, 1, 1, 1}}, {"padding", "VALID"s}};
  AttrMap of_floats = attrs;
  of_floats.set("TInput", float32);
  const Tensor x = Tensor::from<double>({3, 3, 1}, {1, 1, 1, 3, 1});
  check_op({.op = "MaxPool3DGrad",
            .inputs = {x, Tensor::from<double>({3, 3}, {1, 1, 1, 2, 1}), Tensor::from<double>({5, 7}, {1, 1, 1, 2, 1})},
            .attrs = of_floats,
            .outputs = {Tensor::from<double>({5, 12, 0}, {1, 1, 1, 3, 1})},
            .types = {float32},
            .gradient = false});
  check_op(
      {.op = "MaxPool3DGradGrad",
       .inputs = {x, Tensor::from<double>({3, 3}, {1, 1, 1, 2, 1}), Tensor::from<double>({5, 7, 9}, {1, 1, 1, 3, 1})},
       .attrs = attrs,
       .outputs = {Tensor::from<double>({5, 7}, {1, 1, 1, 2, 1})},
       .gradient = false});
}

}  // namespace
}  // namespace weir::testing
