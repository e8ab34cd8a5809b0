#pragma once

#include <string>
#include <utility>

#include "tensor/variant.h"

namespace weir {

// A variant that files can hold: what kind of object it stands for, and its bytes.
class EncodedVariant final : public VariantObject {
 public:
  EncodedVariant(std::string kind, std::string bytes) : kind_(std::move(kind)), bytes_(std::move(bytes)) {}
  const std::string& kind() const { return kind_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string kind_, bytes_;
};

}  // namespace weir
