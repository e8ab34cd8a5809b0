#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/image_ops.h"

// Pictures as tensors: the functions that are made of several operations. Nodes, their names and their order are those
// of TensorFlow's tf.image. A picture is [height, width, channels]; where both are taken, `images` may be a batch of
// them. Mistakes that show when the graph is built throw InvalidArgument; others fail the run.
namespace weir::image {

// --- Files

// Any of JPEG, PNG, GIF and BMP, by its first bytes. The shape is not known before the run: an animated GIF has four
// dimensions.
struct DecodeImageOptions {
  int64_t channels = 0;
  DType dtype = uint8;
  bool expand_animations = true;  // false: the first frame of a GIF alone
};
WEIR_API Output decode_image(const In& contents, const DecodeImageOptions& options = {}, std::string_view name = {});
WEIR_API Output is_jpeg(const In& contents, std::string_view name = {});
// What is left of a picture after it was a JPEG file.
WEIR_API Output adjust_jpeg_quality(const In& image, const In& quality, std::string_view name = {});

// --- Types and colours

// Integers stand for 0 to their largest value, floating-point numbers for 0 to 1. `saturate` clips what does not fit.
struct ConvertOptions {
  bool saturate = false;
};
WEIR_API Output convert_image_dtype(const In& image, DType dtype, const ConvertOptions& options = {},
                                    std::string_view name = {});
WEIR_API Output rgb_to_grayscale(const In& images, std::string_view name = {});
WEIR_API Output grayscale_to_rgb(const In& images, std::string_view name = {});
WEIR_API Output rgb_to_yiq(const In& images);
WEIR_API Output yiq_to_rgb(const In& images);
WEIR_API Output rgb_to_yuv(const In& images);
WEIR_API Output yuv_to_rgb(const In& images);

// These give the type that came; integers are taken to floating point and back.
WEIR_API Output adjust_brightness(const In& image, const In& delta);
WEIR_API Output adjust_contrast(const In& images, const In& factor);
WEIR_API Output adjust_gamma(const In& image, const In& gamma = 1, const In& gain = 1);
WEIR_API Output adjust_hue(const In& image, const In& delta, std::string_view name = {});
WEIR_API Output adjust_saturation(const In& image, const In& factor, std::string_view name = {});
// Mean 0 and deviation 1; a picture of one colour becomes 0. Integers become float32, as in TensorFlow before 1.14.
WEIR_API Output per_image_standardization(const In& image);

// --- Parts and places

WEIR_API Output flip_left_right(const In& image);
WEIR_API Output flip_up_down(const In& image);
WEIR_API Output rot90(const In& image, const In& k = 1, std::string_view name = {});  // k quarter turns to the left
WEIR_API Output transpose(const In& image, std::string_view name = {});
WEIR_API Output central_crop(const In& image, double central_fraction);

// Numbers or scalar tensors.
struct BoundingBox {
  In offset_height, offset_width, target_height, target_width;
};
WEIR_API Output crop_to_bounding_box(const In& image, const BoundingBox& box);
// Puts the picture at the offset of a black one.
WEIR_API Output pad_to_bounding_box(const In& image, const BoundingBox& box);
// Cuts, or fills with black, on both sides alike.
WEIR_API Output resize_with_crop_or_pad(const In& image, const In& target_height, const In& target_width);

enum class ResizeMethod { Bilinear, NearestNeighbor, Bicubic, Area, Lanczos3, Lanczos5, Gaussian, MitchellCubic };
struct ResizeImagesOptions {
  ResizeMethod method = ResizeMethod::Bilinear;
  bool align_corners = false, preserve_aspect_ratio = false;
  // As TensorFlow 2 resizes: pixels have their centres at 0.5, and a smaller picture can be filtered first. The methods
  // from Lanczos3 on are of that kind only.
  bool half_pixel_centers = false, antialias = false;
};
// `size` is [height, width]. A picture that has this size already is given back as it is.
WEIR_API Output resize(const In& images, const In& size, const ResizeImagesOptions& options = {},
                       std::string_view name = {});
// As large as fits, with black around it.
WEIR_API Output resize_with_pad(const In& image, const In& target_height, const In& target_width,
                                const ResizeImagesOptions& options = {});

// --- Transforms (tf.contrib.image): eight numbers [a0, a1, a2, b0, b1, b2, c0, c1] say for the pixel (x, y) of the
// result from where it comes: ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1; outside it is
// 0.

struct TransformOptions {
  std::string interpolation = "NEAREST";  // or "BILINEAR"
  std::optional<In> output_shape = {};    // [height, width]; else that of the picture
};
WEIR_API Output transform(const In& images, const In& transforms, const TransformOptions& options = {},
                          std::string_view name = {});
// By radians, to the left, about the centre.
WEIR_API Output rotate(const In& images, const In& angles, const TransformOptions& options = {},
                       std::string_view name = {});
WEIR_API Output translate(const In& images, const In& translations, const TransformOptions& options = {},
                          std::string_view name = {});
WEIR_API Output angles_to_projective_transforms(const In& angles, const In& image_height, const In& image_width,
                                                std::string_view name = {});
WEIR_API Output translations_to_projective_transforms(const In& translations, std::string_view name = {});
WEIR_API Output flat_transforms_to_matrices(const In& transforms);
WEIR_API Output matrices_to_flat_transforms(const In& matrices);
// The last one is applied first.
WEIR_API Output compose_transforms(const std::vector<Output>& transforms);

// --- Random forms, for training: with a seed the same as TensorFlow's

struct RandomOptions {
  std::optional<int64_t> seed = {};
};
// A piece of `size`, one number for each dimension, from anywhere in a tensor of any rank.
WEIR_API Output random_crop(const In& value, const In& size, const RandomOptions& options = {},
                            std::string_view name = {});
WEIR_API Output random_flip_left_right(const In& image, const RandomOptions& options = {});
WEIR_API Output random_flip_up_down(const In& image, const RandomOptions& options = {});
WEIR_API Output random_brightness(const In& image, float max_delta, const RandomOptions& options = {});
WEIR_API Output random_contrast(const In& image, float lower, float upper, const RandomOptions& options = {});
WEIR_API Output random_saturation(const In& image, float lower, float upper, const RandomOptions& options = {});
WEIR_API Output random_hue(const In& image, float max_delta, const RandomOptions& options = {});
WEIR_API Output random_jpeg_quality(const In& image, int64_t lower, int64_t upper, const RandomOptions& options = {});

// --- Measures

WEIR_API Output total_variation(const In& images, std::string_view name = {});
WEIR_API Output psnr(const In& a, const In& b, const In& max_val, std::string_view name = {});
struct SsimOptions {
  int64_t filter_size = 11;
  float filter_sigma = 1.5f, k1 = 0.01f, k2 = 0.03f;
};
WEIR_API Output ssim(const In& a, const In& b, const In& max_val, const SsimOptions& options = {});
WEIR_API Output ssim_multiscale(const In& a, const In& b, const In& max_val,
                                const std::vector<float>& power_factors = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f},
                                const SsimOptions& options = {});
// Differences to the next row and the next column.
WEIR_API std::pair<Output, Output> image_gradients(const In& image);
// [..., 2]: the edges across and along.
WEIR_API Output sobel_edges(const In& image);

// --- Boxes

struct SampleBoxOptions {
  int64_t seed = 0, seed2 = 0;
  In min_object_covered = 0.1f;
  std::vector<float> aspect_ratio_range = {0.75f, 1.33f}, area_range = {0.05f, 1};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
};
// A random part of a picture of `image_size`, as arguments of slice() and as a box for draw_bounding_boxes().
struct SampledBox {
  Output begin, size, box;
};
WEIR_API SampledBox sample_distorted_bounding_box(const In& image_size, const In& bounding_boxes,
                                                  const SampleBoxOptions& options = {}, std::string_view name = {});

struct SuppressionOptions {
  In iou_threshold = 0.5f, score_threshold = -__builtin_huge_valf();
};
// The indices of boxes, best first, that do not overlap a better one.
WEIR_API Output non_max_suppression(const In& boxes, const In& scores, const In& max_output_size,
                                    const SuppressionOptions& options = {}, std::string_view name = {});

}  // namespace weir::image
