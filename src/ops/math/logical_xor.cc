#include "graph/graph_impl.h"
#include "weir/ops.h"

namespace weir {

Output logical_xor(const In& x, const In& y, std::string_view name) {
  Output either = logical_or(x, y);
  LineScope line(either.graph(), source_line(x.where()));
  Output both = logical_and(x, y);
  return logical_and(either, logical_not(both), name.empty() ? "LogicalXor" : name);
}

}  // namespace weir
