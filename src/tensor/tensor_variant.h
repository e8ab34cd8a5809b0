#pragma once

#include <utility>

#include "tensor/variant.h"

namespace weir {

// A tensor as an element of a tensor of variants: how the parts of sparse tensors travel together.
class TensorVariant final : public VariantObject {
 public:
  explicit TensorVariant(Tensor tensor) : tensor_(std::move(tensor)) {}
  const Tensor& tensor() const { return tensor_; }
  std::shared_ptr<const VariantObject> mapped(FunctionRef<Tensor(const Tensor&)> f) const override {
    return std::make_shared<const TensorVariant>(f(tensor_));
  }

 private:
  Tensor tensor_;
};

}  // namespace weir
