#include "ops/array/array_util.h"
#include "ops/nn/window.h"
#include "ops/quantized/quantization.h"

// Products of quantised numbers in 32 bits, as plain reference code: what graphs made by TensorFlow 1's quantisers
// need.
namespace weir::ops {
namespace {

bool is_8_bits(DType dtype) { return dtype == DType::QUInt8 || dtype == DType::QInt8; }

void set_scalars(InferContext& c) {
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

// The range of a 32-bit sum of products of steps.
template <class A, class B>
void set_product_range(KernelContext& c, const Quantization<A>& a, const Quantization<B>& b) {
  const float step = a.one_step() * b.one_step();
  set_range(c, step * static_cast<float>(std::numeric_limits<int32_t>::lowest()),
            step * static_cast<float>(std::numeric_limits<int32_t>::max()));
}

// The step that stands for zero.
template <class T>
int64_t zero_of(const Quantization<T>& range) {
  return range.unclamped(0.0f);
}

int32_t wrapped(int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum))); }

void infer_mat_mul(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  require_ranges(c, 2, 4);
  const Shape a = c.input(0).merged(Shape::unknown_dims(2)), b = c.input(1).merged(Shape::unknown_dims(2));
  const int at = c.attr<bool>("transpose_a") ? 1 : 0, bt = c.attr<bool>("transpose_b") ? 1 : 0;
  const int64_t inner_a = a[1 - at], inner_b = b[bt];
  if (inner_a != kUnknown && inner_b != kUnknown && inner_a != inner_b) {
    throw invalid_argument("Matrix size-compatible: In[0]: {}, In[1]: {}", a.str(), b.str());
  }
  c.set_output(0, Shape{a[at], b[1 - bt]});
  set_scalars(c);
}

struct Transposes {
  bool a, b;
};
Transposes prepare_mat_mul(PrepareContext& c) { return {c.attr<bool>("transpose_a"), c.attr<bool>("transpose_b")}; }

void mat_mul_cpu(KernelContext& c) {
  const auto [at, bt] = c.state<Transposes>();
  const int64_t m = c.output_shape()[0], n = c.output_shape()[1], k = c.shape(0)[at ? 0 : 1];
  with_quantized(c.node().type("T1"), [&]<class A>(A) {
    with_quantized(c.node().type("T2"), [&]<class B>(B) {
      const auto a_range = range_input<A>(c, 2, 3);
      const auto b_range = range_input<B>(c, 4, 5);
      const int64_t a_zero = zero_of(a_range), b_zero = zero_of(b_range);
      const A* a = c.input<A>(0);
      const B* b = c.input<B>(1);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          int64_t sum = 0;
          for (int64_t l = 0; l < k; ++l) {
            sum += (static_cast<int64_t>(a[c.state<Transposes>().a ? l * m + i : i * k + l]) - a_zero) *
                   (static_cast<int64_t>(b[c.state<Transposes>().b ? j * k + l : l * n + j]) - b_zero);
          }
          c.output<int32_t>()[i * n + j] = wrapped(sum);
        }
      }
      set_product_range(c, a_range, b_range);
    });
  });
}

ComputeFn select_mat_mul(const NodeView& node) {
  const bool fits = is_8_bits(node.type("T1")) && is_8_bits(node.type("T2")) && node.type("Toutput") == DType::QInt32;
  return fits ? mat_mul_cpu : nullptr;
}

ConvGeometry geometry_of(const Shape& input, const Shape& filter, const AttrMap& attrs) {
  const auto &strides = attrs.get<std::vector<int64_t>>("strides"),
             &dilations = attrs.get<std::vector<int64_t>>("dilations");
  if (strides.size() != 4 || strides[0] != 1 || strides[3] != 1 || strides[1] < 1 || strides[2] < 1) {
    throw invalid_argument("Current implementation only supports strides over rows and columns.");
  }
  for (int64_t d : dilations) {
    if (d != 1) throw invalid_argument("Current implementation only supports dilated rate as 1 in all dimensions.");
  }
  const Shape in = input.merged(Shape::unknown_dims(4)), taps = filter.merged(Shape::unknown_dims(4));
  if (in[3] != kUnknown && taps[2] != kUnknown && in[3] != taps[2]) {
    throw invalid_argument("input and filter must have the same depth: {} vs {}", in[3], taps[2]);
  }
  ConvGeometry g;
  g.batch = in[0];
  g.in_channels = in[3];
  g.out_channels = taps[3];
  g.layout = image_layout("NHWC");
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  g.height = {.in = in[1], .size = taps[0], .stride = strides[1]};
  g.width = {.in = in[2], .size = taps[1], .stride = strides[2]};
  place_window(g.height, padding, 1);
  place_window(g.width, padding, 2);
  return g;
}

