#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "graph/op.h"
#include "ops/evaluate.h"
#include "ops/nn/window.h"
#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

using namespace std::string_literals;

using Ints = std::vector<int64_t>;

struct Case {
  Shape input, filter;
  std::string padding = "SAME";
  Ints strides = {1, 1, 1, 1}, dilations = {1, 1, 1, 1}, explicit_paddings = {};
};

const std::vector<Case> kCases = {
    {.input = {2, 5, 7, 3}, .filter = {3, 3, 3, 4}},
    {.input = {1, 6, 5, 2}, .filter = {2, 4, 2, 5}, .padding = "VALID"},
    {.input = {2, 7, 7, 1}, .filter = {3, 2, 1, 3}, .strides = {1, 2, 3, 1}},
    {.input = {1, 9, 8, 2}, .filter = {3, 3, 2, 3}, .padding = "VALID", .strides = {1, 2, 2, 1}},
    {.input = {1, 9, 9, 2}, .filter = {3, 2, 2, 2}, .dilations = {1, 2, 3, 1}},
    {.input = {1, 4, 5, 2},
     .filter = {3, 3, 2, 2},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 2, 1, 0, 3, 0, 0}},
    {.input = {3, 4, 4, 5}, .filter = {1, 1, 5, 6}},
    {.input = {1, 3, 3, 2}, .filter = {1, 1, 2, 2}, .strides = {1, 2, 2, 1}},  // some pixels are never read
    {.input = {0, 4, 4, 2}, .filter = {3, 3, 2, 3}},
    {.input = {1, 2, 2, 1}, .filter = {5, 5, 1, 2}},  // the filter is larger than the image
    {.input = {2, 4, 5, 6}, .filter = {3, 2, 2, 9}, .strides = {1, 1, 2, 1}},  // three groups of channels
    {.input = {1, 3, 4, 4}, .filter = {1, 1, 1, 4}},
};

AttrMap attrs_of(const Case& c) {
  return {{"strides", c.strides},
          {"padding", c.padding},
          {"dilations", c.dilations},
          {"explicit_paddings", c.explicit_paddings}};
}

// Calls visit(input element, filter element, output element) for every product of the convolution.
template <class Visit>
void for_each_product(const ops::ConvGeometry& g, const Visit& visit) {
  auto at = [](int64_t n, int64_t h, int64_t w, int64_t c, const Shape& s) {
    return ((n * s[1] + h) * s[2] + w) * s[3] + c;
  };
  const Shape in = g.input(), out = g.output(), taps = g.filter();
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t oh = 0; oh < g.height.out; ++oh)
      for (int64_t ow = 0; ow < g.width.out; ++ow)
        for (int64_t kh = 0; kh < g.height.size; ++kh)
          for (int64_t kw = 0; kw < g.width.size; ++kw) {
            const int64_t ih = oh * g.height.stride - g.height.pad_before + kh * g.height.dilation;
            const int64_t iw = ow * g.width.stride - g.width.pad_before + kw * g.width.dilation;
            if (ih < 0 || iw < 0 || ih >= g.height.in || iw >= g.width.in) continue;
            for (int64_t ic = 0; ic < taps[2]; ++ic)
              for (int64_t oc = 0; oc < g.out_channels; ++oc) {
                const int64_t group = oc / (g.out_channels / g.groups);
                visit(at(n, ih, iw, group * taps[2] + ic, in), at(kh, kw, ic, oc, taps), at(n, oh, ow, oc, out));
              }
          }
}

ops::ConvGeometry geometry(const Case& c) {
  AttrMap attrs = attrs_of(c);
  attrs.set("data_format", std::string("NHWC"));
  return ops::conv_geometry(c.input, c.filter, attrs, ops::ConvGroups::Allowed);
}

Tensor ints(const Shape& shape) {
  Tensor t(int32, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) t.mutable_data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
  return t;
}

TEST(Conv2D, MatchesTheSumOfProducts) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " * " + c.filter.str() + " " + c.padding);
    const ops::ConvGeometry g = geometry(c);
    check_op({.op = "Conv2D",
              .inputs = {scattered(c.input), scattered(c.filter, -1, 1, 2)},
              .attrs = attrs_of(c),
              .reference = [&](const Tensors& in) {
                Tensor y = zeros(g.output());
                for_each_product(g, [&](int64_t x, int64_t f, int64_t out) {
                  y.mutable_data<double>()[out] += in[0].data<double>()[x] * in[1].data<double>()[f];
                });
                return Tensors{y};
              }});
  }
}

TEST(Conv2DBackpropInput, MatchesTheSumOfProducts) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " * " + c.filter.str() + " " + c.padding);
    const ops::ConvGeometry g = geometry(c);
    check_op({.op = "Conv2DBackpropInput",
              .inputs = {ints(c.input), scattered(c.filter, -1, 1, 2), scattered(g.output(), -1, 1, 3)},
              .attrs = attrs_of(c),
              .reference = [&](const Tensors& in) {
                Tensor dx = zeros(c.input);
                for_each_product(g, [&](int64_t x, int64_t f, int64_t out) {
                  dx.mutable_data<double>()[x] += in[1].data<double>()[f] * in[2].data<double>()[out];
                });
                return Tensors{dx};
              }});
  }
}

