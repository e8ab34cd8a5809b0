#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Constants of one value. Small ones are Const nodes, large ones are filled when they are run, so that the graph stays
// small. Types of numbers, bool, and for zeros also string ("").
WEIR_API Output zeros(Graph& graph, const In& shape, DType dtype = float32, std::string_view name = {});
WEIR_API Output ones(Graph& graph, const In& shape, DType dtype = float32, std::string_view name = {});
// Shaped like `x`, and of its type unless another is given.
WEIR_API Output zeros_like(const In& x, DType dtype = DType::Invalid, std::string_view name = {});
WEIR_API Output ones_like(const In& x, DType dtype = DType::Invalid, std::string_view name = {});
WEIR_API Output fill(Graph& graph, const In& dims, const In& value, std::string_view name = {});
WEIR_API Output fill(const In& dims, const In& value, std::string_view name = {});
// start, start + delta, ... up to but without limit. The type is that of the tensors among them, or int32, or float.
WEIR_API Output range(Graph& graph, const In& start, const In& limit, const In& delta = 1, std::string_view name = {});
WEIR_API Output range(const In& start, const In& limit, const In& delta = 1, std::string_view name = {});

WEIR_API Output identity(const In& input, std::string_view name = {});
WEIR_API std::vector<Output> identity_n(const InList& inputs, std::string_view name = {});
// `input` unless something else is fed in its place, which must fit `shape`.
WEIR_API Output placeholder_with_default(const In& input, const Shape& shape, std::string_view name = {});
// The value goes through, its gradient does not.
WEIR_API Output stop_gradient(const In& input, std::string_view name = {});
// The value goes through; asking for a gradient through it throws, with this message.
WEIR_API Output prevent_gradient(const In& input, std::string_view message = {}, std::string_view name = {});

// Facts about shapes. Where the shape is known already the result is a constant.
WEIR_API Output shape(const In& input, DType out_type = int32, std::string_view name = {});
WEIR_API std::vector<Output> shape_n(const InList& inputs, DType out_type = int32, std::string_view name = {});
WEIR_API Output size(const In& input, DType out_type = int32, std::string_view name = {});
WEIR_API Output rank(const In& input, std::string_view name = {});

// The same elements in another shape; one size may be -1 and follows from the others.
WEIR_API Output reshape(const In& tensor, const In& shape, std::string_view name = {});
WEIR_API Output expand_dims(const In& input, const In& axis, std::string_view name = {});
// Drops dimensions of size 1: those given (negative ones count from the end), or all.
WEIR_API Output squeeze(const In& input, const std::vector<int64_t>& axes = {}, std::string_view name = {});
// Dimension i of the result is dimension perm[i] of x; without perm the dimensions are reversed.
WEIR_API Output transpose(const In& x);
WEIR_API Output transpose(const In& x, const In& perm, std::string_view name = {});
WEIR_API Output invert_permutation(const In& x, std::string_view name = {});
WEIR_API Output reverse(const In& tensor, const In& axes, std::string_view name = {});

// Joining and cutting. stack and unstack make and drop a dimension, concat and split keep the rank.
WEIR_API Output concat(const InList& values, const In& axis, std::string_view name = {});
WEIR_API std::vector<Output> concat_offset(const In& axis, const InList& shapes, std::string_view name = {});
WEIR_API Output stack(const InList& values, int64_t axis = 0, std::string_view name = {});
// `num` may be -1 when the size of the dimension is known.
WEIR_API std::vector<Output> unstack(const In& value, int64_t num = -1, int64_t axis = 0, std::string_view name = {});
WEIR_API std::vector<Output> split(const In& value, int num, const In& axis = 0, std::string_view name = {});
// Pieces of these sizes; one may be -1 and follows from the others.
WEIR_API std::vector<Output> split(const In& value, const std::vector<int64_t>& sizes, const In& axis = 0,
                                   std::string_view name = {});
// Sizes known only when it is run; `num` says how many there are.
WEIR_API std::vector<Output> split_v(const In& value, const In& sizes, const In& axis, int num,
                                     std::string_view name = {});

// A box: `size` elements from `begin` on in each dimension; a size of -1 means all that remain.
WEIR_API Output slice(const In& input, const In& begin, const In& size, std::string_view name = {});

