#include "devices/cpu/gemm.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// A matrix as the second operand of many products (_FusedMatMul with packed_columns), put by a pass before a loop that
// multiplies with it again and again.
void infer(InferContext& c) {
  c.require_rank(0, 2);
  if (!c.input(0).is_known()) return c.set_output(0, Shape{kUnknown});
  const int t = c.attr<bool>("transpose");
  c.set_output(0, {cpu::packed_matrix_elements<float>(c.input(0)[t], c.input(0)[1 - t])});
}

cpu::PackMatrix<float> prepare(PrepareContext& c) {
  const int t = c.attr<bool>("transpose");
  return {.k = c.input(0)[t], .n = c.input(0)[1 - t], .ldb = c.input(0)[1], .transpose = t != 0};
}

void cpu(KernelContext& c) {
  auto matrix = c.state<cpu::PackMatrix<float>>();
  matrix.b = c.input<float>(0);
  matrix.packed = c.output<float>();
  cpu::pack_matrix(c.pool(), matrix);
}

}  // namespace

OpDef pack_matrix_op() {
  return {.name = "_PackMatrix",
          .inputs = "matrix:T",
          .outputs = "packed:T",
          .attrs = "transpose:bool=False; T:type{float}=float",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
