#include "ops/array/strided_slice_spec.h"

#include <algorithm>
#include <bit>

#include "base/errors.h"

namespace weir::ops {
namespace {

bool bit(int64_t mask, int i) { return mask >> i & 1; }

}  // namespace

SliceMasks::SliceMasks(const AttrMap& attrs)
    : begin(attrs.get<int64_t>("begin_mask")),
      end(attrs.get<int64_t>("end_mask")),
      ellipsis(attrs.get<int64_t>("ellipsis_mask")),
      new_axis(attrs.get<int64_t>("new_axis_mask")),
      shrink_axis(attrs.get<int64_t>("shrink_axis_mask")) {}

StridedSliceSpec::StridedSliceSpec(const Shape& shape, int count, SliceEntries begins, SliceEntries ends,
                                   SliceEntries strides, const SliceMasks& masks)
    : rank(shape.rank()) {
  if (rank > kMaxRank || count > kMaxRank) throw error(Code::Unimplemented, "more than {} dimensions", kMaxRank);
  if (std::popcount(static_cast<uint64_t>(masks.ellipsis)) > 1) {
    throw invalid_argument("Multiple ellipses in slice spec not allowed");
  }
  // Without an ellipsis there is one at the end.
  int ellipsis_at = count, named = 0;
  for (int i = 0; i < count; ++i) {
    if (bit(masks.ellipsis, i)) {
      ellipsis_at = i;
    } else if (!bit(masks.new_axis, i)) {
      ++named;
    }
  }
  if (named > rank) {
    throw invalid_argument(
        "Index out of range using input dim {}; input has only {} dims: {} dimensions are indexed, the shape is {}",
        rank, rank, named, shape.str());
  }

  int d = 0;
  for (int i = 0; i < count || i == ellipsis_at; ++i) {
    if (i == ellipsis_at) {
      for (int whole = rank - named; whole > 0; --whole, ++d) {
        begin[d] = 0;
        stride[d] = 1;
        size[d] = shape.dims()[static_cast<size_t>(d)];
        result[result_rank++] = size[d];
      }
    } else if (bit(masks.new_axis, i)) {
      result[result_rank++] = 1;
    } else {
      stride[d] = strides[i];
      bool known = begins.known() && ends.known(), shrink = bit(masks.shrink_axis, i);
      resolve(d, shape.dims()[static_cast<size_t>(d)], known ? begins[i] : 0, known ? ends[i] : 0, known,
              bit(masks.begin, i), bit(masks.end, i), shrink);
      if (!shrink) result[result_rank++] = size[d];
      ++d;
    }
  }
}

void StridedSliceSpec::resolve(int d, int64_t dim, int64_t first, int64_t last, bool known, bool begin_open,
                               bool end_open, bool shrink) {
  int64_t step = stride[d];
  if (step == 0) throw invalid_argument("strides[{}] must be non-zero", d);
  if (shrink) {
    if (step < 0) throw invalid_argument("only stride 1 allowed on non-range indexing.");
    begin[d] = first;
    stride[d] = size[d] = 1;
    if (!known || dim == kUnknown) {
      begin[d] = 0;
      return;
    }
    if (first < 0) begin[d] += dim;
    if (begin[d] < 0 || begin[d] >= dim) {
      throw invalid_argument("slice index {} of dimension {} out of bounds.", first, d);
    }
    return;
  }
  begin[d] = 0;
  size[d] = kUnknown;
  if (dim == kUnknown || (!known && !(begin_open && end_open))) {
    // Without the size a distance is still known when both ends count from the same side.
    if (!known || begin_open || end_open || (first < 0) != (last < 0)) return;
    int64_t distance = step > 0 ? last - first : first - last;
    if (distance <= 0) size[d] = 0;
    return;
  }
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  auto clamp = [&](int64_t at) { return std::clamp(at < 0 ? at + dim : at, low, high); };
  begin[d] = begin_open ? (step > 0 ? low : high) : clamp(first);
  int64_t end = end_open ? (step > 0 ? high : low) : clamp(last);
  int64_t distance = step > 0 ? end - begin[d] : begin[d] - end;
  uint64_t width = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  size[d] = distance <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(distance - 1) / width) + 1;
  if (size[d] <= 1) stride[d] = 1;  // there is no next element; the stride may be absurd
}

}  // namespace weir::ops
