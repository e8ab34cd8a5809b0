#pragma once

#include <optional>

#include "base/thread_pool.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "tensor/variant.h"
#include "weir/graph.h"

namespace weir::ops {

class TensorList;
using ListPtr = std::shared_ptr<const TensorList>;

// A list of tensors that never changes: writing makes a list that shares all but a few nodes with the one before. Both
// operations on the end take constant time, which is what the gradients of loops need; reading and writing at an index,
// and adding a list with one written element to another, take logarithmic time, which is what loops over sequences
// need. Elements that were never written take no memory. (Okasaki's skew-binary random-access list, growing at its
// end.)
class TensorList final : public VariantObject {
 public:
  // Of `length` elements that are not written yet. No more than max_length are pushed; -1: as many as anybody likes.
  TensorList(DType dtype, Shape element_shape, int64_t length = 0, int64_t max_length = -1);

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }  // of every element, as far as it is known
  int64_t length() const { return length_; }
  int64_t max_length() const { return max_length_; }
  // Null when the element was never written. The tensor is invalid when nothing was computed where it was written.
  const Tensor* at(int64_t index) const;
  // Calls f(index, tensor) for every element that was written, in no particular order.
  void visit(FunctionRef<void(int64_t, const Tensor&)> f) const;

  // Indices must be in range, and the list not be empty where an element is taken away.
  ListPtr with(int64_t index, Tensor tensor) const;
  ListPtr pushed(Tensor tensor) const;
  ListPtr popped() const;
  ListPtr resized(int64_t length) const;
  // The sum of two lists of one length; elements that were never written count as zeros.
  ListPtr plus(const TensorList& other, FunctionRef<Tensor(const Tensor&, const Tensor&)> add) const;
  Variant mapped(FunctionRef<Tensor(const Tensor&)> f) const override;

 private:
  using Element = std::shared_ptr<const Tensor>;
  // A complete binary tree of elements: the newest at the root, then those of `newer`, then those of `older`. Null when
  // none of them was ever written.
  struct Tree;
  using TreePtr = std::shared_ptr<const Tree>;
  // Trees from the newest to the oldest. Only the first two may be of one size, so the sizes follow from the length.
  struct Digit;
  using DigitPtr = std::shared_ptr<const Digit>;

  TensorList(const TensorList& like, int64_t length, DigitPtr digits)
      : dtype_(like.dtype_),
        element_shape_(like.element_shape_),
        length_(length),
        max_length_(like.max_length_),
        digits_(std::move(digits)) {}
  ListPtr changed(int64_t length, DigitPtr digits) const;
  static DigitPtr reserved(int64_t length);
  static DigitPtr push(DigitPtr digits, Element element);
  static DigitPtr pop(const Digit& digits);
  static DigitPtr set(const Digit& digits, int64_t from_end, Element element);
  static TreePtr set_in(const Tree* tree, int64_t size, int64_t from_end, Element element);

  DType dtype_;
  Shape element_shape_;
  int64_t length_, max_length_;
  DigitPtr digits_;
};

// The list that an input refers to; throws InvalidArgument when it is none, or of another element type than the
// attribute `element_dtype` (where the operation has that).
ListPtr list_input(const KernelContext& c, int index);
void set_list_output(KernelContext& c, int index, ListPtr list);

// A tensor to be written into a list. Invalid when it is of the branch that was not taken; then nobody will look at the
// element either. Throws InvalidArgument when it does not fit the list's elements.
Tensor element_input(const KernelContext& c, int index, const TensorList& list);
// Parts of an input as elements of a list; they share its memory.
class RowsInput {
 public:
  // Throws ResourceExhausted for more elements than a list is ever made of at once.
  RowsInput(const KernelContext& c, int index, int64_t elements);
  Tensor row(int64_t index) const { return part(index, std::nullopt); }
  Tensor rows(int64_t begin, int64_t count) const { return part(begin, count); }

 private:
  Tensor part(int64_t begin, std::optional<int64_t> rows) const;

  Tensor whole_;
};
// Throws InvalidArgument when a tensor of this shape, or the rows of an input, do not fit the list's elements.
void require_fit(const Shape& shape, const TensorList& list);
void require_row_shape(const KernelContext& c, int index, const TensorList& list);

// An input that is the shape of elements: a vector whose sizes may be -1, or a scalar -1 for any shape at all.
Shape element_shape_input(InferContext& c, int index);
// For shape functions: the shape of an element of a list, of which the operation says `wanted`.
Shape shape_of_element(InferContext& c, int list, const Shape& wanted);
Shape element_shape_value(const KernelContext& c, int index);
// What is known of the shape of a list's elements together with what the operation says; throws InvalidArgument when
// they contradict each other.
Shape merged_element_shape(const TensorList& list, const Shape& wanted);

// Gives an output the element at an index: zeros of the merged shape when it was never written (InvalidArgument when
// that shape is not fully known), nothing when nothing was computed where it was written.
void give_element(KernelContext& c, int output, const TensorList& list, int64_t index, const Shape& wanted);

// [first] followed by the sizes of an element; of unknown rank when the element is.
Shape with_leading(int64_t first, const Shape& element);

// For gradients: the shape of a row of `x`, as an int32 vector.
Output row_shape(const Output& x);

}  // namespace weir::ops
