#include "ops/nn/window.h"
#include "ops/quantized/symmetric.h"

// Convolutions of quantised pictures with what follows them: a bias, another picture, rectification, 8 bits again. One
// implementation, plain reference code; rows say what is fused. TensorFlow has these in its MKL builds.
namespace weir::ops {
namespace {

struct Fusion {
  bool depthwise = false, bias = false, relu = false, requantize = false;
  enum Sum { None, OfFloats, OfSteps } sum = None;
};

// Where inputs stand.
struct Places {
  int bias = 2, min_input, min_filter, min_output = -1, summand = -1, min_summand = -1;

  explicit Places(const Fusion& f) : min_input(f.bias ? 3 : 2), min_filter(min_input + 2) {
    int next = min_filter + 2;
    if (f.requantize) {
      min_output = next;
      next += 2;
    }
    if (f.sum != Fusion::None) summand = next;
    if (f.sum == Fusion::OfSteps) min_summand = next + 1;
  }
};

PaddingAttrs padding_of(const AttrMap& attrs) {
  PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  if (!attrs.find("padding_list")) return padding;
  const auto& list = attrs.get<std::vector<int64_t>>("padding_list");
  if (list.empty()) return padding;
  if (list.size() != 8) throw invalid_argument("padding_list must have 8 entries; it has {}", list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const bool outside = i < 2 || i > 5;
    if (list[i] < 0 || (outside && list[i] != 0))
      throw invalid_argument("padding_list pads rows and columns by at least nothing; entry {} is {}", i, list[i]);
  }
  return {"EXPLICIT", list};
}

// In a depthwise convolution each channel of the input has filters of its own, as many as the last dimension says.
ConvGeometry geometry_of(const Shape& input, const Shape& filter, const AttrMap& attrs, bool depthwise) {
  const auto &strides = attrs.get<std::vector<int64_t>>("strides"),
             &dilations = attrs.get<std::vector<int64_t>>("dilations");
  for (const auto* list : {&strides, &dilations}) {
    if (list->size() != 4 || (*list)[0] != 1 || (*list)[3] != 1 || (*list)[1] < 1 || (*list)[2] < 1) {
      throw invalid_argument(
          "strides and dilations have four entries, all positive, and those of batch and depth are 1");
    }
  }
  const Shape in = input.merged(Shape::unknown_dims(4)), taps = filter.merged(Shape::unknown_dims(4));
  if (in[3] != kUnknown && taps[2] != kUnknown && in[3] != taps[2]) {
    throw invalid_argument("input and filter must have the same depth: {} vs {}", in[3], taps[2]);
  }
  ConvGeometry g;
  g.batch = in[0];
  g.in_channels = in[3] == kUnknown ? taps[2] : in[3];
  g.out_channels = taps[3];
  if (depthwise)
    g.out_channels =
        g.in_channels == kUnknown || taps[3] == kUnknown ? kUnknown : checked_multiply(g.in_channels, taps[3]);
  g.layout = image_layout("NHWC");
  const PaddingAttrs padding = padding_of(attrs);
  g.height = {.in = in[1], .size = taps[0], .stride = strides[1], .dilation = dilations[1]};
  g.width = {.in = in[2], .size = taps[1], .stride = strides[2], .dilation = dilations[2]};
  if (taps[0] == 0 || taps[1] == 0) throw invalid_argument("the filter has no taps: {}", filter.str());
  place_window(g.height, padding, 1);
  place_window(g.width, padding, 2);
  return g;
}

// The ends of the filter's range: single numbers, or one for each channel of the output.
Shape filter_range(InferContext& c, int at, int64_t channels) {
  Shape range = Shape::unknown();
  for (int i = at; i < at + 2; ++i) {
    const Shape& shape = c.input(i);
    if (!shape.has_rank()) continue;
    if (shape.rank() > 1) throw invalid_argument("Shape must be at most rank 1 but is rank {}", shape.rank());
    if (shape.rank() == 1 && shape[0] != kUnknown && shape[0] != 1 && channels != kUnknown && shape[0] != channels) {
      throw invalid_argument(
          "`min_ and max_filter` must have one element, or one for each of {} channels; the shape is {}", channels,
          shape.str());
    }
    range = range.merged(shape);
  }
  return range;
}

template <Fusion kF>
void infer(InferContext& c) {
  const Places at(kF);
  c.require_rank(0, 4);
  c.require_rank(1, 4);
  const ConvGeometry g = geometry_of(c.input(0), c.input(1), c.attrs(), kF.depthwise);
  if (kF.bias) {
    c.require_rank(at.bias, 1);
    const Shape bias = c.input(at.bias).merged(Shape::unknown_dims(1));
    if (bias[0] != kUnknown && g.out_channels != kUnknown && bias[0] != g.out_channels) {
      throw invalid_argument("the bias has {} elements for {} channels", bias[0], g.out_channels);
    }
  }
  require_ranges(c, at.min_input, 2);
  const Shape range = filter_range(c, at.min_filter, g.out_channels);
  if (kF.requantize) require_ranges(c, at.min_output, 2);
  Shape out = g.output();
  if (kF.sum != Fusion::None) out = out.merged(c.input(at.summand));
  if (kF.sum == Fusion::OfSteps) require_ranges(c, at.min_summand, 2);
  c.set_output(0, out);
  c.set_output(1, kF.requantize ? Shape{} : range);
  c.set_output(2, kF.requantize ? Shape{} : range);
}

struct State {
  ConvGeometry g;
};
template <Fusion kF>
State prepare(PrepareContext& c) {
  return {geometry_of(c.input(0), c.input(1), c.node().attrs(), kF.depthwise)};
}

// The width of a step of the sums, for each entry of the filter's range.
std::vector<float> sum_steps(const KernelContext& c, const Places& at) {
  const DType input = c.node().type("Tinput");
  const float in =
      larger_end(c.scalar<float>(at.min_input), c.scalar<float>(at.min_input + 1)) / symmetric_limit(input);
  std::vector<float> steps(static_cast<size_t>(c.elements(at.min_filter)));
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] = in * larger_end(c.input<float>(at.min_filter)[i], c.input<float>(at.min_filter + 1)[i]) / 127.0f;
  }
  if (steps.empty()) throw invalid_argument("`min_ and max_filter` must have at least one element");
  return steps;
}