TEST(Conv2DBackpropFilter, MatchesTheSumOfProducts) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.input.str() + " * " + c.filter.str() + " " + c.padding);
    const ops::ConvGeometry g = geometry(c);
    check_op({.op = "Conv2DBackpropFilter",
              .inputs = {scattered(c.input), ints(c.filter), scattered(g.output(), -1, 1, 3)},
              .attrs = attrs_of(c),
              .reference = [&](const Tensors& in) {
                Tensor df = zeros(c.filter);
                for_each_product(g, [&](int64_t x, int64_t f, int64_t out) {
                  df.mutable_data<double>()[f] += in[0].data<double>()[x] * in[2].data<double>()[out];
                });
                return Tensors{df};
              }});
  }
}

// Values of TensorFlow for a 3x3 image 1..9 and a 2x2 filter 1..4.
TEST(Conv2D, AgreesWithTensorFlow) {
  check_op({.op = "Conv2D",
            .inputs = {ramp({1, 3, 3, 1}), ramp({2, 2, 1, 1})},
            .attrs = {{"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"s}},
            .outputs = {{{{{37}, {47}, {21}}, {{67}, {77}, {33}}, {{23}, {26}, {9}}}}}});
}

TEST(Conv2D, TakesNchwImages) {
  const AttrMap attrs = {{"strides", Ints{1, 1, 2, 1}}, {"padding", "SAME"s}, {"data_format", "NCHW"s}};
  auto to_nhwc = [](const Tensor& x) {  // [n, c, h, w]
    const Shape& s = x.shape();
    Tensor y = zeros({s[0], s[2], s[3], s[1]});
    for (int64_t i = 0; i < x.elements(); ++i) {
      const int64_t w = i % s[3], h = i / s[3] % s[2], c = i / s[3] / s[2] % s[1], n = i / s[3] / s[2] / s[1];
      y.mutable_data<double>()[((n * s[2] + h) * s[3] + w) * s[1] + c] = x.data<double>()[i];
    }
    return y;
  };
  auto to_nchw = [](const Tensor& x) {
    const Shape& s = x.shape();
    Tensor y = zeros({s[0], s[3], s[1], s[2]});
    for (int64_t i = 0; i < x.elements(); ++i) {
      const int64_t c = i % s[3], w = i / s[3] % s[2], h = i / s[3] / s[2] % s[1], n = i / s[3] / s[2] / s[1];
      y.mutable_data<double>()[((n * s[3] + c) * s[1] + h) * s[2] + w] = x.data<double>()[i];
    }
    return y;
  };
  // One group of channels, and two.
  for (const Shape& filter : {Shape{2, 3, 4, 2}, Shape{2, 3, 2, 2}}) {
    const Case same = {.input = {2, 4, 5, 4}, .filter = filter, .strides = {1, 2, 1, 1}};
    const ops::ConvGeometry g = geometry(same);
    check_op({.op = "Conv2D",
              .inputs = {scattered({2, same.input[3], 4, 5}), scattered(same.filter)},
              .attrs = attrs,
              .reference = [&](const Tensors& in) {
                Tensor x = to_nhwc(in[0]), y = zeros(g.output());
                for_each_product(g, [&](int64_t i, int64_t f, int64_t out) {
                  y.mutable_data<double>()[out] += x.data<double>()[i] * in[1].data<double>()[f];
                });
                return Tensors{to_nchw(y)};
              }});
  }
}

TEST(Conv2D, RejectsWhatDoesNotFit) {
  const AttrMap attrs = {{"strides", Ints{1, 1, 1, 1}}, {"padding", "VALID"s}};
  check_op(
      {.op = "Conv2D",
       .inputs = {ramp({1, 2, 2, 1}), ramp({1, 1, 1, 1})},
       .attrs = attrs,
       .outputs = {ramp({1, 2, 2, 1})},
       .bad = {{.inputs = {zeros({1, 2, 2, 2}), zeros({1, 1, 3, 1})}, .message = "2 channels, the filter is for 3"},
               {.inputs = {zeros({1, 2, 2, 4}), zeros({1, 1, 2, 3})}, .message = "4 channels, the filter is for 2"},
               {.inputs = {zeros({1, 2, 2, 2}), zeros({3, 3, 2, 1})}, .message = "does not fit"},
               {.inputs = {zeros({2, 2, 2}), zeros({1, 1, 2, 1})}, .message = "rank 4"},
               {.inputs = {zeros({1, 2, 2, 1}), zeros({0, 1, 1, 1})}, .message = "no taps"},
               {.inputs = {ramp({1, 2, 2, 1}), ramp({1, 1, 1, 1})},
                .attrs = {{"strides", Ints{1, 1, 1}}},
                .message = "4 entries"},
               {.inputs = {ramp({1, 2, 2, 1}), ramp({1, 1, 1, 1})},
                .attrs = {{"strides", Ints{1, 0, 1, 1}}},
                .message = "positive"},
               {.inputs = {ramp({1, 2, 2, 1}), ramp({1, 1, 1, 1})},
                .attrs = {{"strides", Ints{2, 1, 1, 1}}},
                .message = "strides in the batch and depth"},
               {.inputs = {ramp({1, 2, 2, 1}), ramp({1, 1, 1, 1})},
                .attrs = {{"padding", "EXPLICIT"s}, {"explicit_paddings", Ints{0, 0, -1, 0, 0, 0, 0, 0}}},
                .message = "negative"}}});
  check_op({.op = "Conv2DBackpropInput",
            .inputs = {{1, 2, 2, 1}, ramp({1, 1, 1, 1}), ramp({1, 2, 2, 1})},
            .attrs = attrs,
            .outputs = {ramp({1, 2, 2, 1})},
            .bad = {{.inputs = {{1, 3, 3, 1}, zeros({1, 1, 1, 1}), zeros({1, 2, 2, 1})},
                     .message = "the gradient has shape"}}});
  check_op({.op = "Conv2DBackpropFilter",
            .inputs = {ramp({1, 1, 1, 1}), {1, 1, 1, 1}, ramp({1, 1, 1, 1})},
            .attrs = attrs,
            .outputs = {ramp({1, 1, 1, 1})},
            .bad = {{.inputs = {zeros({1, 3, 3, 1}), {1, 1, 1, 1}, zeros({1, 2, 2, 1})},
                     .message = "the gradient has shape"}}});
}

