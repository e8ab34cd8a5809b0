#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  if (const Shape& valid = c.input(1); valid.has_rank() && valid.rank() > 1) {
    c.fail("num_valid_rows must be a scalar or a vector of one element, got shape " + valid.str());
  }
  const Shape distances = c.input(0).merged(Shape::unknown_dims(2));
  c.set_output(0, Shape{distances[0]});
  c.set_output(1, Shape{distances[1]});
}

// The rows to match; those after them stay without a column.
int64_t valid_rows(KernelContext& c, int64_t rows) {
  if (c.elements(1) != 1) throw invalid_argument("num_valid_rows must have one element, got {}", c.elements(1));
  const float asked = c.input<float>(1)[0];
  if (asked < 0.0f) return rows;
  if (!(asked < static_cast<float>(rows) + 1.0f)) {
    throw invalid_argument("There should be at least {} rows in distance_mat, but only got {} rows.", asked, rows);
  }
  return static_cast<int64_t>(asked);
}

// Greedy: the nearest pair of those left is matched, until there is no row or no column any more. Of equal pairs the first
// in the matrix is; distances that are no numbers come last.
void cpu(KernelContext& c) {
  const int64_t rows = c.shape(0)[0], columns = c.shape(0)[1], valid = valid_rows(c, rows);
  const auto asked = c.node().attr<int64_t>("top_k");
  const int64_t most = std::min(valid, columns), count = asked < 0 ? most : std::min(asked, most);
  const float* distances = c.input<float>(0);
  std::vector<int64_t> pairs(static_cast<size_t>(valid * columns));
  std::iota(pairs.begin(), pairs.end(), int64_t{0});
  std::stable_sort(pairs.begin(), pairs.end(), [distances](int64_t a, int64_t b) {
    const float x = distances[a], y = distances[b];
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x < y;
  });
  int32_t* of_row = c.output<int32_t>(0);
  int32_t* of_column = c.output<int32_t>(1);
  std::fill_n(of_row, rows, -1);
  std::fill_n(of_column, columns, -1);
  int64_t matched = 0;
  for (size_t i = 0; i < pairs.size() && matched < count; ++i) {
    const int64_t row = pairs[i] / columns, column = pairs[i] % columns;
    if (of_row[row] >= 0 || of_column[column] >= 0) continue;
    of_row[row] = static_cast<int32_t>(column);
    of_column[column] = static_cast<int32_t>(row);
    ++matched;
  }
}

}  // namespace

OpDef bipartite_match_op() {
  return {.name = "BipartiteMatch",
          .inputs = "distance_mat:float; num_valid_rows:float",
          .outputs = "row_to_col_match_indices:int32; col_to_row_match_indices:int32",
          .attrs = "top_k:int=-1",
          .flags = "stateful",
          .host = "num_valid_rows",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
