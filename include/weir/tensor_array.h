#pragma once

#include <memory>
#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

struct TensorArrayOptions {
  In size = 0;
  bool dynamic_size = false;  // a write behind the end makes it longer
  Shape element_shape = Shape::unknown();
  bool infer_shape = true;  // all elements have one shape: that of the first that is written
};

// A list of tensors of one type that loops read and write one by one. What writes gives a new array and leaves this one
// as it is. The tensors travel in flow(), a list in the graph: loops and branches carry it, and gradients go through
// it. Elements that were never written are zeros when the shape of elements is known.
class WEIR_API TensorArray {
 public:
  TensorArray(Graph& graph, DType dtype, const TensorArrayOptions& options = {}, std::string_view name = {});
  // The rows of a tensor.
  static TensorArray of_rows(const Output& value);
  // This array with the elements of another flow, as a loop gives it.
  TensorArray with_flow(const Output& flow) const;

  Output flow() const { return flow_; }
  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return *element_shape_; }

  // Throw InvalidArgument for a value of another type, or of a shape that cannot be an element's.
  Output read(const In& index, std::string_view name = {}) const;
  TensorArray write(const In& index, const In& value, std::string_view name = {}) const;
  Output stack(std::string_view name = {}) const;                      // all elements as one tensor
  Output gather(const In& indices, std::string_view name = {}) const;  // some of them
  Output concat(std::string_view name = {}) const;                     // one after the other
  TensorArray unstack(const In& value, std::string_view name = {}) const;
  TensorArray scatter(const In& indices, const In& value, std::string_view name = {}) const;
  // Successive pieces of `value`, of so many rows each.
  TensorArray split(const In& value, const In& lengths, std::string_view name = {}) const;
  Output size(std::string_view name = {}) const;

 private:
  TensorArray() = default;
  Graph& graph() const { return flow_.graph(); }
  Output as_element(const In& value) const;
  void merge_element_shape(const Shape& shape) const;
  Output grown_to(const Output& count) const;

  DType dtype_ = DType::Invalid;
  bool dynamic_size_ = false, infer_shape_ = true;
  // One for all arrays that come of this one: a write inside a loop tells what is read behind it.
  std::shared_ptr<Shape> element_shape_;
  Output flow_;
};

}  // namespace weir
