#include "runtime/cost.h"

#include <cmath>

namespace weir {
namespace {

constexpr double kFlopsPerMicrosecond = 60e3;
constexpr double kElementsPerMicrosecond = 2e3;
constexpr double kCall = 0.2;

double elements(const Shape& shape) { return shape.is_known() ? static_cast<double>(shape.elements()) : 1e3; }

double last(const Shape& shape) { return shape.is_known() && shape.rank() > 0 ? static_cast<double>(shape[-1]) : 1; }

}  // namespace

double count_flops(std::string_view op, std::span<const Shape* const> in, std::span<const Shape* const> out) {
  if (op == "MatMul" || op == "_FusedMatMul") {
    // (m k)(k n)(m n) = (m n k)^2
    return 2 * std::sqrt(elements(*in[0]) * elements(*in[1]) * elements(*out[0]));
  }
  if (op == "BatchMatMul" || op == "BatchMatMulV2") {
    const Shape& x = *in[0];
    double batch =
        x.is_known() && x.rank() > 2 ? elements(x) / static_cast<double>(std::max<int64_t>(x[-1] * x[-2], 1)) : 1;
    return 2 * std::sqrt(elements(x) * elements(*in[1]) * elements(*out[0]) / std::max(batch, 1.0));
  }
  if (op == "Conv2D" || op == "_FusedConv2D")
    return 2 * elements(*out[0]) * elements(*in[1]) / std::max(last(*in[1]), 1.0);
  if (op == "Conv2DBackpropInput") return 2 * elements(*in[2]) * elements(*in[1]) / std::max(last(*in[1]), 1.0);
  if (op == "Conv2DBackpropFilter") return 2 * elements(*in[2]) * elements(*out[0]) / std::max(last(*out[0]), 1.0);
  return 0;
}

double estimate_microseconds(std::string_view op, std::span<const Shape* const> inputs,
                             std::span<const Shape* const> outputs) {
  double touched = 0;
  for (const Shape* shape : inputs) touched += elements(*shape);
  for (const Shape* shape : outputs) touched += elements(*shape);
  return kCall + touched / kElementsPerMicrosecond + count_flops(op, inputs, outputs) / kFlopsPerMicrosecond;
}

}  // namespace weir
