#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(diag) row(diag_part) row(matrix_diag) row(matrix_diag_part) row(matrix_set_diag) row(matrix_band_part) \
  row(matrix_inverse) row(matrix_determinant) row(log_matrix_determinant) row(matrix_solve) \
  row(matrix_triangular_solve) row(cholesky) row(cross)
// clang-format on
WEIR_OP_TABLE(linalg_ops, ROWS)
