#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"
#include "ops/nn/window.h"

// Graphs made ready for inference have a convolution together with the mirrored padding, and the resizing, before it.
namespace weir::ops {
namespace {

struct Stages {
  int64_t batch, in_height, in_width, depth;  // the input
  int64_t height, width;                      // resized
  int64_t top, left;                          // padding
  Window rows, columns;                       // over what is padded
  int64_t channels;
  bool align_corners, symmetric;
};

// What is known of the stages; inputs `size` (-1: there is none) and `paddings` by their values.
struct Arguments {
  int size, paddings, filter;
};

int64_t mirrored_limit(int64_t size, bool symmetric) { return symmetric ? size : size - 1; }

Stages stages_of(const Shape& input, const Shape& filter, const AttrMap& attrs, const int64_t* size,
                 const int64_t* paddings) {
  const Shape in = input.merged(Shape::unknown_dims(4)), taps = filter.merged(Shape::unknown_dims(4));
  Stages s{};
  s.batch = in[0];
  s.in_height = in[1];
  s.in_width = in[2];
  s.depth = in[3];
  s.channels = taps[3];
  s.symmetric = attrs.get<std::string>("mode") == "SYMMETRIC";
  s.align_corners = attrs.has("resize_align_corners") && attrs.get<bool>("resize_align_corners");
  if (in[3] != kUnknown && taps[2] != kUnknown && in[3] != taps[2]) {
    throw invalid_argument("input and filter must have the same depth: {} vs {}", in[3], taps[2]);
  }
  s.height = size ? size[0] : in[1];
  s.width = size ? size[1] : in[2];
  if (size && (s.height < 1 || s.width < 1)) throw invalid_argument("output dimensions must be positive");
  const auto& strides = attrs.get<std::vector<int64_t>>("strides");
  if (strides.size() != 4) throw invalid_argument("Sliding window strides field must specify 4 dimensions");
  if (strides[0] != 1 || strides[3] != 1) {
    throw invalid_argument("Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  if (strides[1] < 1 || strides[2] < 1) throw invalid_argument("strides must be positive");
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  auto window = [&](int i, int64_t resized) {
    const auto at = static_cast<size_t>(i);
    int64_t padded = kUnknown;
    if (paddings && resized != kUnknown) {
      const int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
      if (before < 0 || after < 0 || std::max(before, after) > mirrored_limit(resized, s.symmetric)) {
        throw invalid_argument("paddings must be non-negative and no greater than the input's size: {}, {} for {}",
                               before, after, resized);
      }
      padded = resized + before + after;
    }
    Window w{.in = padded, .size = taps[i - 1], .stride = strides[at], .dilation = 1};
    place_window(w, padding, i);
    return w;
  };
  if (paddings) {
    if (paddings[0] != 0 || paddings[1] != 0 || paddings[6] != 0 || paddings[7] != 0) {
      throw error(Code::Unimplemented, "only rows and columns can be padded");
    }
    s.top = paddings[2];
    s.left = paddings[4];
  }
  s.rows = window(1, s.height);
  s.columns = window(2, s.width);
  return s;
}

template <bool kResize>
constexpr Arguments kArguments = kResize ? Arguments{1, 2, 3} : Arguments{-1, 1, 2};

template <bool kResize>
void infer(InferContext& c) {
  constexpr Arguments at = kArguments<kResize>;
  c.require_rank(0, 4);
  c.require_rank(at.filter, 4);
  (void)c.input(at.paddings).merged(Shape{4, 2});
  if (kResize) (void)c.input(at.size).merged(Shape{2});
  const Tensor paddings = c.value(at.paddings), size = kResize ? c.value(at.size) : Tensor();
  const Shape filter = c.input(at.filter).merged(Shape::unknown_dims(4));
  if (!paddings.valid() || (kResize && !size.valid())) {
    return c.set_output(0, Shape{c.input(0).merged(Shape::unknown_dims(4))[0], kUnknown, kUnknown, filter[3]});
  }
  int64_t pads[8], sizes[2] = {0, 0};
  for (size_t i = 0; i < 8; ++i) pads[i] = paddings.data<int32_t>()[i];
  for (size_t i = 0; kResize && i < 2; ++i) sizes[i] = size.data<int32_t>()[i];
  const Stages s = stages_of(c.input(0), filter, c.attrs(), kResize ? sizes : nullptr, pads);
  c.set_output(0, Shape{s.batch, s.rows.out, s.columns.out, s.channels});
}

// A pixel of the resized picture, all channels.
template <class T>
void resized_pixel(const Stages& s, const T* image, int64_t y, int64_t x, Wide<T>* out) {
  auto scale = [&](int64_t in, int64_t to) {
    return s.align_corners && to > 1 ? static_cast<float>(in - 1) / static_cast<float>(to - 1)
                                     : static_cast<float>(in) / static_cast<float>(to);
  };
  const float from_y = static_cast<float>(y) * scale(s.in_height, s.height),
              from_x = static_cast<float>(x) * scale(s.in_width, s.width);
  const auto top = std::min(static_cast<int64_t>(from_y), s.in_height - 1),
             left = std::min(static_cast<int64_t>(from_x), s.in_width - 1);
  const int64_t bottom = std::min(top + 1, s.in_height - 1), right = std::min(left + 1, s.in_width - 1);
  const auto dy = static_cast<Wide<T>>(from_y - static_cast<float>(top)),
             dx = static_cast<Wide<T>>(from_x - static_cast<float>(left));
  auto at = [&](int64_t row, int64_t column, int64_t d) {
    return static_cast<Wide<T>>(image[(row * s.in_width + column) * s.depth + d]);
  };
  for (int64_t d = 0; d < s.depth; ++d) {
    const Wide<T> upper = at(top, left, d) + (at(top, right, d) - at(top, left, d)) * dx;
    const Wide<T> lower = at(bottom, left, d) + (at(bottom, right, d) - at(bottom, left, d)) * dx;
    out[d] = upper + (lower - upper) * dy;
  }
}

int64_t mirrored(int64_t at, int64_t size, bool symmetric) {
  if (at < 0) return symmetric ? -at - 1 : -at;
  if (at >= size) return symmetric ? 2 * size - 1 - at : 2 * size - 2 - at;
  return at;
}

template <bool kResize>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    constexpr Arguments at = kArguments<kResize>;
    int64_t pads[8], sizes[2] = {0, 0};
    for (int i = 0; i < 8; ++i) pads[i] = c.input<int32_t>(at.paddings)[i];
    for (int i = 0; kResize && i < 2; ++i) sizes[i] = c.input<int32_t>(at.size)[i];
    const Stages s = stages_of(c.shape(0), c.shape(at.filter), c.node().attrs(), kResize ? sizes : nullptr, pads);
    const int64_t width = s.columns.in, image = s.in_height * s.in_width * s.depth;
    if (image == 0 || c.output_elements() == 0) return;
    const T* filter = c.input<T>(at.filter);
    c.pool().parallel_for(s.batch * s.rows.out, 1, [&](int64_t begin, int64_t end) {
      // The lines of the padded picture that a line of the result needs.
      std::vector<Wide<T>> lines(static_cast<size_t>(s.rows.size * width * s.depth)),
          sums(static_cast<size_t>(s.channels));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / s.rows.out, row = i % s.rows.out;
        const Taps taps(s.rows, row);
        for (int64_t tap = taps.first; tap < taps.last; ++tap) {
          const int64_t y = mirrored(row * s.rows.stride - s.rows.pad_before + tap - s.top, s.height, s.symmetric);
          for (int64_t x = 0; x < width; ++x) {
            resized_pixel(s, c.input<T>(0) + n * image, y, mirrored(x - s.left, s.width, s.symmetric),
                          lines.data() + (tap * width + x) * s.depth);
          }
        }
        for (int64_t column = 0; column < s.columns.out; ++column) {
          std::fill(sums.begin(), sums.end(), Wide<T>(0));
          const Taps across(s.columns, column);
          for (int64_t tap = taps.first; tap < taps.last; ++tap) {
            for (int64_t j = across.first; j < across.last; ++j) {
              const int64_t x = column * s.columns.stride - s.columns.pad_before + j;
              const Wide<T>* pixel = lines.data() + (tap * width + x) * s.depth;
              const T* weights = filter + (tap * s.columns.size + j) * s.depth * s.channels;
              for (int64_t d = 0; d < s.depth; ++d, weights += s.channels) {
                for (int64_t q = 0; q < s.channels; ++q) {
                  sums[static_cast<size_t>(q)] += pixel[d] * static_cast<Wide<T>>(weights[q]);
                }
              }
            }
          }
          T* out = c.output<T>() + (i * s.columns.out + column) * s.channels;
          for (int64_t q = 0; q < s.channels; ++q) out[q] = static_cast<T>(sums[static_cast<size_t>(q)]);
        }
      }
    });
  }
};

}  // namespace

OpDef fused_pad_conv2d_op() {
  return {
      .name = "FusedPadConv2D",
      .inputs = "input:T; paddings:int32; filter:T",
      .outputs = "output:T",
      .attrs =
          "T:type{half,float,double}; mode:string{REFLECT,SYMMETRIC}; strides:list(int); padding:string{SAME,VALID}",
      .host = "paddings",
      .infer = infer<false>,
      .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu<false>>}};
}

OpDef fused_resize_and_pad_conv2d_op() {
  return {.name = "FusedResizeAndPadConv2D",
          .inputs = "input:T; size:int32; paddings:int32; filter:T",
          .outputs = "output:T",
          .attrs =
              "T:type{half,float,double}; resize_align_corners:bool=False; mode:string{REFLECT,SYMMETRIC}; "
              "strides:list(int); padding:string{SAME,VALID}",
          .host = "size, paddings",
          .infer = infer<true>,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu<true>>}};
}

}  // namespace weir::ops
