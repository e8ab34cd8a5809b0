#include <algorithm>
#include <cmath>

#include "ops/image/resize.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

// The pixels of the input that one of the output lies on, [first, last), and how much of the first and of the last.
struct Span {
  int64_t first, last;
  float first_part, last_part;
};

float part(int64_t pixel, float begin, float end, float scale) {
  const auto at = static_cast<float>(pixel);
  if (at < begin) return static_cast<float>(pixel + 1) > end ? scale : static_cast<float>(pixel + 1) - begin;
  return static_cast<float>(pixel + 1) > end ? end - at : 1.0f;
}

std::vector<Span> spans(int64_t out, float scale) {
  std::vector<Span> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float begin = static_cast<float>(i) * scale, end = static_cast<float>(i + 1) * scale;
    const auto first = static_cast<int64_t>(std::floor(begin)), last = static_cast<int64_t>(std::ceil(end));
    result[static_cast<size_t>(i)] = {first, last, part(first, begin, end, scale), part(last - 1, begin, end, scale)};
  }
  return result;
}

struct State {
  ResizeGeometry g;
  ToFloat convert;
  std::vector<Span> xs = {}, ys = {};
};

int64_t scratch_of_a_thread(const State& state) { return state.convert ? state.g.in_row() : 0; }

State prepare(PrepareContext& c) {
  State state{.g = resize_geometry(c.input(0), c.output(), c.node().attrs()), .convert = to_float(c.node().type())};
  state.xs = spans(state.g.out_width, state.g.width.scale);
  state.ys = spans(state.g.out_height, state.g.height.scale);
  c.set_scratch(static_cast<size_t>(scratch_of_a_thread(state) * c.threads()) * sizeof(float));
  return state;
}

// Adds a row of the input, times the part of it that counts.
void add_row(const State& state, const float* in, float weight, float* out) {
  const int64_t channels = state.g.channels, limit = state.g.in_width - 1;
  for (const Span& x : state.xs) {
    // Rounding may carry the last span past the border.
    auto pixel = [&](int64_t index) { return in + std::clamp<int64_t>(index, 0, limit) * channels; };
    for (int64_t i = 0; i < channels; ++i) {
      float sum = pixel(x.first)[i] * x.first_part;
      if (x.first + 1 != x.last) {
        for (int64_t at = x.first + 1; at < x.last - 1; ++at) sum += pixel(at)[i];
        sum += pixel(x.last - 1)[i] * x.last_part;
      }
      *out++ += sum * weight;
    }
  }
}

void make_row(const State& state, const void* in, int64_t number, float* scratch, float* out) {
  const ResizeGeometry& g = state.g;
  const int64_t image = number / g.out_height, y = number % g.out_height, length = g.in_row();
  const float begin = static_cast<float>(y) * g.height.scale, end = static_cast<float>(y + 1) * g.height.scale;
  const Span& span = state.ys[static_cast<size_t>(y)];
  std::fill_n(out, g.out_row(), 0.0f);
  for (int64_t row = span.first; row < span.last; ++row) {
    const int64_t from = image * g.in_height + std::clamp<int64_t>(row, 0, g.in_height - 1);
    add_row(state, float_elements(in, state.convert, from * length, length, scratch),
            part(row, begin, end, g.height.scale), out);
  }
  const auto scale = static_cast<float>(1.0 / static_cast<double>(g.height.scale * g.width.scale));
  for (int64_t i = 0; i < g.out_row(); ++i) out[i] *= scale;
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

}  // namespace

OpDef resize_area_op() {
  return {.name = "ResizeArea",
          .inputs = "images:T; size:int32",
          .outputs = "resized_images:float",
          .attrs = "T:type{int8,uint8,int16,uint16,int32,int64,half,float,double}; align_corners:bool=False",
          .host = "size",
          .infer = infer_resize,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::image {

Output resize_area(const In& images, const In& size, bool align_corners, std::string_view name) {
  return NodeBuilder("ResizeArea", name).input(images).input(size).attr("align_corners", align_corners).output();
}

}  // namespace weir::image
