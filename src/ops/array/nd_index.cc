#include "ops/array/nd_index.h"

#include "base/errors.h"

namespace weir::ops {

NdIndex::NdIndex(const KernelContext& context, int index_input, const Shape& into)
    : c(context), input(index_input), shape(into), strides(into) {
  const Shape& indices = c.shape(input);
  depth = static_cast<int>(indices.dims().back());
  rows = product(indices, 0, indices.rank() - 1);
  slice = product(shape, depth, shape.rank());
}

int64_t NdIndex::slice_start(int64_t row) const {
  int64_t start = 0;
  for (int d = 0; d < depth; ++d) {
    int64_t at = int_at(c, input, row * depth + d);
    if (at < 0 || at >= shape.dims()[static_cast<size_t>(d)]) {
      if (shape.elements() == 0) {
        throw invalid_argument("Requested more than 0 entries, but params is empty.  Params shape: {}", shape.str());
      }
      std::string entries;
      for (int e = 0; e < depth; ++e) entries += (e ? ", " : "") + std::to_string(int_at(c, input, row * depth + e));
      throw invalid_argument("flat indices[{}, :] = [{}] does not index into param (shape: {})", row, entries,
                             shape.str());
    }
    start += at * strides[d];
  }
  return start;
}

}  // namespace weir::ops
