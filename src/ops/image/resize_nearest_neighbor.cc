#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "graph/grad_context.h"
#include "ops/image/resize.h"
#include "weir/image_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Floats count to 2^24.
constexpr int64_t kMostPixels = int64_t{1} << 24;

void infer(InferContext& c) {
  infer_resize(c);
  const Shape in = c.input(0).merged(Shape::unknown_dims(4));
  if (in[1] >= kMostPixels || in[2] >= kMostPixels) c.fail("nearest neighbor requires max height & width of 2^24");
}

void gradient(GradContext& c) {
  Output images = c.input(0);
  const Shape& known = images.shape();
  const In size = known.has_rank() && known[1] != kUnknown && known[2] != kUnknown
                      ? In(Shape{known[1], known[2]})
                      : In(subscript(shape(images), {between(1, 3)}));
  c.set_input_grad(0, NodeBuilder("ResizeNearestNeighborGrad")
                          .input(c.output_grad())
                          .input(size)
                          .attr("align_corners", c.attr<bool>("align_corners"))
                          .attr("half_pixel_centers", c.attr<bool>("half_pixel_centers"))
                          .output());
}

// The pixel of the input for each of the output.
std::vector<int64_t> nearest(int64_t in, int64_t out, float scale, const AttrMap& attrs) {
  const bool round = attrs.get<bool>("align_corners"), half = attrs.get<bool>("half_pixel_centers");
  std::vector<int64_t> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float x = static_cast<float>(i), at = (half ? x + 0.5f : x) * scale;
    result[static_cast<size_t>(i)] =
        std::clamp<int64_t>(static_cast<int64_t>(round ? std::round(at) : std::floor(at)), 0, in - 1);
  }
  return result;
}

struct State {
  ResizeGeometry g;
  std::vector<int64_t> xs = {}, ys = {};
};

State make_state(const Shape& in, const Shape& out, const AttrMap& attrs) {
  State state{.g = resize_geometry(in, out, attrs)};
  state.xs = nearest(state.g.in_width, state.g.out_width, state.g.width.scale, attrs);
  state.ys = nearest(state.g.in_height, state.g.out_height, state.g.height.scale, attrs);
  return state;
}

State prepare(PrepareContext& c) { return make_state(c.input(0), c.output(), c.node().attrs()); }

// A pixel's bytes, with the commonest numbers known to the compiler.
template <size_t kBytes>
void pick(const char* in, const std::vector<int64_t>& xs, size_t, char* out) {
  for (int64_t x : xs) {
    std::memcpy(out, in + static_cast<size_t>(x) * kBytes, kBytes);
    out += kBytes;
  }
}
void pick_any(const char* in, const std::vector<int64_t>& xs, size_t bytes, char* out) {
  for (int64_t x : xs) {
    std::memcpy(out, in + static_cast<size_t>(x) * bytes, bytes);
    out += bytes;
  }
}
auto picker(size_t bytes) {
  switch (bytes) {
    case 1:
      return pick<1>;
    case 3:
      return pick<3>;
    case 4:
      return pick<4>;
    case 8:
      return pick<8>;
    case 12:
      return pick<12>;
    case 16:
      return pick<16>;
    default:
      return pick_any;
  }
}

void cpu(KernelContext& c) {
  const auto& [g, xs, ys] = c.state<State>();
  const size_t pixel = static_cast<size_t>(g.channels) * dtype_size(c.dtype(0));
  const size_t in_row = pixel * static_cast<size_t>(g.in_width), out_row = pixel * static_cast<size_t>(g.out_width);
  const auto pick_row = picker(pixel);
  const auto* in = static_cast<const char*>(c.raw_input(0));
  auto* out = static_cast<char*>(c.raw_output());
  c.pool().parallel_for(g.batch * g.out_height, rows_of_a_block(g.out_row()), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t image = r / g.out_height, y = r % g.out_height, from = ys[static_cast<size_t>(y)];
      char* to = out + static_cast<size_t>(r) * out_row;
      if (r > begin && y > 0 && ys[static_cast<size_t>(y - 1)] == from) {
        std::memcpy(to, to - out_row, out_row);
      } else {
        pick_row(in + static_cast<size_t>(image * g.in_height + from) * in_row, xs, pixel, to);
      }
    }
  });
}

struct GradState {
  State of;  // the resize: its input is this gradient's output
  std::vector<RowRange> touching = {};
};

GradState prepare_grad(PrepareContext& c) {
  GradState state{.of = make_state(c.output(), c.input(0), c.node().attrs())};
  state.touching = rows_that_touch(state.of.g.in_height, state.of.g.out_height,
                                   [&](int64_t y) { return std::array{state.of.ys[static_cast<size_t>(y)]}; });
  return state;
}

template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(int64_t{a} + int64_t{b});  // wraps around
  } else {
    return static_cast<T>(a + b);
  }
}

struct GradCpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [of, touching] = c.state<GradState>();
    const ResizeGeometry& g = of.g;
    const T* grads = c.input<T>(0);
    T* out = c.output<T>();
    c.pool().parallel_for(g.batch * g.in_height, rows_of_a_block(g.in_row()), [&](int64_t begin, int64_t end) {
      std::fill(out + begin * g.in_row(), out + end * g.in_row(), T());
      for (int64_t r = begin; r < end; ++r) {
        const int64_t image = r / g.in_height;
        const RowRange& range = touching[static_cast<size_t>(r % g.in_height)];
        for (int64_t y = range.first; y < range.last; ++y) {
          const T* from = grads + (image * g.out_height + y) * g.out_row();
          for (int64_t x : of.xs) {
            T* to = out + r * g.in_row() + x * g.channels;
            for (int64_t i = 0; i < g.channels; ++i, ++from) to[i] = sum(to[i], *from);
          }
        }
      }
    });
  }
};

}  // namespace

OpDef resize_nearest_neighbor_op() {
  return {.name = "ResizeNearestNeighbor",
          .inputs = "images:T; size:int32",
          .outputs = "resized_images:T",
          .attrs =
              "T:type{int8,uint8,int16,uint16,int32,int64,half,float,double}; align_corners:bool=False; "
              "half_pixel_centers:bool=False",
          .host = "size",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

OpDef resize_nearest_neighbor_grad_op() {
  return {
      .name = "ResizeNearestNeighborGrad",
      .inputs = "grads:T; size:int32",
      .outputs = "output:T",
      .attrs = "T:type{uint8,int8,int32,half,float,double}; align_corners:bool=False; half_pixel_centers:bool=False",
      .host = "size",
      .infer = infer_resize_to_size,
      .cpu = {.select = kernel_for<Types<uint8_t, int8_t, int32_t, Half, float, double>, GradCpu>,
              .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops

namespace weir::image {

Output resize_nearest_neighbor(const In& images, const In& size, const ResizeOptions& options, std::string_view name) {
  return NodeBuilder("ResizeNearestNeighbor", name)
      .input(images)
      .input(size)
      .attr("align_corners", options.align_corners)
      .attr("half_pixel_centers", options.half_pixel_centers)
      .output();
}

}  // namespace weir::image
