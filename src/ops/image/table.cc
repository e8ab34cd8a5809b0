#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(decode_jpeg) row(decode_and_crop_jpeg) row(extract_jpeg_shape) row(decode_png) row(decode_gif) row(decode_bmp) \
  row(encode_jpeg) row(encode_jpeg_variable_quality) row(encode_png) \
  row(resize_bilinear) row(resize_bilinear_grad) row(resize_nearest_neighbor) row(resize_nearest_neighbor_grad) \
  row(resize_bicubic) row(resize_bicubic_grad) row(resize_area) row(scale_and_translate) row(scale_and_translate_grad) \
  row(crop_and_resize) row(crop_and_resize_grad_image) row(crop_and_resize_grad_boxes) \
  row(extract_glimpse) row(extract_image_patches) row(random_crop) \
  row(rgb_to_hsv) row(hsv_to_rgb) row(adjust_hue) row(adjust_saturation) row(adjust_contrast_v2) row(adjust_contrast) \
  row(draw_bounding_boxes) row(draw_bounding_boxes_v2) \
  row(sample_distorted_bounding_box) row(sample_distorted_bounding_box_v2) \
  row(non_max_suppression) row(non_max_suppression_v2) row(non_max_suppression_v3) row(non_max_suppression_v4) \
  row(non_max_suppression_v5) row(non_max_suppression_with_overlaps) row(combined_non_max_suppression) row(bipartite_match) \
  row(image_projective_transform) row(image_projective_transform_v2)
// clang-format on
WEIR_OP_TABLE(image_ops, ROWS)
