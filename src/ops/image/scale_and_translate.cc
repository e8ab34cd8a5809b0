#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/image/resize.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

enum class Filter { Lanczos1, Lanczos3, Lanczos5, Gaussian, Box, Triangle, KeysCubic, MitchellCubic };

Filter filter_of(std::string_view name) {
  constexpr std::pair<std::string_view, Filter> kFilters[] = {{"lanczos1", Filter::Lanczos1},
                                                              {"lanczos3", Filter::Lanczos3},
                                                              {"lanczos5", Filter::Lanczos5},
                                                              {"gaussian", Filter::Gaussian},
                                                              {"box", Filter::Box},
                                                              {"triangle", Filter::Triangle},
                                                              {"keyscubic", Filter::KeysCubic},
                                                              {"mitchellcubic", Filter::MitchellCubic}};
  for (const auto& [known, filter] : kFilters) {
    if (known == name) return filter;
  }
  throw invalid_argument("Unrecognized kernel type: {}", name);
}

float radius_of(Filter filter) {
  switch (filter) {
    case Filter::Lanczos3:
      return 3;
    case Filter::Lanczos5:
      return 5;
    case Filter::Gaussian:
      return 1.5f;
    case Filter::KeysCubic:
    case Filter::MitchellCubic:
      return 2;
    default:
      return 1;
  }
}

float lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

// At a distance x >= 0.
float weight_at(Filter filter, float x) {
  switch (filter) {
    case Filter::Gaussian: {
      constexpr float kSigma = 0.5f;
      return x >= 1.5f ? 0.0f : static_cast<float>(std::exp(static_cast<double>(-x * x) / (2.0 * kSigma * kSigma)));
    }
    case Filter::Box:
      return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f;
    case Filter::Triangle:
      return x < 1.0f ? 1.0f - x : 0.0f;
    case Filter::KeysCubic:
      if (x >= 2.0f) return 0;
      return x >= 1.0f ? ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f : ((1.5f * x - 2.5f) * x) * x + 1.0f;
    case Filter::MitchellCubic:
      if (x >= 2.0f) return 0;
      return x >= 1.0f ? (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f
                       : (((7.0f / 6.0f) * x - 2.0f) * x) * x + 8.0f / 9.0f;
    default:
      return lanczos(x, radius_of(filter));
  }
}

// For each place of one dimension: where its inputs begin, and their weights, `size` of them, in a row.
struct Spans {
  int64_t size = 0;
  std::vector<int64_t> starts;
  std::vector<float> weights;
};

struct Placement {
  float scale, translation;
};

Spans make_spans(Filter filter, int64_t out, int64_t in, const Placement& placement, bool antialias) {
  const float inverse = 1.0f / placement.scale, shift = -inverse * placement.translation;
  // A filter for the smaller picture covers more pixels of the larger one.
  const float stretch = antialias ? std::max(inverse, 1.0f) : 1.0f, shrink = 1.0f / stretch;
  const float radius = radius_of(filter) * stretch;
  const float width = 2 * std::ceil(radius) + 1;
  Spans spans;
  spans.size = width < static_cast<float>(in) ? static_cast<int64_t>(width) : in;
  spans.starts.resize(static_cast<size_t>(out));
  spans.weights.resize(static_cast<size_t>(checked_multiply(out, spans.size)));
  for (int64_t x = 0; x < out; ++x) {
    const float at = (static_cast<float>(x) + 0.5f) * inverse + shift;
    if (!(at >= 0 && at <= static_cast<float>(in))) continue;  // outside: no weights
    const auto last_pixel = static_cast<float>(in - 1);
    const auto first = static_cast<int64_t>(std::clamp(std::ceil(at - radius - 0.5f), 0.0f, last_pixel));
    const auto last = static_cast<int64_t>(std::clamp(std::floor(at + radius - 0.5f), 0.0f, last_pixel)) + 1;
    if (last - first > spans.size)
      throw error(Code::Internal, "Span is too large: {} vs {}.", last - first, spans.size);
    float* weights = spans.weights.data() + x * spans.size;
    float sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const float distance = static_cast<float>(i) + 0.5f - at;
      weights[i - first] = weight_at(filter, std::abs(distance * shrink));
      sum += weights[i - first];
    }
    const bool usable = std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min();
    const float factor = usable ? 1.0f / sum : 0.0f;
    for (int64_t i = 0; i < last - first; ++i) weights[i] *= factor;
    spans.starts[static_cast<size_t>(x)] = first;
  }
  return spans;
}

// The same weights seen from the input: which places of the output each of its pixels goes to.
Spans turned(const Spans& spans, int64_t out, int64_t in) {
  std::vector<RowRange> ranges(static_cast<size_t>(in));
  auto for_each_weight = [&](auto use) {
    for (int64_t x = 0; x < out; ++x) {
      for (int64_t j = 0; j < spans.size; ++j) {
        const int64_t i = spans.starts[static_cast<size_t>(x)] + j;
        const float weight = spans.weights[static_cast<size_t>(x * spans.size + j)];
        if (weight != 0 && i < in) use(x, i, weight);
      }
    }
  };
  for_each_weight([&](int64_t x, int64_t i, float) {
    RowRange& range = ranges[static_cast<size_t>(i)];
    if (range.first == range.last) range.first = x;
    range.last = x + 1;
  });
  Spans result;
  for (const RowRange& range : ranges) {
    result.size = std::max(result.size, range.last - range.first);
    result.starts.push_back(range.first);
  }
  result.weights.resize(static_cast<size_t>(checked_multiply(in, result.size)));
  for_each_weight([&](int64_t x, int64_t i, float weight) {
    result.weights[static_cast<size_t>(i * result.size + x - ranges[static_cast<size_t>(i)].first)] += weight;
  });
  return result;
}

