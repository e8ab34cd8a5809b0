#include "ops/linalg/matrices.h"

// Operations that TensorFlow 0.x had twice, for matrices and for batches of them. Graphs of that time have these names.
namespace weir::ops {

OpDef cholesky_op();
OpDef cholesky_grad_op();
OpDef matrix_band_part_op();
OpDef matrix_determinant_op();
OpDef matrix_diag_op();
OpDef matrix_diag_part_op();
OpDef matrix_set_diag_op();
OpDef matrix_inverse_op();
OpDef matrix_solve_op();
OpDef matrix_solve_ls_op();
OpDef matrix_triangular_solve_op();
OpDef self_adjoint_eig_op();
OpDef self_adjoint_eig_v2_op();
OpDef svd_op();

namespace {

OpDef renamed(OpDef row, std::string_view name, std::string_view attrs, std::string_view flags = "deprecated@13") {
  row.name = name;
  row.attrs = attrs;
  row.flags = flags;
  row.gradient = nullptr;
  return row;
}

}  // namespace

OpDef batch_cholesky_op() { return renamed(cholesky_op(), "BatchCholesky", "T:type{double,float}"); }
OpDef batch_cholesky_grad_op() { return renamed(cholesky_grad_op(), "BatchCholeskyGrad", "T:type{float,double}"); }
OpDef batch_matrix_band_part_op() {
  OpDef row = renamed(matrix_band_part_op(), "BatchMatrixBandPart", "T:type", "deprecated@14");
  row.inputs = "input:T; num_lower:int64; num_upper:int64";
  return row;
}
OpDef batch_matrix_determinant_op() {
  return renamed(matrix_determinant_op(), "BatchMatrixDeterminant", "T:type{float,double,complex64,complex128}");
}
OpDef batch_matrix_diag_op() { return renamed(matrix_diag_op(), "BatchMatrixDiag", "T:type", "deprecated@14"); }
OpDef batch_matrix_diag_part_op() {
  return renamed(matrix_diag_part_op(), "BatchMatrixDiagPart", "T:type", "deprecated@14");
}
OpDef batch_matrix_set_diag_op() {
  return renamed(matrix_set_diag_op(), "BatchMatrixSetDiag", "T:type", "deprecated@14");
}
OpDef batch_matrix_inverse_op() {
  return renamed(matrix_inverse_op(), "BatchMatrixInverse", "adjoint:bool=False; T:type{double,float}");
}
OpDef batch_matrix_solve_op() {
  return renamed(matrix_solve_op(), "BatchMatrixSolve", "adjoint:bool=False; T:type{double,float}");
}
OpDef batch_matrix_solve_ls_op() {
  return renamed(matrix_solve_ls_op(), "BatchMatrixSolveLs", "T:type{double,float}; fast:bool=True");
}
OpDef batch_matrix_triangular_solve_op() {
  return renamed(matrix_triangular_solve_op(), "BatchMatrixTriangularSolve",
                 "lower:bool=True; adjoint:bool=False; T:type{double,float}");
}
OpDef batch_self_adjoint_eig_op() {
  return renamed(self_adjoint_eig_op(), "BatchSelfAdjointEig", "T:type{double,float}", "deprecated@11");
}
OpDef batch_self_adjoint_eig_v2_op() {
  return renamed(self_adjoint_eig_v2_op(), "BatchSelfAdjointEigV2", "compute_v:bool=True; T:type{double,float}");
}
OpDef batch_svd_op() {
  return renamed(svd_op(), "BatchSvd",
                 "compute_uv:bool=True; full_matrices:bool=False; T:type{double,float,complex64,complex128}");
}

}  // namespace weir::ops
