#pragma once

#include <memory>

#include "base/function_ref.h"
#include "weir/tensor.h"

namespace weir {

// What an element of type Variant refers to: an object that values share and nobody changes, such as a list of tensors.
class VariantObject {
 public:
  virtual ~VariantObject() = default;
  // The same with f(tensor) for every tensor that it holds, as another memory needs it. Null: it holds none.
  virtual std::shared_ptr<const VariantObject> mapped(FunctionRef<Tensor(const Tensor&)>) const { return nullptr; }
};

// The element itself. Buffers construct and destroy them as they do strings.
using Variant = std::shared_ptr<const VariantObject>;

// A scalar tensor of one element.
inline Tensor variant_tensor(Variant object) {
  Tensor t(DType::Variant, Shape{});
  *static_cast<Variant*>(t.mutable_raw()) = std::move(object);
  return t;
}

}  // namespace weir