Placement placement(KernelContext& c, int index) {
  const Placement result{c.input<float>(2)[index], c.input<float>(3)[index]};
  if (!(result.scale > 0)) throw invalid_argument("Scale must be greater than zero.");
  return result;
}

void infer_placement(InferContext& c) {
  for (int input : {2, 3}) {
    c.require_rank(input, 1);
    if (c.input(input).has_rank() && c.input(input)[0] != kUnknown && c.input(input)[0] != 2) {
      c.fail("scale and translation must have two elements, got shape " + c.input(input).str());
    }
  }
}

void infer(InferContext& c) {
  filter_of(c.attr<std::string>("kernel_type"));
  infer_placement(c);
  infer_resize(c);
}

void infer_grad(InferContext& c) {
  filter_of(c.attr<std::string>("kernel_type"));
  infer_placement(c);
  infer_resize_grad(c);
}

void gradient(GradContext& c) {
  if (c.input(0).dtype() != float32) return;
  c.set_input_grad(0, NodeBuilder("ScaleAndTranslateGrad")
                          .input(c.output_grad())
                          .input(c.input(0))
                          .input(c.input(2))
                          .input(c.input(3))
                          .attr("kernel_type", c.attr<std::string>("kernel_type"))
                          .attr("antialias", c.attr<bool>("antialias"))
                          .output());
}

// Rows first, then the columns of the rows that came out.
void gather(KernelContext& c, const Shape& in, const Shape& out, const Spans& rows, const Spans& columns) {
  const ToFloat convert = to_float(c.dtype(0));
  const int64_t channels = in[3], in_height = in[1], in_width = in[2], length = in_width * channels;
  const int64_t out_height = out[1], out_row = out[2] * channels;
  auto* result = c.output<float>();
  c.pool().parallel_for(in[0] * out_height, rows_of_a_block(out_row + length), [&](int64_t begin, int64_t end) {
    std::vector<float> sum(static_cast<size_t>(length)), buffer(convert ? sum.size() : 0);
    for (int64_t r = begin; r < end; ++r) {
      const int64_t image = r / out_height, y = r % out_height, first = rows.starts[static_cast<size_t>(y)];
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (int64_t j = 0; j < std::min(rows.size, in_height - first); ++j) {
        const float weight = rows.weights[static_cast<size_t>(y * rows.size + j)];
        const float* row =
            float_elements(c.raw_input(0), convert, (image * in_height + first + j) * length, length, buffer.data());
        for (int64_t i = 0; i < length; ++i) sum[static_cast<size_t>(i)] += weight * row[i];
      }
      float* to = result + r * out_row;
      for (int64_t x = 0; x < out[2]; ++x, to += channels) {
        const int64_t start = columns.starts[static_cast<size_t>(x)];
        std::fill_n(to, channels, 0.0f);
        for (int64_t j = 0; j < std::min(columns.size, in_width - start); ++j) {
          const float weight = columns.weights[static_cast<size_t>(x * columns.size + j)];
          const float* from = sum.data() + (start + j) * channels;
          for (int64_t i = 0; i < channels; ++i) to[i] += weight * from[i];
        }
      }
    }
  });
}

void cpu(KernelContext& c) {
  const Filter filter = filter_of(c.node().attr<std::string>("kernel_type"));
  const bool antialias = c.node().attr<bool>("antialias");
  const Shape &in = c.shape(0), &out = c.output_shape();
  gather(c, in, out, make_spans(filter, out[1], in[1], placement(c, 0), antialias),
         make_spans(filter, out[2], in[2], placement(c, 1), antialias));
}

void cpu_grad(KernelContext& c) {
  const Filter filter = filter_of(c.node().attr<std::string>("kernel_type"));
  const bool antialias = c.node().attr<bool>("antialias");
  const Shape &grads = c.shape(0), &image = c.output_shape();
  auto spans = [&](int dimension) {
    const int64_t out = grads[dimension], in = image[dimension];
    return turned(make_spans(filter, out, in, placement(c, dimension - 1), antialias), out, in);
  };
  gather(c, grads, image, spans(1), spans(2));
}

}  // namespace

OpDef scale_and_translate_op() {
  return {.name = "ScaleAndTranslate",
          .inputs = "images:T; size:int32; scale:float; translation:float",
          .outputs = "resized_images:float",
          .attrs =
              "T:type{int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double}; "
              "kernel_type:string='lanczos3'; antialias:bool=True",
          .host = "size, scale, translation",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>}};
}

OpDef scale_and_translate_grad_op() {
  return {.name = "ScaleAndTranslateGrad",
          .inputs = "grads:T; original_image:T; scale:float; translation:float",
          .outputs = "output:T",
          .attrs = "T:type{float}; kernel_type:string='lanczos3'; antialias:bool=True",
          .host = "scale, translation",
          .infer = infer_grad,
          .cpu = {.select = kernel_any<cpu_grad>}};
}

}  // namespace weir::ops

namespace weir::image {

Output scale_and_translate(const In& images, const In& size, const In& scale, const In& translation,
                           const ScaleAndTranslateOptions& options, std::string_view name) {
  return NodeBuilder("ScaleAndTranslate", name)
      .input(images)
      .input(size)
      .input(scale)
      .input(translation)
      .attr("kernel_type", options.kernel_type)
      .attr("antialias", options.antialias)
      .output();
}

}  // namespace weir::image
