#include "ops/quantized/symmetric.h"

// Products of quantised matrices with a bias and what follows it; plain reference code. TensorFlow has these in its MKL
// builds. The weights' zero is step 0. That of `a` is, too, in mode SCALED; in mode MIN_FIRST its step 0 is the range's
// lower end, which the bias makes up for.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  c.require_rank(2, 1);
  require_ranges(c, 3, c.inputs() - 3);
  const Shape a = c.input(0).merged(Shape::unknown_dims(2)), b = c.input(1).merged(Shape::unknown_dims(2));
  const Shape bias = c.input(2).merged(Shape::unknown_dims(1));
  const int at = c.attr<bool>("transpose_a") ? 1 : 0, bt = c.attr<bool>("transpose_b") ? 1 : 0;
  const int64_t inner_a = a[1 - at], inner_b = b[bt], columns = b[1 - bt];
  if (inner_a != kUnknown && inner_b != kUnknown && inner_a != inner_b) {
    throw invalid_argument("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.str(), b.str());
  }
  if (bias[0] != kUnknown && columns != kUnknown && bias[0] != columns) {
    throw invalid_argument("the bias has {} elements for {} columns", bias[0], columns);
  }
  c.set_output(0, Shape{a[at], columns == kUnknown ? bias[0] : columns});
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

struct Sizes {
  int64_t rows, columns, inner;
  bool transpose_a, transpose_b;
  bool min_first;

  int64_t a(int64_t i, int64_t k) const { return transpose_a ? k * rows + i : i * inner + k; }
  int64_t b(int64_t k, int64_t j) const { return transpose_b ? j * inner + k : k * columns + j; }
};

Sizes prepare(PrepareContext& c) {
  const bool at = c.attr<bool>("transpose_a"), bt = c.attr<bool>("transpose_b");
  return {c.output()[0],
          c.output()[1],
          c.input(0)[at ? 0 : 1],
          at,
          bt,
          c.attr<std::string>("input_quant_mode") == "MIN_FIRST"};
}

// The width of a step of the sums.
float sum_step(const KernelContext& c, bool min_first) {
  const float min = c.scalar<float>(3), max = c.scalar<float>(4);
  const float in = (min_first ? max - min : larger_end(min, max)) / 255.0f;
  return in * larger_end(c.scalar<float>(5), c.scalar<float>(6)) / 127.0f;
}

// A bias in 32 bits has been made up for the range already.
Epilogue epilogue_of(const KernelContext& c, const Sizes& s, bool relu, bool requantize) {
  Epilogue e{.bias = {}, .relu = relu, .scales = {}};
  const float step = sum_step(c, s.min_first), min = c.scalar<float>(3), max = c.scalar<float>(4);
  const float lowest = s.min_first ? 255 * min / (max - min) : 0.0f;
  for (int64_t j = 0; j < s.columns; ++j) {
    if (c.dtype(2) == DType::QInt32) {
      e.bias.push_back(c.input<int32_t>(2)[j]);
      continue;
    }
    int64_t weights = 0;
    for (int64_t k = 0; s.min_first && k < s.inner; ++k) weights += c.input<int8_t>(1)[s.b(k, j)];
    e.bias.push_back(to_step<int32_t>(c.input<float>(2)[j] / step + static_cast<float>(weights) * lowest));
  }
  if (requantize)
    e.scales = {step /
                (larger_end(c.scalar<float>(7), c.scalar<float>(8)) / symmetric_limit(c.node().type("Toutput")))};
  return e;
}

template <class Out>
void cpu(KernelContext& c, bool relu) {
  constexpr bool kRequantize = sizeof(Out) == 1;
  const auto& s = c.state<Sizes>();
  const Epilogue epilogue = epilogue_of(c, s, relu, kRequantize);
  const auto* a = c.input<uint8_t>(0);
  const auto* b = c.input<int8_t>(1);
  c.pool().parallel_for(s.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < s.columns; ++j) {
        int64_t products = 0;
        for (int64_t k = 0; k < s.inner; ++k) products += int64_t{a[s.a(i, k)]} * b[s.b(k, j)];
        int64_t sum = epilogue.sum(products, j);
        if (relu) sum = std::max<int64_t>(sum, 0);
        if constexpr (kRequantize) {
          c.output<Out>()[i * s.columns + j] = to_step<Out>(epilogue.scaled(sum, j));
        } else {
          c.output<Out>()[i * s.columns + j] = saturated(sum);
        }
      }
    }
  });
  if (kRequantize) return set_range(c, c.scalar<float>(7), c.scalar<float>(8));
  const float step = even_step(DType::QUInt8, c.scalar<float>(3), c.scalar<float>(4)) *
                     even_step(DType::QInt8, c.scalar<float>(5), c.scalar<float>(6));
  set_range(c, lowest_of_32_bits(step), highest_of_32_bits(step));
}
template <class Out, bool kRelu>
void cpu(KernelContext& c) {
  cpu<Out>(c, kRelu);
}

template <bool kRelu, bool kRequantize>
ComputeFn select(const NodeView& node) {
  const DType out = node.type("Toutput");
  if (node.type("T1") != DType::QUInt8 || node.type("T2") != DType::QInt8) return nullptr;
  if (!kRequantize) return out == DType::QInt32 ? cpu<int32_t, kRelu> : nullptr;
  return out == DType::QUInt8 ? cpu<uint8_t, kRelu> : out == DType::QInt8 ? cpu<int8_t, kRelu> : nullptr;
}

#define WEIR_Q "type{qint8,quint8,qint32,qint16,quint16}"
#define WEIR_TYPES "T1:" WEIR_Q "; T2:" WEIR_Q "; "
#define WEIR_RANGES "min_a:float; max_a:float; min_b:float; max_b:float"
#define WEIR_MODES \
  "transpose_a:bool=False; transpose_b:bool=False; input_quant_mode:string{MIN_FIRST,SCALED}='MIN_FIRST'"

OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs,
          ComputeFn (*select_fn)(const NodeView&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "out:Toutput; min_out:float; max_out:float",
          .attrs = attrs,
          .infer = infer,
          .cpu = {.select = select_fn, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef quantized_mat_mul_with_bias_op() {
  return row("QuantizedMatMulWithBias", "a:T1; b:T2; bias:Tbias; " WEIR_RANGES,
             WEIR_TYPES "Tbias:type{float,qint32}; Toutput:" WEIR_Q "=qint32; " WEIR_MODES, select<false, false>);
}
OpDef quantized_mat_mul_with_bias_and_relu_op() {
  return row("QuantizedMatMulWithBiasAndRelu", "a:T1; b:T2; bias:float; " WEIR_RANGES,
             WEIR_TYPES "Toutput:" WEIR_Q "=qint32; " WEIR_MODES, select<true, false>);
}
OpDef quantized_mat_mul_with_bias_and_relu_and_requantize_op() {
  return row("QuantizedMatMulWithBiasAndReluAndRequantize",
             "a:T1; b:T2; bias:Tbias; " WEIR_RANGES "; min_freezed_output:float; max_freezed_output:float",
             WEIR_TYPES "Tbias:type{float,qint32}; Toutput:" WEIR_Q "=quint8; " WEIR_MODES, select<true, true>);
}

}  // namespace weir::ops
