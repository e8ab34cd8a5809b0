#pragma once

#include <optional>

#include "graph/node.h"
#include "nn/convert.h"
#include "weir/ops.h"

namespace weir::signal {

// A number of the program that may be a tensor: what is known of it while the graph is built.
inline std::optional<int64_t> known_int(const Output& value) {
  const Tensor t = constant_value(value);
  if (!t.valid() || t.elements() != 1) return std::nullopt;
  if (t.dtype() == DType::Int32) return t.scalar<int32_t>();
  if (t.dtype() == DType::Int64) return t.scalar<int64_t>();
  return std::nullopt;
}

// A scalar integer argument as an int32 output. Throws InvalidArgument for another rank or type.
Output int_argument(Graph& g, const In& value, std::string_view name);
// Its value must be at least `least` if it is known.
void require_at_least(const Output& value, int64_t least, std::string_view name);

}  // namespace weir::signal
