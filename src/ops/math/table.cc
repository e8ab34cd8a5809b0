#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(abs) row(acos) row(acosh) row(add) row(add_n) row(add_v2) row(all) row(any) row(arg_max) row(arg_min) \
  row(asin) row(asinh) row(atan) row(atan2) row(atanh) row(batch_mat_mul) row(batch_mat_mul_v2) row(cast) row(ceil) \
  row(clip_by_value) row(complex) row(complex_abs) row(conj) row(cos) row(cosh) row(cumprod) row(cumsum) \
  row(digamma) row(div) row(div_no_nan) row(equal) row(erf) row(erfc) row(exp) row(expm1) row(floor) row(floor_div) \
  row(floor_mod) row(fused_elementwise) row(fused_loop) row(fused_reduction) \
  row(greater) row(greater_equal) row(imag) row(inv) \
  row(inv_grad) row(is_finite) row(is_inf) row(is_nan) row(l2_loss) row(less) row(less_equal) row(lgamma) row(log) \
  row(log1p) row(logical_and) row(logical_not) row(logical_or) row(mat_mul) row(max) row(maximum) row(mean) \
  row(min) row(minimum) row(mod) row(mul) row(mul_no_nan) row(neg) row(not_equal) row(polygamma) row(pow) row(prod) row(real) \
  row(real_div) row(reciprocal) row(reciprocal_grad) row(rint) row(round) row(rsqrt) row(rsqrt_grad) \
  row(segment_sum) row(select) row(select_v2) row(sigmoid) row(sigmoid_grad) row(sign) row(sin) row(sinh) row(sqrt) \
  row(sparse_segment_mean) row(sparse_segment_mean_with_num_segments) row(sparse_segment_mean_grad) \
  row(sparse_segment_sqrt_n) row(sparse_segment_sqrt_n_with_num_segments) row(sparse_segment_sqrt_n_grad) \
  row(sparse_segment_sum) row(sparse_segment_sum_with_num_segments) row(sparse_tensor_dense_mat_mul) \
  row(sqrt_grad) row(square) row(squared_difference) row(sub) row(sum) row(tan) row(tanh) row(tanh_grad) \
  row(truncate_div) row(truncate_mod) row(xdivy) row(xlogy) row(zeta) \
  row(bincount) row(segment_mean) row(segment_max) row(segment_min) row(segment_prod) \
  row(unsorted_segment_max) row(unsorted_segment_min) row(unsorted_segment_prod) \
  row(bitwise_and) row(bitwise_or) row(bitwise_xor) row(left_shift) row(right_shift) row(invert) \
  row(population_count) row(igamma) row(igammac) row(igamma_grad_a) row(betainc) row(bessel_i0e) row(bessel_i1e) \
  row(next_after) row(approximate_equal) row(angle) row(euclidean_norm) row(cumulative_logsumexp) row(accumulate_n_v2) \
  row(kmeans_plus_plus_initialization) row(kmc2_chain_initialization) row(nearest_neighbors)
// clang-format on

WEIR_OP_TABLE(math_ops, ROWS)
