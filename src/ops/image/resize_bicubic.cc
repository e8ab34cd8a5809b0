#include "graph/grad_context.h"
#include "ops/image/cubic.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  const DType type = c.input(0).dtype();
  if (type != float32 && type != float64) return;
  c.set_input_grad(0, NodeBuilder("ResizeBicubicGrad")
                          .input(c.output_grad())
                          .input(c.input(0))
                          .attr("align_corners", c.attr<bool>("align_corners"))
                          .attr("half_pixel_centers", c.attr<bool>("half_pixel_centers"))
                          .output());
}

struct State {
  ResizeGeometry g;
  ToFloat convert;
  std::vector<Cubic> xs = {}, ys = {};
};

int64_t scratch_of_a_thread(const State& state) { return (state.convert ? 5 : 1) * state.g.in_row(); }

State prepare(PrepareContext& c) {
  State state{.g = resize_geometry(c.input(0), c.output(), c.node().attrs()), .convert = to_float(c.node().type())};
  const ResizeGeometry& g = state.g;
  state.ys = cubics(g.in_height, g.out_height, g.height);
  state.xs = cubics(g.in_width, g.out_width, g.width);
  for (Cubic& x : state.xs) {
    for (int64_t& index : x.index) index *= g.channels;
  }
  c.set_scratch(static_cast<size_t>(scratch_of_a_thread(state) * c.threads()) * sizeof(float));
  return state;
}

inline float combine(const std::array<float, 4>& w, float a, float b, float c, float d) {
  return a * w[0] + b * w[1] + c * w[2] + d * w[3];
}

// Four rows of the input become one, and groups of four pixels of that become those of the output.
void make_row(const State& state, const void* in, int64_t number, float* scratch, float* out) {
  const ResizeGeometry& g = state.g;
  const Cubic& y = state.ys[static_cast<size_t>(number % g.out_height)];
  const int64_t image = number / g.out_height, length = g.in_row(), channels = g.channels;
  const float* rows[4];
  for (size_t j = 0; j < 4; ++j) {
    float* buffer = scratch + (state.convert ? static_cast<int64_t>(j) + 1 : 0) * length;
    rows[j] = float_elements(in, state.convert, (image * g.in_height + y.index[j]) * length, length, buffer);
  }
  for (int64_t i = 0; i < length; ++i) scratch[i] = combine(y.weight, rows[0][i], rows[1][i], rows[2][i], rows[3][i]);
  for (const Cubic& x : state.xs) {
    const float *a = scratch + x.index[0], *b = scratch + x.index[1], *c = scratch + x.index[2],
                *d = scratch + x.index[3];
    for (int64_t i = 0; i < channels; ++i) *out++ = combine(x.weight, a[i], b[i], c[i], d[i]);
  }
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  const ResizeGeometry& g = state.g;
  auto* out = c.output<float>();
  c.pool().parallel_for(g.batch * g.out_height, rows_of_a_block(g.out_row()), [&](int64_t begin, int64_t end) {
    float* scratch = static_cast<float*>(c.scratch()) + ThreadPool::thread_index() * scratch_of_a_thread(state);
    for (int64_t y = begin; y < end; ++y) make_row(state, c.raw_input(0), y, scratch, out + y * g.out_row());
  });
}

struct GradState {
  ResizeGeometry g;  // of the resize: its input is this gradient's output
  std::vector<Cubic> xs = {}, ys = {};
  std::vector<RowRange> touching = {};
};

GradState prepare_grad(PrepareContext& c) {
  GradState state{.g = resize_geometry(c.input(1), c.input(0), c.node().attrs())};
  const ResizeGeometry& g = state.g;
  state.ys = cubics(g.in_height, g.out_height, g.height);
  state.xs = cubics(g.in_width, g.out_width, g.width);
  state.touching =
      rows_that_touch(g.in_height, g.out_height, [&](int64_t y) { return state.ys[static_cast<size_t>(y)].index; });
  return state;
}

template <class T>
void add_row(const GradState& state, const Cubic& y, int64_t row, const float* grads, T* out) {
  const int64_t channels = state.g.channels;
  for (const Cubic& x : state.xs) {
    for (int64_t i = 0; i < channels; ++i, ++grads) {
      const T grad = *grads;
      for (size_t j = 0; j < 4; ++j) {
        if (y.index[j] != row) continue;
        for (size_t k = 0; k < 4; ++k) out[x.index[k] * channels + i] += grad * y.weight[j] * x.weight[k];
      }
    }
  }
}

struct GradCpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& state = c.state<GradState>();
    const ResizeGeometry& g = state.g;
    const auto* grads = c.input<float>(0);
    T* out = c.output<T>();
    c.pool().parallel_for(g.batch * g.in_height, rows_of_a_block(g.in_row()), [&](int64_t begin, int64_t end) {
      std::fill(out + begin * g.in_row(), out + end * g.in_row(), T());
      for (int64_t r = begin; r < end; ++r) {
        const int64_t image = r / g.in_height, row = r % g.in_height;
        const RowRange& touching = state.touching[static_cast<size_t>(row)];
        for (int64_t y = touching.first; y < touching.last; ++y) {
          add_row(state, state.ys[static_cast<size_t>(y)], row, grads + (image * g.out_height + y) * g.out_row(),
                  out + r * g.in_row());
        }
      }
    });
  }
};

}  // namespace

OpDef resize_bicubic_op() {
  return {.name = "ResizeBicubic",
          .inputs = "images:T; size:int32",
          .outputs = "resized_images:float",
          .attrs =
              "T:type{int8,uint8,int16,uint16,int32,int64,half,float,double}; align_corners:bool=False; "
              "half_pixel_centers:bool=False",
          .host = "size",
          .infer = infer_resize,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

OpDef resize_bicubic_grad_op() {
  return {.name = "ResizeBicubicGrad",
          .inputs = "grads:float; original_image:T",
          .outputs = "output:T",
          .attrs = "T:type{float,double}; align_corners:bool=False; half_pixel_centers:bool=False",
          .infer = infer_resize_grad,
          .cpu = {.select = kernel_for<Types<float, double>, GradCpu>, .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops

namespace weir::image {

Output resize_bicubic(const In& images, const In& size, const ResizeOptions& options, std::string_view name) {
  return NodeBuilder("ResizeBicubic", name)
      .input(images)
      .input(size)
      .attr("align_corners", options.align_corners)
      .attr("half_pixel_centers", options.half_pixel_centers)
      .output();
}

}  // namespace weir::image
