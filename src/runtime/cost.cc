#include "runtime/cost.h"

namespace weir {
namespace {

constexpr double kFlopsPerMicrosecond = 60e3;
constexpr double kElementsPerMicrosecond = 2e3;
constexpr double kCall = 0.2;

double elements(const Shape& shape) { return shape.is_known() ? static_cast<double>(shape.elements()) : 1e3; }

}  // namespace

double count_flops(const Op& op, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs) {
  return op.def->flops ? op.def->flops(inputs, outputs) : 0;
}

double estimate_microseconds(const Op& op, std::span<const Shape* const> inputs,
                             std::span<const Shape* const> outputs) {
  double touched = 0;
  for (const Shape* shape : inputs) touched += elements(*shape);
  for (const Shape* shape : outputs) touched += elements(*shape);
  return kCall + touched / kElementsPerMicrosecond + count_flops(op, inputs, outputs) / kFlopsPerMicrosecond;
}

}  // namespace weir