// The fused operations are made by a pass only: a program cannot name a node "_Fused...", so kernels are run directly.
Tensor run_fused(const std::string& op, AttrMap attrs, const std::vector<std::string>& fused_ops,
                 const Tensors& inputs) {
  const Op* row = find_op(op);
  attrs.set("T", inputs[0].dtype());
  attrs.set("num_args", static_cast<int64_t>(inputs.size() - 2));
  attrs.set("fused_ops", fused_ops);
  for (const AttrSpec& spec : row->attrs) {
    if (!attrs.has(spec.name) && spec.default_value) attrs.set(spec.name, *spec.default_value);
  }
  ThreadPool pool(2);
  const DType types[] = {inputs[0].dtype()};
  return run_kernel(NodeView(*row, attrs, "fused"), inputs, types, pool)[0];
}

TEST(FusedConv2D, AddsTheBiasAndActivates) {
  const AttrMap attrs = {{"strides", Ints{1, 1, 1, 1}}, {"padding", "VALID"s}};
  for (DType dtype : {float32, float64}) {
    auto of = [&](std::initializer_list<double> values, const Shape& shape) {
      return converted(Tensor::from(values, shape), dtype);
    };
    const Tensor x = of({1, 2}, {1, 1, 2, 1}), filter = of({1, -1}, {1, 1, 1, 2}), bias = of({0.5, 1.5}, {2});
    expect_same(run_fused("_FusedConv2D", attrs, {"BiasAdd"}, {x, filter, bias}),
                of({1.5, 0.5, 2.5, -0.5}, {1, 1, 2, 2}));
    expect_same(run_fused("_FusedConv2D", attrs, {"BiasAdd", "Relu"}, {x, filter, bias}),
                of({1.5, 0.5, 2.5, 0}, {1, 1, 2, 2}));
    expect_error(
        [&] {
          run_fused("_FusedConv2D", attrs, {"BiasAdd"}, {x, filter, of({1}, {1})});
        },
        Code::InvalidArgument, "2 entries");
    expect_error(
        [&] {
          run_fused("_FusedConv2D", attrs, {"BiasAdd"}, {x, filter});
        },
        Code::InvalidArgument, "num_args is 0");
  }
}

TEST(FusedMatMul, AddsTheBiasAndActivates) {
  for (DType dtype : {float32, float64}) {
    auto of = [&](std::initializer_list<double> values, const Shape& shape) {
      return converted(Tensor::from(values, shape), dtype);
    };
    const Tensor b = of({1, 0, 0, -2}, {2, 2}), bias = of({1, 1}, {2});
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        const Tensor a = transpose_a ? of({1, 3, 2, 4}, {2, 2}) : of({1, 2, 3, 4}, {2, 2});
        const AttrMap attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
        expect_same(run_fused("_FusedMatMul", attrs, {"BiasAdd"}, {a, b, bias}), of({2, -3, 4, -7}, {2, 2}));
        expect_same(run_fused("_FusedMatMul", attrs, {"BiasAdd", "Relu6"}, {a, b, bias}), of({2, 0, 4, 0}, {2, 2}));
        expect_same(run_fused("_FusedMatMul", attrs, {"Relu"}, {a, b}), of({1, 0, 3, 0}, {2, 2}));
      }
    }
    expect_error(
        [&] {
          run_fused("_FusedMatMul", {}, {}, {of({1, 2}, {1, 2}), of({3, 4}, {1, 2})});
        },
        Code::InvalidArgument, "inner dimensions differ");
    expect_error([&] { run_fused("_FusedMatMul", {}, {"Elu"}, {b, b}); }, Code::Unimplemented, "Elu");
  }
}

}  // namespace
}  // namespace weir::testing