template <class T>
T of_channel(const std::vector<T>& list, int64_t channel) {
  return list[list.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

Epilogue epilogue_of(const KernelContext& c, const Fusion& f, const Places& at, const std::vector<float>& steps,
                     int64_t channels) {
  Epilogue e{.bias = {}, .relu = f.relu, .scales = {}};
  for (int64_t q = 0; f.bias && q < channels; ++q) {
    const bool whole = c.dtype(at.bias) == DType::QInt32;
    e.bias.push_back(whole ? c.input<int32_t>(at.bias)[q]
                           : to_step<int32_t>(c.input<float>(at.bias)[q] / of_channel(steps, q)));
  }
  if (f.requantize) {
    const float out = larger_end(c.scalar<float>(at.min_output), c.scalar<float>(at.min_output + 1)) /
                      symmetric_limit(c.node().type("out_type"));
    for (float step : steps) e.scales.push_back(step / out);
  }
  return e;
}

// Sums of products over the window of one place of the output, for every channel.
template <class In>
void add_products(const ConvGeometry& g, bool depthwise, const In* picture, const int8_t* filter, int64_t row,
                  int64_t column, std::vector<int64_t>& sums) {
  const int64_t filters = depthwise ? g.out_channels / std::max<int64_t>(g.in_channels, 1) : g.out_channels;
  const Taps rows(g.height, row), columns(g.width, column);
  for (int64_t y = rows.first; y < rows.last; ++y) {
    for (int64_t x = columns.first; x < columns.last; ++x) {
      const int64_t in_y = row * g.height.stride - g.height.pad_before + y * g.height.dilation;
      const int64_t in_x = column * g.width.stride - g.width.pad_before + x * g.width.dilation;
      const In* pixel = picture + (in_y * g.width.in + in_x) * g.in_channels;
      const int8_t* weights = filter + (y * g.width.size + x) * g.in_channels * filters;
      for (int64_t d = 0; d < g.in_channels; ++d, weights += filters) {
        int64_t* sum = sums.data() + (depthwise ? d * filters : 0);
        for (int64_t q = 0; q < filters; ++q) sum[q] += int64_t{pixel[d]} * weights[q];
      }
    }
  }
}

// The element of the summand at a place, in steps of the result.
class Summand {
 public:
  Summand(const KernelContext& c, const Fusion& f, const Places& at, const std::vector<float>& steps) : steps_(steps) {
    if (f.sum == Fusion::OfFloats) floats_ = c.input<float>(at.summand);
    if (f.sum != Fusion::OfSteps) return;
    const DType type = c.node().type("Tsummand"), out = c.node().type("out_type");
    (type == DType::QUInt8 ? unsigned_ : signed_) = c.raw_input(at.summand);
    const float step =
        larger_end(c.scalar<float>(at.min_summand), c.scalar<float>(at.min_summand + 1)) / symmetric_limit(type);
    scale_ =
        step / (larger_end(c.scalar<float>(at.min_output), c.scalar<float>(at.min_output + 1)) / symmetric_limit(out));
  }
  int64_t in_sums(int64_t i, int64_t channel) const {
    return floats_ ? to_step<int32_t>(floats_[i] / of_channel(steps_, channel)) : 0;
  }
  float in_results(int64_t i) const {
    if (unsigned_) return static_cast<float>(static_cast<const uint8_t*>(unsigned_)[i]) * scale_;
    return signed_ ? static_cast<float>(static_cast<const int8_t*>(signed_)[i]) * scale_ : 0.0f;
  }

 private:
  const std::vector<float>& steps_;
  const float* floats_ = nullptr;
  const void *unsigned_ = nullptr, *signed_ = nullptr;
  float scale_ = 0;
};

template <class In, class Out>
void compute(KernelContext& c, const Fusion& f) {
  const Places at(f);
  const ConvGeometry& g = c.state<State>().g;
  const std::vector<float> steps = sum_steps(c, at);
  const Epilogue epilogue = epilogue_of(c, f, at, steps, g.out_channels);
  const Summand summand(c, f, at, steps);
  c.pool().parallel_for(g.batch * g.height.out, 1, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> sums(static_cast<size_t>(g.out_channels));
    for (int64_t i = begin; i < end; ++i) {
      const In* picture = c.input<In>(0) + i / g.height.out * g.height.in * g.width.in * g.in_channels;
      for (int64_t column = 0; column < g.width.out; ++column) {
        std::fill(sums.begin(), sums.end(), 0);
        add_products(g, f.depthwise, picture, c.input<int8_t>(1), i % g.height.out, column, sums);
        const int64_t first = (i * g.width.out + column) * g.out_channels;
        for (int64_t q = 0; q < g.out_channels; ++q) {
          const int64_t sum = epilogue.sum(sums[static_cast<size_t>(q)], q) + summand.in_sums(first + q, q);
          if constexpr (sizeof(Out) == 4) {
            c.output<Out>()[first + q] = saturated(f.relu ? std::max<int64_t>(sum, 0) : sum);
          } else {
            const float result = epilogue.scaled(sum, q) + summand.in_results(first + q);
            c.output<Out>()[first + q] = to_step<Out>(f.relu ? std::max(result, 0.0f) : result);
          }
        }
      }
    }
  });
  if (f.requantize) return set_range(c, c.scalar<float>(at.min_output), c.scalar<float>(at.min_output + 1));
  const float in = even_step(c.node().type("Tinput"), c.scalar<float>(at.min_input), c.scalar<float>(at.min_input + 1));
  for (int64_t i = 0; i < c.output_elements(1); ++i) {
    const float step =
        in * even_step(DType::QInt8, c.input<float>(at.min_filter)[i], c.input<float>(at.min_filter + 1)[i]);
    c.output<float>(1)[i] = lowest_of_32_bits(step);
    c.output<float>(2)[i] = highest_of_32_bits(step);
  }
}

template <Fusion kF, class In, class Out>
void cpu(KernelContext& c) {
  compute<In, Out>(c, kF);
}

template <Fusion kF, class In>
ComputeFn select_output(DType out) {
  if (!kF.requantize) return out == DType::QInt32 ? cpu<kF, In, int32_t> : nullptr;
  return out == DType::QUInt8 ? cpu<kF, In, uint8_t> : out == DType::QInt8 ? cpu<kF, In, int8_t> : nullptr;
}

template <Fusion kF>
ComputeFn select(const NodeView& node) {
  const DType in = node.type("Tinput"), out = node.type("out_type");
  if (node.type("Tfilter") != DType::QInt8) return nullptr;
  if (kF.sum == Fusion::OfSteps && node.type("Tsummand") != DType::QUInt8 && node.type("Tsummand") != DType::QInt8)
    return nullptr;
  return in == DType::QUInt8  ? select_output<kF, uint8_t>(out)
         : in == DType::QInt8 ? select_output<kF, int8_t>(out)
                              : nullptr;
}

template <Fusion kF>
OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "output:out_type; min_output:float; max_output:float",
          .attrs = attrs,
          .infer = infer<kF>,
          .cpu = {.select = select<kF>, .prepare = prepared<prepare<kF>>}};
}