void infer_conv(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 4);
  require_ranges(c, 2, 4);
  c.set_output(0, geometry_of(c.input(0), c.input(1), c.attrs()).output());
  set_scalars(c);
}

ConvGeometry prepare_conv(PrepareContext& c) { return geometry_of(c.input(0), c.input(1), c.node().attrs()); }

// What lies outside is zero, so that it adds nothing.
void conv_cpu(KernelContext& c) {
  const auto& g = c.state<ConvGeometry>();
  with_quantized(c.node().type("Tinput"), [&]<class A>(A) {
    with_quantized(c.node().type("Tfilter"), [&]<class B>(B) {
      const auto a_range = range_input<A>(c, 2, 3);
      const auto b_range = range_input<B>(c, 4, 5);
      const int64_t a_zero = zero_of(a_range), b_zero = zero_of(b_range);
      c.pool().parallel_for(g.batch * g.height.out, 1, [&](int64_t begin, int64_t end) {
        std::vector<int64_t> sums(static_cast<size_t>(g.out_channels));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t n = i / g.height.out, row = i % g.height.out;
          const Taps rows(g.height, row);
          for (int64_t column = 0; column < g.width.out; ++column) {
            std::fill(sums.begin(), sums.end(), 0);
            const Taps columns(g.width, column);
            for (int64_t y = rows.first; y < rows.last; ++y) {
              for (int64_t x = columns.first; x < columns.last; ++x) {
                const int64_t in_y = row * g.height.stride - g.height.pad_before + y;
                const int64_t in_x = column * g.width.stride - g.width.pad_before + x;
                const A* pixel = c.input<A>(0) + ((n * g.height.in + in_y) * g.width.in + in_x) * g.in_channels;
                const B* weights = c.input<B>(1) + (y * g.width.size + x) * g.in_channels * g.out_channels;
                for (int64_t d = 0; d < g.in_channels; ++d, weights += g.out_channels) {
                  const int64_t value = static_cast<int64_t>(pixel[d]) - a_zero;
                  for (int64_t q = 0; q < g.out_channels; ++q) {
                    sums[static_cast<size_t>(q)] += value * (static_cast<int64_t>(weights[q]) - b_zero);
                  }
                }
              }
            }
            int32_t* out = c.output<int32_t>() + (i * g.width.out + column) * g.out_channels;
            for (int64_t q = 0; q < g.out_channels; ++q) out[q] = wrapped(sums[static_cast<size_t>(q)]);
          }
        }
      });
      set_product_range(c, a_range, b_range);
    });
  });
}

ComputeFn select_conv(const NodeView& node) {
  const bool fits =
      is_8_bits(node.type("Tinput")) && is_8_bits(node.type("Tfilter")) && node.type("out_type") == DType::QInt32;
  return fits ? conv_cpu : nullptr;
}

void infer_bias(InferContext& c) {
  c.require_min_rank(0, 2);
  c.require_rank(1, 1);
  require_ranges(c, 2, 4);
  const Shape &x = c.input(0), &bias = c.input(1);
  if (x.has_rank() && bias.has_rank() && x[-1] != kUnknown && bias[0] != kUnknown && x[-1] != bias[0]) {
    throw invalid_argument("Must provide as many biases as the last dimension of the input tensor: {} vs. {}",
                           bias.str(), x.str());
  }
  c.set_output(0, x);
  set_scalars(c);
}

// In a range that has room for sums of many.
void bias_cpu(KernelContext& c) {
  with_quantized(c.node().type("T1"), [&]<class A>(A) {
    with_quantized(c.node().type("T2"), [&]<class B>(B) {
      const auto x_range = range_input<A>(c, 2, 3);
      const auto bias_range = range_input<B>(c, 4, 5);
      const float most = std::max({x_range.max, -x_range.min, bias_range.max, -bias_range.min});
      const Quantization<int32_t> total{-most * (1 << 17), most * (1 << 17)};
      const int64_t zero = total.from_float(0.0f), depth = c.elements(1);
      for (int64_t i = 0; i < c.elements(0); ++i) {
        const int64_t x = total.from_float(x_range.to_float(c.input<A>(0)[i]));
        const int64_t bias = total.from_float(bias_range.to_float(c.input<B>(1)[i % depth]));
        c.output<int32_t>()[i] = wrapped(x + bias - zero);
      }
      set_range(c, total.min, total.max);
    });
  });
}

ComputeFn select_bias(const NodeView& node) {
  const bool fits = is_8_bits(node.type("T1")) && is_8_bits(node.type("T2")) && node.type("out_type") == DType::QInt32;
  return fits ? bias_cpu : nullptr;
}

