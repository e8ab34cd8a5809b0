#include <array>

#include "ops/image/lerp.h"

namespace weir::ops {
namespace {

struct State {
  ResizeGeometry g;  // of the resize: its input is this gradient's output
  std::vector<Lerp> xs = {}, ys = {};
  std::vector<RowRange> touching = {};
};

State prepare(PrepareContext& c) {
  State state{.g = resize_geometry(c.input(1), c.input(0), c.node().attrs())};
  const ResizeGeometry& g = state.g;
  state.ys = lerps(g.in_height, g.out_height, g.height);
  state.xs = lerps(g.in_width, g.out_width, g.width);
  state.touching = rows_that_touch(g.in_height, g.out_height, [&](int64_t y) {
    const Lerp& at = state.ys[static_cast<size_t>(y)];
    return std::array{at.lower, at.upper};
  });
  return state;
}

// Adds what row y of the gradient gives to row `row` of the picture, in TensorFlow's order.
template <class T>
void add_row(const State& state, const Lerp& y, int64_t row, const float* grads, T* out) {
  const int64_t channels = state.g.channels;
  const float near = 1.0f - y.fraction;
  for (const Lerp& x : state.xs) {
    const float left = 1.0f - x.fraction;
    T *to_left = out + x.lower * channels, *to_right = out + x.upper * channels;
    for (int64_t i = 0; i < channels; ++i, ++grads) {
      auto add = [](T& to, float value) { to = static_cast<T>(to + static_cast<T>(value)); };
      if (y.lower == row) {
        add(to_left[i], *grads * near * left);
        add(to_right[i], *grads * near * x.fraction);
      }
      if (y.upper == row) {
        add(to_left[i], *grads * y.fraction * left);
        add(to_right[i], *grads * y.fraction * x.fraction);
      }
    }
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& state = c.state<State>();
    const ResizeGeometry& g = state.g;
    const auto* grads = c.input<float>(0);
    T* out = c.output<T>();
    // Rows of the picture, because several rows of the gradient add to each.
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

OpDef resize_bilinear_grad_op() {
  return {.name = "ResizeBilinearGrad",
          .inputs = "grads:float; original_image:T",
          .outputs = "output:T",
          .attrs = "T:type{float,bfloat16,half,double}; align_corners:bool=False; half_pixel_centers:bool=False",
          .infer = infer_resize_grad,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
