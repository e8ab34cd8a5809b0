#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(diag) row(diag_part) row(matrix_diag) row(matrix_diag_part) row(matrix_set_diag) row(matrix_band_part) \
  row(matrix_inverse) row(matrix_determinant) row(log_matrix_determinant) row(matrix_solve) \
  row(matrix_triangular_solve) row(cholesky) row(cholesky_grad) row(cross) row(svd) row(qr) row(lu) \
  row(self_adjoint_eig) row(self_adjoint_eig_v2) row(matrix_solve_ls) row(matrix_exponential) row(matrix_logarithm) \
  row(matrix_square_root) row(tridiagonal_solve) row(tridiagonal_mat_mul) \
  row(batch_cholesky) row(batch_cholesky_grad) row(batch_matrix_band_part) row(batch_matrix_determinant) \
  row(batch_matrix_diag) row(batch_matrix_diag_part) row(batch_matrix_set_diag) row(batch_matrix_inverse) \
  row(batch_matrix_solve) row(batch_matrix_solve_ls) row(batch_matrix_triangular_solve) row(batch_self_adjoint_eig) \
  row(batch_self_adjoint_eig_v2) row(batch_svd) row(einsum) row(matrix_diag_v2) row(matrix_diag_part_v2) row(matrix_set_diag_v2)
// clang-format on
WEIR_OP_TABLE(linalg_ops, ROWS)