void infer_relu(InferContext& c) {
  require_ranges(c, 1, c.inputs() - 1);
  c.set_output(0, c.input(0));
  set_scalars(c);
}

// Negative numbers become zero, and those above a limit the limit; the range stays.
template <int kRange>
void relu(KernelContext& c, float limit) {
  with_quantized(c.node().type("Tinput"), [&]<class T>(T) {
    const auto range = range_input<T>(c, kRange, kRange + 1);
    const T low = range.from_float(0.0f),
            high = std::isinf(limit) ? std::numeric_limits<T>::max() : range.from_float(limit);
    for (int64_t i = 0; i < c.elements(0); ++i) c.output<T>()[i] = std::min(std::max(c.input<T>(0)[i], low), high);
    set_range(c, range.min, range.max);
  });
}
void relu_cpu(KernelContext& c) { relu<1>(c, std::numeric_limits<float>::infinity()); }
void relu6_cpu(KernelContext& c) { relu<1>(c, 6.0f); }
void relu_x_cpu(KernelContext& c) { relu<2>(c, c.scalar<float>(1)); }

template <ComputeFn kFn>
ComputeFn select_relu(const NodeView& node) {
  return node.type("Tinput") == node.type("out_type") ? kFn : nullptr;
}

OpDef relu_row(std::string_view name, std::string_view inputs, ComputeFn (*select)(const NodeView&)) {
  return {
      .name = name,
      .inputs = inputs,
      .outputs = "activations:out_type; min_activations:float; max_activations:float",
      .attrs =
          "Tinput:type{qint8,quint8,qint32,qint16,quint16}; out_type:type{qint8,quint8,qint32,qint16,quint16}=quint8",
      .infer = infer_relu,
      .cpu = {.select = select}};
}

}  // namespace

OpDef quantized_mat_mul_op() {
  return {
      .name = "QuantizedMatMul",
      .inputs = "a:T1; b:T2; min_a:float; max_a:float; min_b:float; max_b:float",
      .outputs = "out:Toutput; min_out:float; max_out:float",
      .attrs =
          "T1:type{qint8,quint8,qint32,qint16,quint16}; T2:type{qint8,quint8,qint32,qint16,quint16}; "
          "Toutput:type{qint8,quint8,qint32,qint16,quint16}=qint32; transpose_a:bool=False; transpose_b:bool=False; "
          "Tactivation:type{qint8,quint8,qint32,qint16,quint16}=quint8",
      .infer = infer_mat_mul,
      .cpu = {.select = select_mat_mul, .prepare = prepared<prepare_mat_mul>}};
}

OpDef quantized_conv2d_op() {
  return {
      .name = "QuantizedConv2D",
      .inputs = "input:Tinput; filter:Tfilter; min_input:float; max_input:float; min_filter:float; max_filter:float",
      .outputs = "output:out_type; min_output:float; max_output:float",
      .attrs =
          "Tinput:type{qint8,quint8,qint32,qint16,quint16}; Tfilter:type{qint8,quint8,qint32,qint16,quint16}; "
          "out_type:type{qint8,quint8,qint32,qint16,quint16}=qint32; strides:list(int); padding:string{SAME,VALID}; "
          "dilations:list(int)=[1, 1, 1, 1]",
      .infer = infer_conv,
      .cpu = {.select = select_conv, .prepare = prepared<prepare_conv>}};
}

OpDef quantized_bias_add_op() {
  return {.name = "QuantizedBiasAdd",
          .inputs = "input:T1; bias:T2; min_input:float; max_input:float; min_bias:float; max_bias:float",
          .outputs = "output:out_type; min_out:float; max_out:float",
          .attrs =
              "T1:type{qint8,quint8,qint32,qint16,quint16}; T2:type{qint8,quint8,qint32,qint16,quint16}; "
              "out_type:type{qint8,quint8,qint32,qint16,quint16}",
          .infer = infer_bias,
          .cpu = {.select = select_bias}};
}

OpDef quantized_relu_op() {
  return relu_row("QuantizedRelu", "features:Tinput; min_features:float; max_features:float", select_relu<relu_cpu>);
}
OpDef quantized_relu6_op() {
  return relu_row("QuantizedRelu6", "features:Tinput; min_features:float; max_features:float", select_relu<relu6_cpu>);
}
OpDef quantized_relu_x_op() {
  return relu_row("QuantizedReluX", "features:Tinput; max_value:float; min_features:float; max_features:float",
                  select_relu<relu_x_cpu>);
}

}  // namespace weir::ops
