#include "ops/nn/formula.h"

#include "graph/op.h"

namespace weir {

Formula formula_of(const Op& op) {
  static const Op *const leaky_relu = find_op("LeakyRelu"), *const leaky_relu_grad = find_op("LeakyReluGrad");
  if (&op == leaky_relu) return Formula::LeakyRelu;
  return &op == leaky_relu_grad ? Formula::LeakyReluGrad : Formula::Other;
}

}  // namespace weir
