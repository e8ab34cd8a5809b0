#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/nn/lrn_attrs.h"
#include "ops/nn/pool_attrs.h"

namespace weir::accelerator {
namespace {

// g: rows, columns and channels of the input, rows and columns of the output, rows and columns of the window, batch; w:
// strides and padding; xs, ys: as in convolutions. One item makes one result, so gradients add up in a fixed order: an
// element of the input looks at all windows that hold it.
constexpr const char* kSource = R"kernel(
#define IN_H g.v[0]
#define IN_W g.v[1]
#define CHANNELS g.v[2]
#define OUT_H g.v[3]
#define OUT_W g.v[4]
#define K_H g.v[5]
#define K_W g.v[6]
#define STRIDE_H w.v[0]
#define STRIDE_W w.v[1]
#define PAD_H w.v[2]
#define PAD_W w.v[3]
#define AT(s, b, h, x, c) ((b) * s.v[0] + (h) * s.v[1] + (x) * s.v[2] + (c) * s.v[3])
#define TOP(oh) max((oh) * STRIDE_H - PAD_H, 0)
#define BOTTOM(oh) min((oh) * STRIDE_H - PAD_H + K_H, IN_H)
#define LEFT(ow) max((ow) * STRIDE_W - PAD_W, 0)
#define RIGHT(ow) min((ow) * STRIDE_W - PAD_W + K_W, IN_W)
#define OUTPUT(i) const int c = (i) % CHANNELS, p_ = (i) / CHANNELS, ow = p_ % OUT_W, oh = p_ / OUT_W % OUT_H, b = p_ / OUT_W / OUT_H
#define INPUT(i) const int c = (i) % CHANNELS, p_ = (i) / CHANNELS, x = p_ % IN_W, h = p_ / IN_W % IN_H, b = p_ / IN_W / IN_H
#define FIRST(at, pad, size, stride) ((at) + (pad) < (size) ? 0 : ((at) + (pad) - (size)) / (stride) + 1)
#define LAST(at, pad, stride, count) min(((at) + (pad)) / (stride), (count) - 1)

KERNEL(max_pool, BUFFER(T, from), BUFFER(T, to), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, from); OPEN(T, to);
  FOR_EACH(i, n) {
    OUTPUT(i);
    T best = from[AT(xs, b, TOP(oh), LEFT(ow), c)];
    for (int h = TOP(oh); h < BOTTOM(oh); ++h) {
      for (int x = LEFT(ow); x < RIGHT(ow); ++x) {
        const T v = from[AT(xs, b, h, x, c)];
        if (v > best || v != v) best = v;
      }
    }
    to[AT(ys, b, oh, ow, c)] = best;
  }
}
KERNEL(max_pool_grad, BUFFER(T, from), BUFFER(T, dy), BUFFER(T, dx), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, from); OPEN(T, dy); OPEN(T, dx);
  FOR_EACH(i, n) {
    INPUT(i);
    const T mine = from[AT(xs, b, h, x, c)];
    T sum = 0;
    const int oh_last = LAST(h, PAD_H, STRIDE_H, OUT_H), ow_last = LAST(x, PAD_W, STRIDE_W, OUT_W);
    for (int oh = FIRST(h, PAD_H, K_H, STRIDE_H); oh <= oh_last; ++oh) {
      for (int ow = FIRST(x, PAD_W, K_W, STRIDE_W); ow <= ow_last; ++ow) {
        int is_largest = 1;  // none is larger, and none before it as large
        for (int h2 = TOP(oh); h2 < BOTTOM(oh) && is_largest; ++h2) {
          for (int x2 = LEFT(ow); x2 < RIGHT(ow); ++x2) {
            const T v = from[AT(xs, b, h2, x2, c)];
            const int before = h2 < h || (h2 == h && x2 < x);
            if (v > mine || (before && v == mine)) is_largest = 0;
          }
        }
        if (is_largest) sum += dy[AT(ys, b, oh, ow, c)];
      }
    }
    dx[AT(xs, b, h, x, c)] = sum;
  }
}
KERNEL(avg_pool, BUFFER(T, from), BUFFER(T, to), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, from); OPEN(T, to);
  FOR_EACH(i, n) {
    OUTPUT(i);
    T sum = 0;
    for (int h = TOP(oh); h < BOTTOM(oh); ++h) {
      for (int x = LEFT(ow); x < RIGHT(ow); ++x) sum += from[AT(xs, b, h, x, c)];
    }
    to[AT(ys, b, oh, ow, c)] = sum / ((BOTTOM(oh) - TOP(oh)) * (RIGHT(ow) - LEFT(ow)));
  }
}
KERNEL(avg_pool_grad, BUFFER(T, dy), BUFFER(T, dx), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, dy); OPEN(T, dx);
  FOR_EACH(i, n) {
    INPUT(i);
    T sum = 0;
    const int oh_last = LAST(h, PAD_H, STRIDE_H, OUT_H), ow_last = LAST(x, PAD_W, STRIDE_W, OUT_W);
    for (int oh = FIRST(h, PAD_H, K_H, STRIDE_H); oh <= oh_last; ++oh) {
      for (int ow = FIRST(x, PAD_W, K_W, STRIDE_W); ow <= ow_last; ++ow) {
        sum += dy[AT(ys, b, oh, ow, c)] / ((BOTTOM(oh) - TOP(oh)) * (RIGHT(ow) - LEFT(ow)));
      }
    }
    dx[AT(xs, b, h, x, c)] = sum;
  }
}

