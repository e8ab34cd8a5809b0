#include "ops/io/checkpoint_inputs.h"

#include "base/errors.h"
#include "io/tensor_slice.h"

namespace weir::ops {

void require_names(InferContext& c, int vectors, int lists) {
  c.require_scalar(0);
  for (int i = 1; i <= vectors; ++i) {
    c.require_rank(i, 1);
    const int64_t length = c.input(i).has_rank() ? c.input(i)[0] : kUnknown;
    if (length != kUnknown && length != lists) {
      throw invalid_argument("{} names or slices are given for {} tensors", length, lists);
    }
  }
}

std::span<const std::string> strings(const KernelContext& c, int index) {
  return {c.input<std::string>(index), static_cast<size_t>(c.elements(index))};
}

Shape slice_shape(const std::string& shape_and_slice) {
  if (shape_and_slice.empty()) return Shape::unknown();
  const auto [shape, slice] = io::parse_shape_and_slice(shape_and_slice);
  return slice.resolved(shape).shape();
}

}  // namespace weir::ops