// numpy's basic indexing. Bit i of a mask is about entry i of begin, end and strides.
struct StridedSliceOptions {
  int64_t begin_mask = 0;        // begin[i] is ignored: as far as possible
  int64_t end_mask = 0;          // end[i] is ignored
  int64_t ellipsis_mask = 0;     // as many whole dimensions as are left; one bit at most
  int64_t new_axis_mask = 0;     // a new dimension of size 1
  int64_t shrink_axis_mask = 0;  // the single element begin[i]; the dimension disappears
};
WEIR_API Output strided_slice(const In& input, const In& begin, const In& end, const In& strides,
                              const StridedSliceOptions& options = {}, std::string_view name = {});
WEIR_API Output strided_slice_grad(const In& shape, const In& begin, const In& end, const In& strides, const In& dy,
                                   const StridedSliceOptions& options = {}, std::string_view name = {});

// One entry between the brackets of x[...]: a number or a scalar tensor picks one element, between() a range, kAll
// everything, kEllipsis all dimensions that are not named, kNewAxis makes a dimension of size 1.
class WEIR_API Subscript {
 public:
  enum class Kind { Element, Range, Ellipsis, NewAxis };
  Subscript(int index) : Subscript(static_cast<int64_t>(index)) {}       // NOLINT
  Subscript(int64_t index) : kind(Kind::Element), begin(index) {}        // NOLINT
  Subscript(const Output& index) : kind(Kind::Element), begin(index) {}  // NOLINT
  explicit Subscript(Kind k) : kind(k) {}

  Kind kind;
  std::optional<In> begin = {}, end = {}, stride = {};  // absent ends: as far as possible
};
inline const Subscript kAll{Subscript::Kind::Range}, kEllipsis{Subscript::Kind::Ellipsis},
    kNewAxis{Subscript::Kind::NewAxis};
// begin:end:stride; without an end, up to the last.
WEIR_API Subscript from(const In& begin);
WEIR_API Subscript until(const In& end);
WEIR_API Subscript between(const In& begin, const In& end, const In& stride = 1);
// x[1:3, ..., None] is subscript(x, {between(1, 3), kEllipsis, kNewAxis}).
WEIR_API Output subscript(const In& x, const std::vector<Subscript>& subscripts, std::string_view name = {});

// Slices of `params` along `axis` at `indices`: the result's shape is params' with that dimension replaced by indices'.
// The gradient with respect to params is sparse (IndexedSlices) for axis 0.
WEIR_API Output gather(const In& params, const In& indices, const In& axis = 0, std::string_view name = {});
// The last dimension of `indices` holds coordinates into the first dimensions of params.
WEIR_API Output gather_nd(const In& params, const In& indices, std::string_view name = {});
// Zeros of this shape, with `updates` added at these coordinates.
WEIR_API Output scatter_nd(const In& indices, const In& updates, const In& shape, std::string_view name = {});

WEIR_API Output tile(const In& input, const In& multiples, std::string_view name = {});
// `paddings` has a row [before, after] for each dimension.
WEIR_API Output pad(const In& tensor, const In& paddings, const In& constant_value = 0, std::string_view name = {});
WEIR_API Output broadcast_to(const In& input, const In& shape, std::string_view name = {});
// Over which dimensions gradients of a broadcast of shapes s0 and s1 must be summed: for s0 and for s1.
WEIR_API std::pair<Output, Output> broadcast_gradient_args(const In& s0, const In& s1, std::string_view name = {});

struct OneHotOptions {
  In on_value = 1, off_value = 0;
  int64_t axis = -1;             // where the new dimension goes; -1: last
  DType dtype = DType::Invalid;  // that of a tensor among the values, or float
};
WEIR_API Output one_hot(const In& indices, const In& depth, const OneHotOptions& options = {},
                        std::string_view name = {});
// The coordinates of the elements that are not zero (true), a row each, in order.
WEIR_API Output where(const In& condition, std::string_view name = {});

WEIR_API Output unsorted_segment_sum(const In& data, const In& segment_ids, const In& num_segments,
                                     std::string_view name = {});
// merged[indices[m][i]] = data[m][i]; the last one wins where an index repeats.
WEIR_API Output dynamic_stitch(const InList& indices, const InList& data, std::string_view name = {});
// outputs[p] holds the elements (or slices) of data where partitions is p, in order.
WEIR_API std::vector<Output> dynamic_partition(const In& data, const In& partitions, int num_partitions,
                                               std::string_view name = {});

}  // namespace weir
