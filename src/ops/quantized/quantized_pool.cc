#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/quantized/quantization.h"

// Pools of quantised pictures. The steps are pooled as they are; the range stays.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_pool(c);
  require_ranges(c, 1, 2);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

// Calls pool(taps) for every element of the output.
template <class T, class Pool>
void pool_all(KernelContext& c, const Pool& pool) {
  const auto& g = c.state<PoolGeometry>();
  T* out = c.output<T>();
  c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
    for_each_window(g, begin, end, [&](int64_t at, const auto& taps) { out[at] = pool(taps); });
  });
  set_range(c, c.scalar<float>(1), c.scalar<float>(2));
}

void max_cpu(KernelContext& c) {
  with_quantized(c.node().type(), [&]<class T>(T) {
    const T* x = c.input<T>(0);
    pool_all<T>(c, [&](const auto& taps) {
      const int64_t largest = largest_under(x, taps);
      return largest < 0 ? std::numeric_limits<T>::lowest() : x[largest];
    });
  });
}

// Whole numbers are divided towards zero, as TensorFlow does it.
void avg_cpu(KernelContext& c) {
  with_quantized(c.node().type(), [&]<class T>(T) {
    const T* x = c.input<T>(0);
    pool_all<T>(c, [&](const auto& taps) {
      int64_t sum = 0, count = 0;
      taps([&](int64_t i) {
        sum += x[i];
        ++count;
      });
      return static_cast<T>(count == 0 ? 0 : sum / count);
    });
  });
}

template <ComputeFn kFn>
ComputeFn select(const NodeView& node) {
  return node.type() == DType::QUInt8 || node.type() == DType::QInt8 ? kFn : nullptr;
}

OpDef row(std::string_view name, ComputeFn (*select_fn)(const NodeView&)) {
  return {
      .name = name,
      .inputs = "input:T; min_input:float; max_input:float",
      .outputs = "output:T; min_output:float; max_output:float",
      .attrs =
          "T:type{qint8,quint8,qint32,qint16,quint16}; ksize:list(int); strides:list(int); padding:string{SAME,VALID}",
      .infer = infer,
      .cpu = {.select = select_fn, .prepare = prepared<prepare_pool>}};
}

}  // namespace

OpDef quantized_avg_pool_op() { return row("QuantizedAvgPool", select<avg_cpu>); }
OpDef quantized_max_pool_op() { return row("QuantizedMaxPool", select<max_cpu>); }

}  // namespace weir::ops
