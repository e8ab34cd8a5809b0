#include "weir/ops.h"

namespace weir {

Output logical_xor(const In& x, const In& y, std::string_view name) {
  Output either = logical_or(x, y), both = logical_and(x, y);
  return logical_and(either, logical_not(both), name.empty() ? "LogicalXor" : name);
}

}  // namespace weir