// Signatures are literals, put together from these.
#define WEIR_Q "type{qint8,quint8,qint32,qint16,quint16}"
#define WEIR_TYPES "Tinput:" WEIR_Q "; Tfilter:" WEIR_Q "; "
#define WEIR_BIAS_TYPE "Tbias:type{float,qint32}; "
#define WEIR_OUT(type) "out_type:" WEIR_Q "=" type "; "
#define WEIR_WINDOW "strides:list(int); padding:string{SAME,VALID}; dilations:list(int)=[1, 1, 1, 1]"
#define WEIR_PADS "; padding_list:list(int)=[]"
#define WEIR_RANGES "min_input:float; max_input:float; min_filter:float; max_filter:float"
#define WEIR_FROZEN "; min_freezed_output:float; max_freezed_output:float"
#define WEIR_PLAIN "input:Tinput; filter:Tfilter; " WEIR_RANGES
#define WEIR_FLOAT_BIAS "input:Tinput; filter:Tfilter; bias:float; " WEIR_RANGES
#define WEIR_ANY_BIAS "input:Tinput; filter:Tfilter; bias:Tbias; " WEIR_RANGES WEIR_FROZEN
#define WEIR_SUMMAND "; summand:Tsummand; min_summand:float; max_summand:float"

}  // namespace

