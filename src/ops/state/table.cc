#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(variable) row(variable_v2) row(var_handle) \
  row(read_ref) row(read_variable) \
  row(ref_identity) row(is_variable_initialized) row(var_is_initialized) \
  row(assign) row(assign_variable) \
  row(assign_add) row(assign_sub) row(assign_add_variable) row(assign_sub_variable) \
  row(scatter_add) row(scatter_sub) row(scatter_mul) row(scatter_div) row(scatter_min) row(scatter_max) \
  row(scatter_update) \
  row(resource_scatter_add) row(resource_scatter_sub) row(resource_scatter_mul) row(resource_scatter_div) \
  row(resource_scatter_min) row(resource_scatter_max) row(resource_scatter_update) \
  row(scatter_nd_add) row(scatter_nd_sub) row(scatter_nd_update) \
  row(resource_scatter_nd_add) row(resource_scatter_nd_sub) row(resource_scatter_nd_update) \
  row(temporary_variable) row(destroy_temporary_variable) \
  row(variable_shape) row(destroy_resource) row(count_up_to) row(resource_count_up_to) row(unique) row(unique_with_counts) \
  row(apply_gradient_descent) row(resource_apply_gradient_descent) \
  row(apply_momentum) row(resource_apply_momentum) row(sparse_apply_momentum) row(resource_sparse_apply_momentum) \
  row(apply_adam) row(resource_apply_adam) \
  row(apply_adagrad) row(resource_apply_adagrad) row(sparse_apply_adagrad) row(resource_sparse_apply_adagrad) \
  row(apply_rms_prop) row(resource_apply_rms_prop) row(sparse_apply_rms_prop) row(resource_sparse_apply_rms_prop) \
  row(apply_adadelta) row(resource_apply_adadelta) \
  row(sparse_apply_adadelta) row(resource_sparse_apply_adadelta) \
  row(apply_centered_rms_prop) row(resource_apply_centered_rms_prop) \
  row(sparse_apply_centered_rms_prop) row(resource_sparse_apply_centered_rms_prop) \
  row(apply_ftrl) row(resource_apply_ftrl) \
  row(sparse_apply_ftrl) row(resource_sparse_apply_ftrl) \
  row(apply_ftrl_v2) row(resource_apply_ftrl_v2) \
  row(sparse_apply_ftrl_v2) row(resource_sparse_apply_ftrl_v2) \
  row(apply_proximal_gradient_descent) row(resource_apply_proximal_gradient_descent) \
  row(sparse_apply_proximal_gradient_descent) row(resource_sparse_apply_proximal_gradient_descent) \
  row(apply_proximal_adagrad) row(resource_apply_proximal_adagrad) \
  row(sparse_apply_proximal_adagrad) row(resource_sparse_apply_proximal_adagrad) \
  row(apply_adagrad_da) row(resource_apply_adagrad_da) \
  row(sparse_apply_adagrad_da) row(resource_sparse_apply_adagrad_da) \
  row(apply_add_sign) row(resource_apply_add_sign) row(apply_power_sign) row(resource_apply_power_sign) \
  row(apply_ada_max) row(resource_apply_ada_max) row(apply_adagrad_v2) row(resource_apply_adagrad_v2) \
  row(sparse_apply_adagrad_v2) row(resource_sparse_apply_adagrad_v2) row(resource_apply_keras_momentum) \
  row(resource_sparse_apply_keras_momentum) row(resource_apply_adam_with_amsgrad) \
  row(get_session_handle) row(get_session_handle_v2) row(get_session_tensor) row(delete_session_tensor) \
  row(sdca_optimizer) row(sdca_optimizer_v2) row(sdca_shrink_l1) \
  row(debug_gradient_ref_identity)
// clang-format on
WEIR_OP_TABLE(state_ops, ROWS)
