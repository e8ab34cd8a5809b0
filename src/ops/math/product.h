#pragma once

#include "graph/infer_context.h"
#include "ops/broadcast.h"
#include "ops/math/unary.h"
#include "ops/types.h"

namespace weir::ops {

// What a product of matrices, or of batches of them, works out when its plan is made.
struct Product {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  bool adjoint_a, adjoint_b;  // of complex matrices: transposed, and conjugated too
  BroadcastPlan batches;      // over the leading dimensions, a matrix each
};

struct ProductFlags {
  bool transpose_a = false, transpose_b = false, adjoint = false;
};
// Asks for the scratch memory too.
Product prepare_product(PrepareContext& c, const ProductFlags& flags);

// float and double go to the tuned product, half and bfloat16 too, as float.
struct ProductKernel {
  template <class T>
  static void run(KernelContext& c);
};
ComputeFn select_product(const NodeView& node);

// The last two dimensions of a product, or of what is known of it. Throws when the inner dimensions differ.
struct MatrixDims {
  int64_t rows, columns;
};
MatrixDims product_dims(const Shape& a, const Shape& b, const ProductFlags& flags);

// Batched products: the row, shape function and gradient of both versions.
OpDef batch_mat_mul_def(std::string_view name, void (*infer)(InferContext&), void (*gradient)(GradContext&));
void batch_mat_mul_gradient(GradContext& c, bool broadcasts);

}  // namespace weir::ops
