#include "ops/nn/depthwise_state.h"

#include "ops/nn/conv_state.h"

namespace weir::ops {
namespace {

bool is_turned(const DepthwiseGeometry& d) { return d.conv.layout.channels != 3; }
int64_t multiplier(const DepthwiseGeometry& d) { return d.conv.out_channels; }
int64_t in_pixels(const DepthwiseGeometry& d) { return d.conv.batch * d.conv.height.in * d.conv.width.in; }

int64_t grain(int64_t channels) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, channels)); }

}  // namespace

DepthwiseState prepare_depthwise(PrepareContext& c, const DepthwiseGeometry& d, size_t bytes) {
  DepthwiseState s;
  s.geometry = d;
  s.fast = c.node().type() == DType::Float32 && d.is_fast();
  auto place = [&](bool needed, int64_t elements) {
    const size_t at = (bytes + 63) / 64 * 64;
    if (needed) bytes = at + static_cast<size_t>(checked_multiply(elements, sizeof(float)));
    return at;
  };
  s.turned_at = place(s.fast && is_turned(d), in_pixels(d) * d.conv.in_channels);
  s.wide_at = place(s.fast && multiplier(d) > 1, checked_multiply(in_pixels(d), d.channels()));
  s.output_at = place(s.fast && is_turned(d), d.output().elements());
  c.set_scratch(bytes);
  return s;
}

const float* DepthwiseImages::input(const float* x) const {
  const DepthwiseGeometry& d = s_.geometry;
  const ConvGeometry& g = d.conv;
  if (is_turned(d)) {
    float* turned = scratch(s_.turned_at);
    image_to_nhwc(g.layout, g.batch, g.height.in, g.width.in, g.in_channels, {0, g.in_channels}, x, turned, c_.pool());
    x = turned;
  }
  const int64_t filters = multiplier(d);
  if (filters == 1) return x;
  float* wide = scratch(s_.wide_at);
  c_.pool().parallel_for(in_pixels(d), grain(d.channels()), [&](int64_t begin, int64_t end) {
    float* to = wide + begin * d.channels();
    for (int64_t i = begin * g.in_channels; i < end * g.in_channels; ++i, to += filters) std::fill_n(to, filters, x[i]);
  });
  return wide;
}

const float* DepthwiseImages::output_grad(const float* dy) const {
  const DepthwiseGeometry& d = s_.geometry;
  if (!is_turned(d)) return dy;
  float* turned = scratch(s_.output_at);
  image_to_nhwc(d.conv.layout, d.conv.batch, d.conv.height.out, d.conv.width.out, d.channels(), {0, d.channels()}, dy,
                turned, c_.pool());
  return turned;
}

void DepthwiseImages::to_output(float* y, FunctionRef<void(float*)> compute) const {
  const DepthwiseGeometry& d = s_.geometry;
  if (!is_turned(d)) return compute(y);
  float* turned = scratch(s_.output_at);
  compute(turned);
  image_from_nhwc(d.conv.layout, d.conv.batch, d.conv.height.out, d.conv.width.out, d.channels(), {0, d.channels()},
                  turned, y, c_.pool());
}

void DepthwiseImages::to_input_grad(float* dx, FunctionRef<void(float*)> compute) const {
  const DepthwiseGeometry& d = s_.geometry;
  const ConvGeometry& g = d.conv;
  const int64_t filters = multiplier(d);
  float* sums = is_turned(d) ? scratch(s_.turned_at) : dx;
  if (filters == 1) {
    compute(sums);
  } else {
    const float* wide = scratch(s_.wide_at);
    compute(scratch(s_.wide_at));
    c_.pool().parallel_for(in_pixels(d), grain(d.channels()), [&](int64_t begin, int64_t end) {
      const float* from = wide + begin * d.channels();
      for (int64_t i = begin * g.in_channels; i < end * g.in_channels; ++i, from += filters) {
        float sum = from[0];
        for (int64_t m = 1; m < filters; ++m) sum += from[m];
        sums[i] = sum;
      }
    });
  }
  if (is_turned(d)) {
    image_from_nhwc(g.layout, g.batch, g.height.in, g.width.in, g.in_channels, {0, g.in_channels}, sums, dx, c_.pool());
  }
}

}  // namespace weir::ops
