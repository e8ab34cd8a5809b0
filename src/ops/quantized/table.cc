#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(fake_quant_with_min_max_args) row(fake_quant_with_min_max_args_gradient) row(fake_quant_with_min_max_vars) \
  row(fake_quant_with_min_max_vars_gradient) row(fake_quant_with_min_max_vars_per_channel) \
  row(fake_quant_with_min_max_vars_per_channel_gradient) row(quantize_v2) row(dequantize) \
  row(quantize_and_dequantize) row(quantize_and_dequantize_v2) row(quantize_and_dequantize_v3) row(requantize) \
  row(quantize_down_and_shrink_range) row(requantization_range) row(quantized_mat_mul) row(quantized_conv2d) \
  row(quantized_bias_add) row(quantized_relu) row(quantized_relu6) row(quantized_relu_x) \
  row(quantized_add) row(quantized_mul) row(quantized_avg_pool) row(quantized_max_pool) row(quantized_reshape) \
  row(quantized_concat) row(quantized_resize_bilinear) row(quantized_batch_norm) row(quantized_instance_norm) \
  row(quantized_conv2d_per_channel) row(quantized_conv2d_and_relu) row(quantized_conv2d_and_relu_and_requantize) \
  row(quantized_conv2d_and_requantize) row(quantized_conv2d_with_bias) row(quantized_conv2d_with_bias_and_relu) \
  row(quantized_conv2d_with_bias_and_relu_and_requantize) row(quantized_conv2d_with_bias_and_requantize) \
  row(quantized_conv2d_with_bias_sum_and_relu) row(quantized_conv2d_with_bias_sum_and_relu_and_requantize) \
  row(quantized_conv2d_with_bias_signed_sum_and_relu_and_requantize) row(quantized_depthwise_conv2d) \
  row(quantized_depthwise_conv2d_with_bias) row(quantized_depthwise_conv2d_with_bias_and_relu) \
  row(quantized_depthwise_conv2d_with_bias_and_relu_and_requantize) row(quantized_mat_mul_with_bias) \
  row(quantized_mat_mul_with_bias_and_relu) row(quantized_mat_mul_with_bias_and_relu_and_requantize) \
  row(requantize_per_channel) row(requantization_range_per_channel)
// clang-format on
WEIR_OP_TABLE(quantized_ops, ROWS)
