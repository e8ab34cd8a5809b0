#include "ops/image/lerp.h"
#include "ops/quantized/quantization.h"

// Pictures of quantised numbers in another size, in whole numbers as TensorFlow computes them.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_resize(c);
  require_ranges(c, 2, 2);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

struct State {
  ResizeGeometry g;
  std::vector<Lerp> xs = {}, ys = {};
};

State prepare(PrepareContext& c) {
  State state{.g = resize_geometry(c.input(0), c.output(), c.node().attrs())};
  state.ys = lerps(state.g.in_height, state.g.out_height, state.g.height);
  state.xs = lerps(state.g.in_width, state.g.out_width, state.g.width);
  return state;
}

// The four pixels around a point.
template <class T>
struct Corners {
  T top_left, top_right, bottom_left, bottom_right;
};

// With kBits behind the point; intermediate results are stored in Calc, which is narrow on purpose.
template <class T, class Calc, int kBits>
struct FixedPoint {
  static T at(const Corners<T>& p, float x, float y) {
    constexpr int64_t kOne = int64_t{1} << kBits;
    const auto xi = static_cast<int64_t>(x * static_cast<float>(kOne)),
               yi = static_cast<int64_t>(y * static_cast<float>(kOne));
    const auto top = static_cast<Calc>(int64_t{p.top_left} * kOne + (int64_t{p.top_right} - p.top_left) * xi);
    const auto bottom =
        static_cast<Calc>(int64_t{p.bottom_left} * kOne + (int64_t{p.bottom_right} - p.bottom_left) * xi);
    const auto out = static_cast<Calc>(top + (int64_t{bottom} - top) / kOne * yi);
    return static_cast<T>(static_cast<int32_t>((out + kOne / 2) / kOne));
  }
};

struct Floats {
  static float at(const Corners<float>& p, float x, float y) {
    const float top = p.top_left + (p.top_right - p.top_left) * x;
    const float bottom = p.bottom_left + (p.bottom_right - p.bottom_left) * x;
    return top + (bottom - top) * y;
  }
};

template <class T, class Method>
void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  const ResizeGeometry& g = state.g;
  const bool same = g.in_height == g.out_height && g.in_width == g.out_width;
  const T* in = c.input<T>(0);
  T* out = c.output<T>();
  if (same) {
    std::copy_n(in, c.elements(0), out);
  } else {
    c.pool().parallel_for(g.batch * g.out_height, rows_of_a_block(g.out_row()), [&](int64_t begin, int64_t end) {
      for (int64_t number = begin; number < end; ++number) {
        const Lerp& y = state.ys[static_cast<size_t>(number % g.out_height)];
        const T* picture = in + number / g.out_height * g.in_height * g.in_row();
        const T *top = picture + y.lower * g.in_row(), *bottom = picture + y.upper * g.in_row();
        T* row = out + number * g.out_row();
        for (const Lerp& x : state.xs) {
          const int64_t left = x.lower * g.channels, right = x.upper * g.channels;
          for (int64_t i = 0; i < g.channels; ++i) {
            *row++ = Method::at({top[left + i], top[right + i], bottom[left + i], bottom[right + i]}, x.fraction,
                                y.fraction);
          }
        }
      }
    });
  }
  set_range(c, c.scalar<float>(2), c.scalar<float>(3));
}

ComputeFn select(const NodeView& node) {
  switch (node.type()) {
    case DType::QUInt8:
      return cpu<uint8_t, FixedPoint<uint8_t, int16_t, 7>>;
    case DType::QInt32:
      return cpu<int32_t, FixedPoint<int32_t, int64_t, 30>>;
    case DType::Float32:
      return cpu<float, Floats>;
    default:
      return nullptr;
  }
}

}  // namespace

OpDef quantized_resize_bilinear_op() {
  return {.name = "QuantizedResizeBilinear",
          .inputs = "images:T; size:int32; min:float; max:float",
          .outputs = "resized_images:T; out_min:float; out_max:float",
          .attrs = "T:type{quint8,qint32,float}; align_corners:bool=False; half_pixel_centers:bool=False",
          .host = "size",
          .infer = infer,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
