#include <cstring>

#include "graph/grad_context.h"
#include "ops/image/lerp.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  if (!is_floating(c.input(0).dtype())) return;
  c.set_input_grad(0, NodeBuilder("ResizeBilinearGrad")
                          .input(c.output_grad())
                          .input(c.input(0))
                          .attr("align_corners", c.attr<bool>("align_corners"))
                          .attr("half_pixel_centers", c.attr<bool>("half_pixel_centers"))
                          .output());
}

struct State {
  ResizeGeometry g;
  ToFloat convert;
  std::vector<Lerp> xs = {}, ys = {};
  int64_t vector_pixels = 0;  // so many pixels of a row can be read four channels at a time
  int64_t scratch_row = 0;  // elements of scratch memory for a row of the output, and for one of the input behind both
};

constexpr int64_t kPadding = 4;  // four channels are also written where three are meant

State prepare(PrepareContext& c) {
  State state{.g = resize_geometry(c.input(0), c.output(), c.node().attrs()), .convert = to_float(c.node().type())};
  const ResizeGeometry& g = state.g;
  state.ys = lerps(g.in_height, g.out_height, g.height);
  state.xs = lerps(g.in_width, g.out_width, g.width);
  for (Lerp& x : state.xs) {
    if (x.upper + 1 < g.in_width) ++state.vector_pixels;
    x.lower *= g.channels;
    x.upper *= g.channels;
  }
  state.scratch_row = g.out_row() + kPadding;
  const int64_t thread = 2 * state.scratch_row + g.in_row();
  c.set_scratch(static_cast<size_t>(thread * c.threads()) * sizeof(float));
  return state;
}

using Float4 = float __attribute__((vector_size(16)));

Float4 load4(const float* from) {
  Float4 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
void store4(float* to, Float4 v) { std::memcpy(to, &v, sizeof v); }

inline float lerp(float a, float b, float fraction) { return a + (b - a) * fraction; }

// One row of the input, stretched.
void stretch_row(const State& state, const float* in, float* out) {
  const int64_t channels = state.g.channels, width = state.g.out_width;
  const Lerp* xs = state.xs.data();
  int64_t x = 0;
  if (channels == 3 || channels == 4) {
    // A pixel in a register. The fourth of three channels is the next pixel's first, which is written again.
    const int64_t end = channels == 4 ? width : state.vector_pixels;
    for (; x < end; ++x) {
      const Float4 left = load4(in + xs[x].lower), right = load4(in + xs[x].upper);
      store4(out + x * channels, left + (right - left) * xs[x].fraction);
    }
  }
  for (; x < width; ++x) {
    const float *left = in + xs[x].lower, *right = in + xs[x].upper;
    for (int64_t i = 0; i < channels; ++i) out[x * channels + i] = lerp(left[i], right[i], xs[x].fraction);
  }
}

// Rows one after the other share the stretched rows of the input that they lie between.
class Rows {
 public:
  Rows(KernelContext& c, const State& state) : state_(state), in_(c.raw_input(0)) {
    const int64_t row = state.scratch_row, thread = 2 * row + state.g.in_row();
    float* scratch = static_cast<float*>(c.scratch()) + ThreadPool::thread_index() * thread;
    slots_[0].row = scratch;
    slots_[1].row = scratch + row;
    converted_ = scratch + 2 * row;
  }

  void make(int64_t number, float* out) {
    const ResizeGeometry& g = state_.g;
    const Lerp& y = state_.ys[static_cast<size_t>(number % g.out_height)];
    const int64_t first = number / g.out_height * g.in_height;
    const float* top = stretched(first + y.lower, first + y.upper);
    const float* bottom = stretched(first + y.upper, first + y.lower);
    for (int64_t i = 0; i < g.out_row(); ++i) out[i] = lerp(top[i], bottom[i], y.fraction);
  }

 private:
  // Row `number` of the input; that of row `other` is kept.
  const float* stretched(int64_t number, int64_t other) {
    for (const Slot& slot : slots_) {
      if (slot.number == number) return slot.row;
    }
    Slot& slot = slots_[0].number == other ? slots_[1] : slots_[0];
    slot.number = number;
    const int64_t length = state_.g.in_row();
    stretch_row(state_, float_elements(in_, state_.convert, number * length, length, converted_), slot.row);
    return slot.row;
  }

  struct Slot {
    int64_t number = -1;
    float* row = nullptr;
  };
  const State& state_;
  const void* in_;
  Slot slots_[2];
  float* converted_;
};

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  const ResizeGeometry& g = state.g;
  auto* out = c.output<float>();
  if (g.in_height == g.out_height && g.in_width == g.out_width) {
    c.pool().parallel_for(c.output_elements(), 65536, [&](int64_t begin, int64_t end) {
      const float* in = float_elements(c.raw_input(0), state.convert, begin, end - begin, out + begin);
      if (in != out + begin) std::copy_n(in, end - begin, out + begin);
    });
    return;
  }
  // Blocks of many rows, so that few rows of the input are stretched twice.
  const int64_t grain = 4 * rows_of_a_block(g.out_row());
  c.pool().parallel_for(g.batch * g.out_height, grain, [&](int64_t begin, int64_t end) {
    Rows rows(c, state);
    for (int64_t y = begin; y < end; ++y) rows.make(y, out + y * g.out_row());
  });
}

}  // namespace

OpDef resize_bilinear_op() {
  return {.name = "ResizeBilinear",
          .inputs = "images:T; size:int32",
          .outputs = "resized_images:float",
          .attrs =
              "T:type{int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double}; align_corners:bool=False; "
              "half_pixel_centers:bool=False",
          .host = "size",
          .infer = infer_resize,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::image {

Output resize_bilinear(const In& images, const In& size, const ResizeOptions& options, std::string_view name) {
  return NodeBuilder("ResizeBilinear", name)
      .input(images)
      .input(size)
      .attr("align_corners", options.align_corners)
      .attr("half_pixel_centers", options.half_pixel_centers)
      .output();
}

}  // namespace weir::image
