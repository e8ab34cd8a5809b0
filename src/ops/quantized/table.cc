#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(fake_quant_with_min_max_args) row(fake_quant_with_min_max_args_gradient) row(fake_quant_with_min_max_vars) \
  row(fake_quant_with_min_max_vars_gradient) row(fake_quant_with_min_max_vars_per_channel) \
  row(fake_quant_with_min_max_vars_per_channel_gradient) row(quantize_v2) row(dequantize) \
  row(quantize_and_dequantize) row(quantize_and_dequantize_v2) row(quantize_and_dequantize_v3) row(requantize) \
  row(quantize_down_and_shrink_range) row(requantization_range) row(quantized_mat_mul) row(quantized_conv2d) \
  row(quantized_bias_add) row(quantized_relu) row(quantized_relu6) row(quantized_relu_x)
// clang-format on
WEIR_OP_TABLE(quantized_ops, ROWS)
