#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/nn/window.h"
#include "ops/types.h"

// Grey-scale dilation: the largest sum of a pixel and the filter's value at its place, channel by channel; and its two
// gradients, which go to the place of that sum.
namespace weir::ops {
namespace {

struct Geometry {
  int64_t batch, depth;
  Window height, width;
  Shape output() const { return {batch, height.out, width.out, depth}; }
};

void require_spatial(const std::vector<int64_t>& list, const char* length, const char* across) {
  if (list.size() != 4) throw invalid_argument("{} field must specify 4 dimensions", length);
  if (list[0] != 1 || list[3] != 1) {
    throw error(Code::Unimplemented, "{} is only supported across spatial dimensions.", across);
  }
  if (list[1] < 1 || list[2] < 1) throw invalid_argument("{} must be positive", across);
}

Geometry geometry_of(const Shape& input, const Shape& filter, const AttrMap& attrs) {
  const auto &strides = attrs.get<std::vector<int64_t>>("strides"), &rates = attrs.get<std::vector<int64_t>>("rates");
  require_spatial(strides, "Sliding window stride", "Stride");
  require_spatial(rates, "Input stride (atrous rate)", "Rate");
  const Shape in = input.merged(Shape::unknown_dims(4)), taps = filter.merged(Shape::unknown_dims(3));
  if (in[3] != kUnknown && taps[2] != kUnknown && in[3] != taps[2]) {
    throw invalid_argument("input and filter must have the same depth: {} vs {}", in[3], taps[2]);
  }
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  auto window = [&](int i) {
    const auto at = static_cast<size_t>(i);
    Window w{.in = in[i], .size = taps[i - 1], .stride = strides[at], .dilation = rates[at]};
    if (w.size == 0) throw invalid_argument("the filter has no taps: {}", filter.str());
    place_window(w, padding, i);
    return w;
  };
  return {in[0], in[3] == kUnknown ? taps[2] : in[3], window(1), window(2)};
}

void infer(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 3);
  c.set_output(0, geometry_of(c.input(0), c.input(1), c.attrs()).output());
}

// Of the gradients: output `like` one of the inputs.
template <int kLike>
void infer_grad(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 3);
  if (!geometry_of(c.input(0), c.input(1), c.attrs()).output().compatible(c.input(2))) {
    throw invalid_argument("out_backprop has incompatible size.");
  }
  c.set_output(0, c.input(kLike));
}

Geometry prepare(PrepareContext& c) { return geometry_of(c.input(0), c.input(1), c.node().attrs()); }

template <class W>
constexpr W lowest() {
  return std::numeric_limits<W>::lowest();
}

// Calls body(output place, best value, tap, input place) for each channel of a row of outputs. Without a tap inside the
// picture the place is the corner of it that the window covers first, as in TensorFlow.
template <class T, class Body>
void for_each_maximum(const Geometry& g, const T* input, const T* filter, int64_t image, int64_t row,
                      const Body& body) {
  using W = Wide<T>;
  const Taps rows(g.height, row);
  const int64_t top = row * g.height.stride - g.height.pad_before;
  for (int64_t column = 0; column < g.width.out; ++column) {
    const Taps columns(g.width, column);
    const int64_t left = column * g.width.stride - g.width.pad_before;
    for (int64_t d = 0; d < g.depth; ++d) {
      W best = lowest<W>();
      int64_t best_tap = 0;
      int64_t best_place =
          (std::clamp<int64_t>(top, 0, g.height.in - 1) * g.width.in + std::clamp<int64_t>(left, 0, g.width.in - 1)) *
              g.depth +
          d;
      for (int64_t i = rows.first; i < rows.last; ++i) {
        for (int64_t j = columns.first; j < columns.last; ++j) {
          const int64_t place =
              ((top + i * g.height.dilation) * g.width.in + left + j * g.width.dilation) * g.depth + d;
          const int64_t tap = (i * g.width.size + j) * g.depth + d;
          const W value = wrapping_add(static_cast<W>(input[image + place]), static_cast<W>(filter[tap]));
          if (value > best) {
            best = value;
            best_tap = tap;
            best_place = place;
          }
        }
      }
      body((row * g.width.out + column) * g.depth + d, best, best_tap, best_place);
    }
  }
}

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<Geometry>();
    const int64_t in_image = g.height.in * g.width.in * g.depth, out_image = g.height.out * g.width.out * g.depth;
    c.pool().parallel_for(g.batch * g.height.out, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / g.height.out;
        for_each_maximum(
            g, c.input<T>(0), c.input<T>(1), n * in_image, i % g.height.out,
            [&](int64_t at, auto best, int64_t, int64_t) { c.output<T>()[n * out_image + at] = static_cast<T>(best); });
      }
    });
  }
};

// Sums in the order of the outputs, so that they do not depend on threads.
template <bool kFilter>
struct Backward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<Geometry>();
    const int64_t in_image = g.height.in * g.width.in * g.depth, out_image = g.height.out * g.width.out * g.depth;
    T* sums = c.output<T>();
    std::fill_n(sums, c.output_elements(), T());
    if (c.elements(2) == 0 || in_image == 0) return;
    for (int64_t n = 0; n < g.batch; ++n) {
      for (int64_t row = 0; row < g.height.out; ++row) {
        for_each_maximum(g, c.input<T>(0), c.input<T>(1), n * in_image, row,
                         [&](int64_t at, auto, int64_t tap, int64_t place) {
                           T& to = sums[kFilter ? tap : n * in_image + place];
                           const auto grad = static_cast<Wide<T>>(c.input<T>(2)[n * out_image + at]);
                           to = static_cast<T>(wrapping_add(static_cast<Wide<T>>(to), grad));
                         });
      }
    }
  }
};

Output grad_node(const GradContext& c, std::string_view op) {
  NodeBuilder node(op);
  node.input(c.input(0)).input(c.input(1)).input(c.output_grad());
  for (const char* name : {"strides", "rates", "padding"}) node.attr(name, *c.op().attrs().find(name));
  return node.output();
}

void gradient(GradContext& c) {
  c.set_input_grad(0, grad_node(c, "Dilation2DBackpropInput"));
  c.set_input_grad(1, grad_node(c, "Dilation2DBackpropFilter"));
}

constexpr std::string_view kAttrs =
    "T:realnumbertype; strides:list(int)>=4; rates:list(int)>=4; padding:string{SAME,VALID}";

}  // namespace

OpDef dilation2d_op() {
  return {.name = "Dilation2D",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Forward>, .prepare = prepared<prepare>}};
}

OpDef dilation2d_backprop_input_op() {
  return {.name = "Dilation2DBackpropInput",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "in_backprop:T",
          .attrs = kAttrs,
          .infer = infer_grad<0>,
          .cpu = {.select = kernel_for<RealTypes, Backward<false>>, .prepare = prepared<prepare>}};
}

OpDef dilation2d_backprop_filter_op() {
  return {.name = "Dilation2DBackpropFilter",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "filter_backprop:T",
          .attrs = kAttrs,
          .infer = infer_grad<1>,
          .cpu = {.select = kernel_for<RealTypes, Backward<true>>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
