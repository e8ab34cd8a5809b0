#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Pictures as tensors: the functions that make one node each. image.h has those that are made of several. A picture is
// [height, width, channels], a batch of them [batch, height, width, channels].
namespace weir::image {

// Files. `contents` is a scalar string; image_codecs.h says which files are refused.
struct DecodeJpegOptions {
  int64_t channels = 0;                // 0: as in the file; 1: grey; 3: RGB
  int64_t ratio = 1;                   // 1, 2, 4 or 8: so many times smaller
  bool fancy_upscaling = true;         // false: quicker, coarser colours
  bool try_recover_truncated = false;  // go on with what there is of a file that is cut short
  float acceptable_fraction = 1;       // of the lines that must be there
  std::string dct_method = {};         // "INTEGER_FAST", which is the default, or "INTEGER_ACCURATE"
};
WEIR_API Output decode_jpeg(const In& contents, const DecodeJpegOptions& options = {}, std::string_view name = {});
// Decodes the window [y, x, height, width] alone, which is quicker than to cut it out.
WEIR_API Output decode_and_crop_jpeg(const In& contents, const In& crop_window, const DecodeJpegOptions& options = {},
                                     std::string_view name = {});
WEIR_API Output extract_jpeg_shape(const In& contents, DType output_type = int32, std::string_view name = {});

struct DecodePngOptions {
  int64_t channels = 0;  // 0: as in the file; 1: grey; 3: RGB; 4: RGBA
  DType dtype = uint8;   // or uint16
};
WEIR_API Output decode_png(const In& contents, const DecodePngOptions& options = {}, std::string_view name = {});
// All frames: [frames, height, width, 3].
WEIR_API Output decode_gif(const In& contents, std::string_view name = {});
WEIR_API Output decode_bmp(const In& contents, int64_t channels = 0, std::string_view name = {});

struct EncodeJpegOptions {
  std::string format = {};  // "grayscale", "rgb", or as the picture has channels
  int64_t quality = 95;     // 0 to 100
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  std::string density_unit = "in";  // or "cm"
  int64_t x_density = 300, y_density = 300;
  std::string xmp_metadata = {};
};
WEIR_API Output encode_jpeg(const In& image, const EncodeJpegOptions& options = {}, std::string_view name = {});
WEIR_API Output encode_jpeg_variable_quality(const In& image, const In& quality, std::string_view name = {});
// `compression` is 0 (none) to 9 (slow), or -1 for the usual. The picture may have uint8 or uint16.
WEIR_API Output encode_png(const In& image, int64_t compression = -1, std::string_view name = {});

// Other sizes. `images` is a batch; `size` is [height, width]. All but the nearest neighbour give float32.
struct ResizeOptions {
  bool align_corners = false;       // the centres of the corner pixels fall on each other
  bool half_pixel_centers = false;  // pixels have their centres at 0.5; not with align_corners
};
WEIR_API Output resize_bilinear(const In& images, const In& size, const ResizeOptions& options = {},
                                std::string_view name = {});
WEIR_API Output resize_nearest_neighbor(const In& images, const In& size, const ResizeOptions& options = {},
                                        std::string_view name = {});
WEIR_API Output resize_bicubic(const In& images, const In& size, const ResizeOptions& options = {},
                               std::string_view name = {});
// Means of what each pixel covers. No gradient.
WEIR_API Output resize_area(const In& images, const In& size, bool align_corners = false, std::string_view name = {});

struct ScaleAndTranslateOptions {
  std::string kernel_type = "lanczos3";  // lanczos1, 3, 5, gaussian, box, triangle, keyscubic, mitchellcubic
  bool antialias = true;
};
WEIR_API Output scale_and_translate(const In& images, const In& size, const In& scale, const In& translation,
                                    const ScaleAndTranslateOptions& options = {}, std::string_view name = {});

// Parts. `boxes` [n, 4] are y1, x1, y2, x2 in [0, 1]; outside of the image it is `extrapolation_value`.
struct CropAndResizeOptions {
  std::string method = "bilinear";  // or "nearest"
  float extrapolation_value = 0;
};
WEIR_API Output crop_and_resize(const In& image, const In& boxes, const In& box_indices, const In& crop_size,
                                const CropAndResizeOptions& options = {}, std::string_view name = {});

struct ExtractGlimpseOptions {
  bool centered = true, normalized = true, uniform_noise = true;
  std::string noise = "uniform";  // outside of the picture: uniform, gaussian, zero
};
WEIR_API Output extract_glimpse(const In& input, const In& size, const In& offsets,
                                const ExtractGlimpseOptions& options = {}, std::string_view name = {});

struct PatchOptions {
  std::vector<int64_t> ksizes, strides, rates;  // [1, rows, columns, 1] each
  std::string padding = "VALID";                // or "SAME"
};
// [batch, rows, columns, taps * channels]
WEIR_API Output extract_image_patches(const In& images, const PatchOptions& options, std::string_view name = {});

// Colours.
WEIR_API Output rgb_to_hsv(const In& images, std::string_view name = {});
WEIR_API Output hsv_to_rgb(const In& images, std::string_view name = {});

// Boxes [batch, n, 4] drawn onto pictures, in `colors` [m, 4] one after the other.
WEIR_API Output draw_bounding_boxes(const In& images, const In& boxes, const std::optional<In>& colors = {},
                                    std::string_view name = {});

}  // namespace weir::image
