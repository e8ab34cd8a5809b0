#include "ops/broadcast.h"
#include "ops/quantized/quantization.h"

// Sums and products of quantised numbers, element by element, in 32 bits.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer::broadcast_binary(c);
  require_ranges(c, 2, 4);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

BroadcastPlan prepare(PrepareContext& c) {
  const Shape* operands[] = {&c.input(0), &c.input(1)};
  return BroadcastPlan(operands, c.output());
}

struct Ranges {
  Quantization<uint8_t> x, y;
};

// TensorFlow refuses a vector of nothing under a matrix, and ranges without a width.
Ranges operand_ranges(const KernelContext& c) {
  const Ranges ranges{{c.scalar<float>(2), c.scalar<float>(3)}, {c.scalar<float>(4), c.scalar<float>(5)}};
  if (!(ranges.x.max > ranges.x.min)) throw invalid_argument("max_x must be larger than min_x.");
  if (!(ranges.y.max > ranges.y.min)) throw invalid_argument("max_y must be larger than min_y.");
  if (!(std::isfinite(ranges.x.max - ranges.x.min) && std::isfinite(ranges.y.max - ranges.y.min))) {
    throw invalid_argument("the ranges [{}, {}] and [{}, {}] are not finite", ranges.x.min, ranges.x.max, ranges.y.min,
                           ranges.y.max);
  }
  if (c.output_elements() == 0 && c.shape(0) != c.shape(1))
    throw invalid_argument("vector must have at least 1 element");
  return ranges;
}

// Calls combine(x, y) for each element of the output; `x` and `y` give the operands' numbers for their steps.
template <class X, class Y, class Combine>
void for_each_pair(KernelContext& c, const X& x, const Y& y, const Combine& combine) {
  const auto& plan = c.state<BroadcastPlan>();
  const auto *a = c.input<uint8_t>(0), *b = c.input<uint8_t>(1);
  auto* out = c.output<int32_t>();
  c.pool().parallel_for(plan.elements(), 16384, [&](int64_t begin, int64_t end) {
    const int64_t step_a = plan.moves(0), step_b = plan.moves(1);
    plan.for_each_piece(begin, end, [&](const int64_t* offsets, int64_t at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        out[at + i] = combine(x(a[offsets[0] + i * step_a]), y(b[offsets[1] + i * step_b]));
    });
  });
}

// The steps of a 32-bit range that 8-bit steps become. As in TensorFlow those of many lie on a line through the first
// two, and a single one is rounded by itself.
struct Line {
  Quantization<uint8_t> from;
  Quantization<int32_t> to;
  bool single;
  int64_t first, slope;

  Line(const Quantization<uint8_t>& range, const Quantization<int32_t>& total, bool is_single)
      : from(range),
        to(total),
        single(is_single),
        first(to.unclamped(from.to_float(0))),
        slope(static_cast<int32_t>(to.unclamped(from.to_float(1)) - first)) {}
  int64_t operator()(uint8_t step) const {
    if (single) return to.from_float(from.to_float(step));
    return std::clamp<int64_t>(first + step * slope, std::numeric_limits<int32_t>::lowest(),
                               std::numeric_limits<int32_t>::max());
  }
};

int32_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value))); }

// In a range with room for the sums of many, around zero, so that adding zero changes nothing.
void add_cpu(KernelContext& c) {
  const Ranges ranges = operand_ranges(c);
  const float least = std::min(ranges.x.min, ranges.y.min), most = std::max(ranges.x.max, ranges.y.max);
  const float end = std::max(std::abs(least), std::abs(most)) * (1 << 14);
  if (!std::isfinite(end)) throw invalid_argument("the range of the sum is not finite");
  const Quantization<int32_t> total{-end, end};
  const bool one_x = c.elements(0) == 1, one_y = !one_x && c.elements(1) == 1;
  for_each_pair(c, Line(ranges.x, total, one_x), Line(ranges.y, total, one_y),
                [](int64_t x, int64_t y) { return wrapped(x + y); });
  set_range(c, total.min, total.max);
}

void mul_cpu(KernelContext& c) {
  const Ranges ranges = operand_ranges(c);
  const int64_t x_zero = wrapped(ranges.x.unclamped(0.0f)), y_zero = wrapped(ranges.y.unclamped(0.0f));
  for_each_pair(
      c, [&](int64_t x) { return x - x_zero; }, [&](int64_t y) { return y - y_zero; },
      [](int64_t x, int64_t y) {
        return wrapped(static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y)));
      });
  const float step = ranges.x.one_step() * ranges.y.one_step();
  set_range(c, step * static_cast<float>(std::numeric_limits<int32_t>::lowest()),
            step * static_cast<float>(std::numeric_limits<int32_t>::max()));
}

template <ComputeFn kFn>
ComputeFn select(const NodeView& node) {
  const bool fits =
      node.type("T1") == DType::QUInt8 && node.type("T2") == DType::QUInt8 && node.type("Toutput") == DType::QInt32;
  return fits ? kFn : nullptr;
}

OpDef row(std::string_view name, ComputeFn (*select_fn)(const NodeView&)) {
  return {.name = name,
          .inputs = "x:T1; y:T2; min_x:float; max_x:float; min_y:float; max_y:float",
          .outputs = "z:Toutput; min_z:float; max_z:float",
          .attrs =
              "T1:type{qint8,quint8,qint32,qint16,quint16}; T2:type{qint8,quint8,qint32,qint16,quint16}; "
              "Toutput:type{qint8,quint8,qint32,qint16,quint16}=qint32",
          .flags = "",
          .infer = infer,
          .cpu = {.select = select_fn, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef quantized_add_op() { return row("QuantizedAdd", select<add_cpu>); }
OpDef quantized_mul_op() { return row("QuantizedMul", select<mul_cpu>); }

}  // namespace weir::ops