FUNCTION T lrn_norm(GLOBAL T* pixel, int c, int channels, int radius, T bias, T alpha) {
  T sum = 0;
  for (int k = max(0, c - radius); k < min(channels, c + radius + 1); ++k) sum += pixel[k] * pixel[k];
  return bias + alpha * sum;
}
KERNEL(lrn, BUFFER(T, x), BUFFER(T, y), int n, int channels, int radius, T bias, T alpha, T beta) {
  OPEN(T, x); OPEN(T, y);
  FOR_EACH(i, n) {
    const int c = i % channels;
    y[i] = x[i] * pow(lrn_norm(x + (i - c), c, channels, radius, bias, alpha), -beta);
  }
}
KERNEL(lrn_grad, BUFFER(T, dy), BUFFER(T, x), BUFFER(T, y), BUFFER(T, dx), int n, int channels, int radius, T bias, T alpha, T beta) {
  OPEN(T, dy); OPEN(T, x); OPEN(T, y); OPEN(T, dx);
  FOR_EACH(i, n) {
    const int c = i % channels, first = i - c;
    T sum = 0;
    for (int k = max(0, c - radius); k < min(channels, c + radius + 1); ++k) {
      sum += dy[first + k] * y[first + k] / lrn_norm(x + first, k, channels, radius, bias, alpha);
    }
    dx[i] = dy[i] * pow(lrn_norm(x + first, c, channels, radius, bias, alpha), -beta) - 2 * alpha * beta * x[i] * sum;
  }
}
)kernel";
const KernelDef kMaxPool(kSource, "max_pool"), kMaxPoolGrad(kSource, "max_pool_grad"), kAvgPool(kSource, "avg_pool"),
    kAvgPoolGrad(kSource, "avg_pool_grad"), kLrn(kSource, "lrn"), kLrnGrad(kSource, "lrn_grad");

struct State {
  Ints g, w, xs, ys;
};

Ints strides_of(const ops::ImageLayout& layout, int64_t height, int64_t width, int64_t channels) {
  const ops::ImageStrides s = ops::image_strides(layout, height, width, channels);
  Ints ints;
  ints.v[0] = small_int(s.batch);
  ints.v[1] = small_int(s.height);
  ints.v[2] = small_int(s.width);
  ints.v[3] = small_int(s.channels);
  return ints;
}

State state_of(const ops::PoolGeometry& pool) {
  if (pool.depth_window > 1) throw error(Code::Unimplemented, "a pool over channels on the device");
  State s;
  const auto &h = pool.height, &w = pool.width;
  const int64_t g[] = {h.in, w.in, pool.channels, h.out, w.out, h.size, w.size, pool.batch};
  const int64_t v[] = {h.stride, w.stride, h.pad_before, w.pad_before};
  for (int i = 0; i < 8; ++i) s.g.v[i] = small_int(g[i]);
  for (int i = 0; i < 4; ++i) s.w.v[i] = small_int(v[i]);
  s.xs = strides_of(pool.layout, h.in, w.in, pool.channels);
  s.ys = strides_of(pool.layout, h.out, w.out, pool.channels);
  return s;
}

State prepare(PrepareContext& c) { return state_of(ops::pool_geometry(c.input(0), c.node().attrs())); }
State prepare_by_output(PrepareContext& c) { return state_of(ops::pool_geometry(c.output(), c.node().attrs())); }

template <const KernelDef& kKernel, int... kInputs>
void pool(KernelContext& c) {
  const State& s = c.state<State>();
  constexpr int inputs[] = {kInputs...};
  Launch launch(kKernel.of(c.dtype(inputs[0])));
  for (const int i : inputs) launch.buffer(c.raw_input(i));
  const int64_t n = c.output_elements();
  launch.buffer(c.raw_output()).value(s.g).value(s.w).value(s.xs).value(s.ys).count(n).items(n);
}

// Windows over channels have a kernel on the CPU alone.
bool keeps_channels(const NodeView& node, std::span<const DType> inputs, std::span<const DType> outputs) {
  const auto& sizes = node.attr<std::vector<int64_t>>("ksize");
  const AttrValue* format = node.attrs().find("data_format");
  const bool nchw = format && std::get<std::string>(*format) == "NCHW";
  const size_t channels = nchw ? 1 : 3;
  return sizes.size() == 4 && sizes[channels] == 1 && is_floating(outputs[0]) && !inputs.empty();
}

template <const KernelDef& kKernel>
void normalize(KernelContext& c) {
  const auto& o = c.state<cpu::LrnOptions>();
  const Shape& shape = c.shape(0);
  const int64_t n = c.output_elements(), channels = shape[shape.rank() - 1];
  Launch launch(kKernel.of(c.dtype(0)));
  for (int i = 0; i < c.inputs(); ++i) launch.buffer(c.raw_input(i));
  launch.buffer(c.raw_output()).count(n).count(channels).count(std::min(o.depth_radius, channels));
  launch.value(o.bias).value(o.alpha).value(o.beta).items(n);
}

}  // namespace

std::span<const KernelRow> pooling_kernels() {
  static const KernelRow rows[] = {
      {"MaxPool", {.select = always<pool<kMaxPool, 0>>, .prepare = prepared<prepare>}, keeps_channels},
      {"MaxPoolGrad", {.select = always<pool<kMaxPoolGrad, 0, 2>>, .prepare = prepared<prepare>}, keeps_channels},
      {"AvgPool", {.select = always<pool<kAvgPool, 0>>, .prepare = prepared<prepare>}, keeps_channels},
      {"AvgPoolGrad",
       {.select = always<pool<kAvgPoolGrad, 1>>, .prepare = prepared<prepare_by_output>},
       keeps_channels},
      {"LRN", {.select = always<normalize<kLrn>>, .prepare = prepared<ops::prepare_lrn>}, first_is_float},
      {"LRNGrad", {.select = always<normalize<kLrnGrad>>, .prepare = prepared<ops::prepare_lrn>}, first_is_float},
  };
  return rows;
}

}  // namespace weir::accelerator
