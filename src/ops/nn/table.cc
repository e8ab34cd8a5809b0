#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(relu) row(relu_grad) row(relu6) row(relu6_grad) row(leaky_relu) row(leaky_relu_grad) \
  row(elu) row(elu_grad) row(selu) row(selu_grad) \
  row(softplus) row(softplus_grad) row(softsign) row(softsign_grad) \
  row(softmax) row(log_softmax) row(softmax_cross_entropy) row(sparse_softmax_cross_entropy) \
  row(bias_add) row(bias_add_v1) row(bias_add_grad) \
  row(conv2d) row(conv2d_backprop_input) row(conv2d_backprop_filter) row(fused_conv2d) row(fused_mat_mul) row(pack_matrix) \
  row(max_pool) row(max_pool_grad) row(max_pool_grad_grad) row(avg_pool) row(avg_pool_grad) \
  row(max_pool_v2) row(max_pool_grad_v2) row(max_pool_grad_grad_v2) \
  row(max_pool_with_argmax) row(max_pool_grad_with_argmax) row(max_pool_grad_grad_with_argmax) \
  row(conv3d) row(conv3d_backprop_input_v2) row(conv3d_backprop_filter_v2) row(conv3d_backprop_input) row(conv3d_backprop_filter) \
  row(dilation2d) row(dilation2d_backprop_input) row(dilation2d_backprop_filter) row(fractional_avg_pool) \
  row(fractional_max_pool) row(fractional_avg_pool_grad) row(fractional_max_pool_grad) row(fused_pad_conv2d) \
  row(fused_resize_and_pad_conv2d) \
  row(max_pool3d) row(max_pool3d_grad) row(max_pool3d_grad_grad) row(avg_pool3d) row(avg_pool3d_grad) \
  row(data_format_dim_map) row(data_format_vec_permute) \
  row(batch_norm_with_global_normalization) row(batch_norm_with_global_normalization_grad) \
  row(lrn) row(lrn_grad) \
  row(in_top_k) row(in_top_k_v2) row(top_k) row(top_k_v2) row(nth_element) \
  row(fused_batch_norm) row(fused_batch_norm_v2) row(fused_batch_norm_v3) row(fused_batch_norm_ex) \
  row(fused_batch_norm_grad) row(fused_batch_norm_grad_v2) row(fused_batch_norm_grad_v3) \
  row(fused_batch_norm_grad_ex) row(fused_batch_norm_grad_v3_ex) \
  row(depthwise_conv2d) row(fused_depthwise_conv2d) row(depthwise_conv2d_backprop_input) row(depthwise_conv2d_backprop_filter)
// clang-format on
WEIR_OP_TABLE(nn_ops, ROWS)
