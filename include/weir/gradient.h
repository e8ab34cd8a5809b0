#pragma once

#include <variant>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// A sparse gradient: rows `indices` of the dense tensor are `values`, all others zero; indices may repeat.
struct IndexedSlices {
  Output values, indices, dense_shape;  // dense_shape may be empty
};

// The gradient of some output: none, dense or sparse.
class WEIR_API Gradient {
 public:
  Gradient() = default;
  Gradient(const Output& dense) : value_(dense) {}           // NOLINT
  Gradient(const IndexedSlices& sparse) : value_(sparse) {}  // NOLINT

  bool none() const { return std::holds_alternative<std::monostate>(value_); }
  bool sparse() const { return std::holds_alternative<IndexedSlices>(value_); }
  // Densifies a sparse gradient (adds nodes to the graph). Throws FailedPrecondition for none.
  Output dense() const;
  const IndexedSlices& slices() const { return std::get<IndexedSlices>(value_); }
  explicit operator bool() const { return !none(); }

 private:
  std::variant<std::monostate, Output, IndexedSlices> value_;
};

}  // namespace weir
