#pragma once

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
  Gradient(const Output& dense) : slices_{dense, {}, {}} {}    // NOLINT
  Gradient(const IndexedSlices& sparse) : slices_(sparse) {}  // NOLINT

  bool none() const { return !slices_.values; }
  bool sparse() const { return static_cast<bool>(slices_.indices); }
  // Densifies a sparse gradient (adds nodes to the graph). Throws FailedPrecondition for none.
  Output dense() const;
  const IndexedSlices& slices() const { return slices_; }  // of a sparse one
  explicit operator bool() const { return !none(); }

 private:
  IndexedSlices slices_;  // of a dense gradient: values alone
};

}  // namespace weir
