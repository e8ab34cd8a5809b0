#include <cstring>

#include "ops/array/array_util.h"
#include "ops/array/concat_common.h"
#include "ops/array/reshape.h"
#include "ops/quantized/quantization.h"

// Quantised tensors in another shape, and one behind the other.
namespace weir::ops {
namespace {

bool is_moved(DType dtype) { return dtype == DType::QUInt8 || dtype == DType::QInt8 || dtype == DType::QInt32; }

void infer_quantized_reshape(InferContext& c) {
  infer_reshape(c);
  require_ranges(c, 2, 2);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

void reshape_cpu(KernelContext& c) {
  const Shape& to = c.output_shape();
  for (int i = 0; i < to.rank(); ++i) {  // a vector of one size, fed, was taken for what is left
    const int64_t size = int_at(c, 1, i);
    if (size != -1 && size != to[i]) {
      throw invalid_argument("Cannot reshape a tensor of shape {}: size {} is asked for in place of {}",
                             c.shape(0).str(), size, to[i]);
    }
  }
  std::memcpy(c.raw_output(), c.raw_input(0), static_cast<size_t>(c.elements(0)) * dtype_size(c.dtype(0)));
  set_range(c, c.scalar<float>(2), c.scalar<float>(3));
}

ComputeFn select_reshape(const NodeView& node) { return is_moved(node.type()) ? reshape_cpu : nullptr; }

int concat_values(int inputs) { return (inputs - 1) / 3; }

void infer_quantized_concat(InferContext& c) {
  const int n = concat_values(c.inputs());
  infer_concat(c, {.axis = 0, .first = 1, .count = n});
  require_ranges(c, 1 + n, 2 * n);
  const auto axis = scalar_argument(c, 0);
  if (axis && *axis < 0)
    throw invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, {}), but got {}",
                           c.output(0).rank(), *axis);
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

// The range that holds all the inputs' and zero; that of signed numbers is symmetrical.
template <class T>
Quantization<T> common_range(const KernelContext& c, int n) {
  float min = 0, max = std::numeric_limits<float>::lowest();
  for (int i = 1 + n; i < 1 + 2 * n; ++i) {
    min = std::min(min, c.scalar<float>(i));
    max = std::max(max, c.scalar<float>(i + n));
  }
  if constexpr (std::is_signed_v<T>) {
    max = std::max(std::abs(min), std::abs(max));
    min = -max;
  }
  return {min, max};
}

// Steps of one range as steps of another, in floats, as TensorFlow's concatenation does it.
template <class T>
class Mover {
 public:
  Mover(const Quantization<T>& from, const Quantization<T>& to) {
    constexpr auto kLowest = static_cast<float>(std::numeric_limits<T>::lowest());
    step_ = static_cast<float>((from.max - from.min) / kSteps<T>);
    first_ = (from.max == from.min ? from.min : std::round(from.min / step_) * step_) - kLowest * step_;
    scale_ = to.max == to.min ? 0.0f : static_cast<float>(kSteps<T> / (to.max - to.min));
    offset_ = std::round(to.min * scale_) - kLowest;
  }
  T operator()(T step) const {
    const float moved = std::round((first_ + static_cast<float>(step) * step_) * scale_) - offset_;
    // The largest float that is a 32-bit number.
    constexpr float kLow = static_cast<float>(std::numeric_limits<T>::lowest());
    constexpr float kHigh = sizeof(T) == 4 ? 2147483520.0f : static_cast<float>(std::numeric_limits<T>::max());
    return std::isnan(moved) ? T() : static_cast<T>(std::clamp(moved, kLow, kHigh));
  }

 private:
  float first_, step_, scale_, offset_;
};

void concat_cpu(KernelContext& c) {
  const int n = concat_values(c.inputs()), axis = wrap_axis(c.scalar<int32_t>(0), c.output_shape().rank());
  const int64_t outer = product(c.output_shape(), 0, axis);
  const int64_t out_row = product(c.output_shape(), axis, c.output_shape().rank());
  with_quantized(c.node().type(), [&]<class T>(T) {
    const auto to = common_range<T>(c, n);
    int64_t at = 0;
    for (int i = 1; i <= n; ++i) {
      const Quantization<T> from{c.scalar<float>(i + n), c.scalar<float>(i + 2 * n)};
      const Mover<T> move(from, to);
      const bool same = from.min == to.min && from.max == to.max;
      const int64_t row = product(c.shape(i), axis, c.shape(i).rank());
      for (int64_t o = 0; o < outer; ++o) {
        const T* x = c.input<T>(i) + o * row;
        T* y = c.output<T>() + o * out_row + at;
        if (same) {
          std::copy_n(x, row, y);
        } else {
          std::transform(x, x + row, y, move);
        }
      }
      at += row;
    }
    set_range(c, to.min, to.max);
  });
}

ComputeFn select_concat(const NodeView& node) { return is_moved(node.type()) ? concat_cpu : nullptr; }

}  // namespace

OpDef quantized_reshape_op() {
  return {.name = "QuantizedReshape",
          .inputs = "tensor:T; shape:Tshape; input_min:float; input_max:float",
          .outputs = "output:T; output_min:float; output_max:float",
          .attrs = "T:type; Tshape:type{int32,int64}=int32",
          .host = "shape",
          .infer = infer_quantized_reshape,
          .cpu = {.select = select_reshape}};
}

OpDef quantized_concat_op() {
  return {.name = "QuantizedConcat",
          .inputs = "concat_dim:int32; values:N*T; input_mins:N*float; input_maxes:N*float",
          .outputs = "output:T; output_min:float; output_max:float",
          .attrs = "N:int>=2; T:type",
          .host = "concat_dim",
          .infer = infer_quantized_concat,
          .cpu = {.select = select_concat}};
}

}  // namespace weir::ops
