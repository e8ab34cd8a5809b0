#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "tensor/variant.h"

namespace weir::ops {

// A list of tensors that never changes: pushing makes a list that refers to the one before. Both operations on the end
// take constant time, which is what the gradients of loops need.
class TensorList final : public VariantObject {
 public:
  explicit TensorList(DType dtype) : dtype_(dtype) {}
  TensorList(std::shared_ptr<const TensorList> below, Tensor top)
      : dtype_(below->dtype_), length_(below->length_ + 1), top_(std::move(top)), below_(std::move(below)) {}
  ~TensorList() override;

  DType dtype() const { return dtype_; }
  int64_t length() const { return length_; }
  // Of a list that is not empty. The last tensor is invalid when nothing was computed where it was pushed.
  const Tensor& last() const { return top_; }
  const std::shared_ptr<const TensorList>& without_last() const { return below_; }

 private:
  DType dtype_;
  int64_t length_ = 0;
  Tensor top_;
  mutable std::shared_ptr<const TensorList> below_;  // taken away by the destructor of the list above
};

// The list that an input refers to; throws InvalidArgument when it is none, or of another element type than the
// attribute `element_dtype` (where the operation has that).
std::shared_ptr<const TensorList> list_input(const KernelContext& c, int index);
void set_list_output(KernelContext& c, int index, std::shared_ptr<const TensorList> list);

// An input that is the shape of elements: a vector whose sizes may be -1, or a scalar -1 for any shape at all.
Shape element_shape_input(InferContext& c, int index);

}  // namespace weir::ops