OpDef quantized_conv2d_per_channel_op() {
  return row<Fusion{}>("QuantizedConv2DPerChannel", WEIR_PLAIN, WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW);
}
OpDef quantized_conv2d_and_relu_op() {
  return row<Fusion{.relu = true}>("QuantizedConv2DAndRelu", WEIR_PLAIN,
                                   WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_and_relu_and_requantize_op() {
  return row<Fusion{.relu = true, .requantize = true}>("QuantizedConv2DAndReluAndRequantize", WEIR_PLAIN WEIR_FROZEN,
                                                       WEIR_TYPES WEIR_OUT("quint8") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_and_requantize_op() {
  return row<Fusion{.requantize = true}>("QuantizedConv2DAndRequantize", WEIR_PLAIN WEIR_FROZEN,
                                         WEIR_TYPES WEIR_OUT("qint8") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_op() {
  return row<Fusion{.bias = true}>("QuantizedConv2DWithBias", WEIR_FLOAT_BIAS,
                                   WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_and_relu_op() {
  return row<Fusion{.bias = true, .relu = true}>("QuantizedConv2DWithBiasAndRelu", WEIR_FLOAT_BIAS,
                                                 WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_and_relu_and_requantize_op() {
  return row<Fusion{.bias = true, .relu = true, .requantize = true}>(
      "QuantizedConv2DWithBiasAndReluAndRequantize", WEIR_ANY_BIAS,
      WEIR_TYPES WEIR_BIAS_TYPE WEIR_OUT("quint8") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_and_requantize_op() {
  return row<Fusion{.bias = true, .requantize = true}>("QuantizedConv2DWithBiasAndRequantize", WEIR_ANY_BIAS,
                                                       WEIR_TYPES WEIR_BIAS_TYPE WEIR_OUT("qint8")
                                                           WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_sum_and_relu_op() {
  return row<Fusion{.bias = true, .relu = true, .sum = Fusion::OfFloats}>(
      "QuantizedConv2DWithBiasSumAndRelu", WEIR_FLOAT_BIAS "; summand:float",
      WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_sum_and_relu_and_requantize_op() {
  return row<Fusion{.bias = true, .relu = true, .requantize = true, .sum = Fusion::OfSteps}>(
      "QuantizedConv2DWithBiasSumAndReluAndRequantize", WEIR_ANY_BIAS WEIR_SUMMAND,
      WEIR_TYPES WEIR_BIAS_TYPE "Tsummand:" WEIR_Q "; " WEIR_OUT("quint8") WEIR_WINDOW WEIR_PADS);
}
OpDef quantized_conv2d_with_bias_signed_sum_and_relu_and_requantize_op() {
  OpDef op = quantized_conv2d_with_bias_sum_and_relu_and_requantize_op();
  op.name = "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize";
  return op;
}

OpDef quantized_depthwise_conv2d_op() {
  return row<Fusion{.depthwise = true}>("QuantizedDepthwiseConv2D", WEIR_PLAIN,
                                        WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW);
}
OpDef quantized_depthwise_conv2d_with_bias_op() {
  return row<Fusion{.depthwise = true, .bias = true}>("QuantizedDepthwiseConv2DWithBias", WEIR_FLOAT_BIAS,
                                                      WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW);
}
OpDef quantized_depthwise_conv2d_with_bias_and_relu_op() {
  return row<Fusion{.depthwise = true, .bias = true, .relu = true}>(
      "QuantizedDepthwiseConv2DWithBiasAndRelu", WEIR_FLOAT_BIAS, WEIR_TYPES WEIR_OUT("qint32") WEIR_WINDOW);
}
OpDef quantized_depthwise_conv2d_with_bias_and_relu_and_requantize_op() {
  return row<Fusion{.depthwise = true, .bias = true, .relu = true, .requantize = true}>(
      "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", WEIR_ANY_BIAS,
      WEIR_TYPES WEIR_BIAS_TYPE WEIR_OUT("quint8") WEIR_WINDOW);
}

}  // namespace weir::ops
