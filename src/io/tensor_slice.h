#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/tensor_slice.pb.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir::io {

// A rectangular part of a tensor.
class TensorSlice {
 public:
  struct Extent {
    int64_t start = 0;
    int64_t length = kWhole;
    bool operator==(const Extent&) const = default;
  };
  static constexpr int64_t kWhole = -1;  // the whole dimension; it starts at 0

  TensorSlice() = default;
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  // Throws InvalidArgument for negative numbers.
  explicit TensorSlice(const proto::TensorSliceProto& message);
  static TensorSlice whole(int rank) { return TensorSlice(std::vector<Extent>(static_cast<size_t>(rank))); }

  const std::vector<Extent>& extents() const { return extents_; }
  void to_proto(proto::TensorSliceProto& message) const;
  // Starts and lengths in a tensor of this shape. Throws InvalidArgument when the slice reaches outside.
  TensorSlice resolved(const Shape& shape) const;
  // REQUIRES: resolved.
  Shape shape() const;
  bool covers(const Shape& shape) const;  // REQUIRES: resolved.
  bool operator==(const TensorSlice&) const = default;
  std::string str() const;  // "0,2:-"

 private:
  std::vector<Extent> extents_;
};

// "4 2 0,2:-": the shape of the whole tensor, then for each dimension start and length or "-". Throws InvalidArgument.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;  // as written; it fits the shape
};
ShapeAndSlice parse_shape_and_slice(std::string_view text);
std::string shape_and_slice_to_string(const Shape& shape, const TensorSlice& slice);

// The key under which checkpoints keep a slice; it begins with a zero byte, as no name of a tensor does.
std::string slice_key(std::string_view name, const TensorSlice& slice);

// The number of elements that two slices of one tensor have in common. REQUIRES: both are resolved in the same shape.
int64_t overlap(const TensorSlice& a, const TensorSlice& b);
// Copies what two slices of one tensor have in common. `from` and `to` hold the slices' elements.
// REQUIRES: both are resolved in the same shape; the tensors have the slices' shapes and one type.
void copy_overlap(const Tensor& from, const TensorSlice& from_slice, Tensor& to, const TensorSlice& to_slice);

}  // namespace weir::io
