"""Pictures: the functions of tf.image, which C++ makes the nodes of."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.ops import random_ops, simple


class ResizeMethod:
    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3, "lanczos3": 4, "lanczos5": 5, "gaussian": 6,
            "mitchellcubic": 7}

simple.install(globals(), {
    "decode_jpeg": "DecodeJpeg",
    "decode_and_crop_jpeg": "DecodeAndCropJpeg",
    "extract_jpeg_shape": "ExtractJpegShape",
    "decode_png": "DecodePng",
    "decode_gif": "DecodeGif",
    "decode_bmp": "DecodeBmp",
    "encode_jpeg": "EncodeJpeg",
    "encode_png": "EncodePng",
    "resize_area": "ResizeArea",
    "rgb_to_hsv": "RGBToHSV",
    "hsv_to_rgb": "HSVToRGB",
    # Parts of functions below; their results have names.
    "_sample_box": "SampleDistortedBoundingBoxV2",
    "_suppress_padded": "NonMaxSuppressionV4",
    "_suppress_combined": "CombinedNonMaxSuppression",
})


# ---- Files.

def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    return _weir.image_decode(_graph(), contents, channels, dtypes.as_dtype(dtype), bool(expand_animations), name)


def is_jpeg(contents, name=None):
    return _weir.image_is_jpeg(_graph(), contents, name)


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    return _weir.image_adjust_jpeg_quality(_graph(), image, jpeg_quality, name)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    return _weir.image_random_jpeg_quality(_graph(), image, min_jpeg_quality, max_jpeg_quality, seed)


# ---- Types and colours.

def convert_image_dtype(image, dtype, saturate=False, name=None):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    return _weir.image_convert_dtype(_graph(), image, dtype, bool(saturate), name)


def rgb_to_grayscale(images, name=None):
    return _weir.image_rgb_to_grayscale(_graph(), images, name)


def grayscale_to_rgb(images, name=None):
    return _weir.image_grayscale_to_rgb(_graph(), images, name)


def rgb_to_yiq(images):
    return _weir.image_rgb_to_yiq(_graph(), images)


def yiq_to_rgb(images):
    return _weir.image_yiq_to_rgb(_graph(), images)


def rgb_to_yuv(images):
    return _weir.image_rgb_to_yuv(_graph(), images)


def yuv_to_rgb(images):
    return _weir.image_yuv_to_rgb(_graph(), images)


def adjust_brightness(image, delta, min_value=None, max_value=None):
    """Releases before 0.8 also took the limits of the picture; the type says them now."""
    return _weir.image_adjust_brightness(_graph(), image, delta)


def adjust_contrast(images, contrast_factor, min_value=None, max_value=None):
    return _weir.image_adjust_contrast(_graph(), images, contrast_factor)


def adjust_gamma(image, gamma=1, gain=1):
    return _weir.image_adjust_gamma(_graph(), image, gamma, gain)


def adjust_hue(image, delta, name=None):
    return _weir.image_adjust_hue(_graph(), image, delta, name)


def adjust_saturation(image, saturation_factor, name=None):
    return _weir.image_adjust_saturation(_graph(), image, saturation_factor, name)


def random_brightness(image, max_delta, seed=None):
    return _weir.image_random_brightness(_graph(), image, max_delta, seed)


def random_contrast(image, lower, upper, seed=None):
    return _weir.image_random_contrast(_graph(), image, lower, upper, seed)


def random_saturation(image, lower, upper, seed=None):
    return _weir.image_random_saturation(_graph(), image, lower, upper, seed)


def random_hue(image, max_delta, seed=None):
    return _weir.image_random_hue(_graph(), image, max_delta, seed)


def per_image_standardization(image):
    return _weir.image_standardization(_graph(), image)


per_image_whitening = per_image_standardization  # until 0.11


# ---- Parts and places.

def flip_left_right(image):
    return _weir.image_flip_left_right(_graph(), image)


def flip_up_down(image):
    return _weir.image_flip_up_down(_graph(), image)


def random_flip_left_right(image, seed=None):
    return _weir.image_random_flip_left_right(_graph(), image, seed)


def random_flip_up_down(image, seed=None):
    return _weir.image_random_flip_up_down(_graph(), image, seed)


def rot90(image, k=1, name=None):
    return _weir.image_rot90(_graph(), image, k, name)


def transpose(image, name=None):
    return _weir.image_transpose(_graph(), image, name)


transpose_image = transpose


def central_crop(image, central_fraction):
    return _weir.image_central_crop(_graph(), image, central_fraction)


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    return _weir.image_crop_to_bounding_box(_graph(), image, offset_height, offset_width, target_height, target_width)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    return _weir.image_pad_to_bounding_box(_graph(), image, offset_height, offset_width, target_height, target_width)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    return _weir.image_resize_with_crop_or_pad(_graph(), image, target_height, target_width)


def random_crop(value, size, seed=None, name=None):
    """A piece of ``size`` from a random place. Until 0.7 the size was [height, width] of a picture."""
    shape = convert_to_tensor(value).shape
    if isinstance(size, (list, tuple)) and len(size) == 2 and shape.ndims == 3:
        seed1, seed2 = random_ops.get_seed(seed)
        attrs = {"seed": seed1 or 0, "seed2": seed2 or 0}
        return apply("RandomCrop", (value, size), attrs, name)
    return random_ops.random_crop(value, size, seed=seed, name=name)


# ---- Sizes.

def _method(method, count=4):
    method = _METHODS.get(method, method) if isinstance(method, str) else method
    if method not in range(count):
        raise ValueError("Resize method is not implemented.")
    return int(method)


def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False,
                  name=None, **old):
    """Until 0.12 the height and the width were arguments of their own: (images, new_height, new_width, method,
    align_corners)."""
    if "new_height" in old or "new_width" in old:
        size = (old.pop("new_height", size), old.pop("new_width", method))
        method, align_corners = old.pop("method", ResizeMethod.BILINEAR), align_corners
    elif _is_number(size) and not isinstance(method, str) and not (hasattr(size, "op") and method in (0, 1, 2, 3)):
        size, method, align_corners, preserve_aspect_ratio = (
            (size, method), ResizeMethod.BILINEAR if align_corners is False else align_corners, preserve_aspect_ratio,
            False)
    if old:
        raise TypeError(f"resize_images() got an unexpected keyword argument {next(iter(old))!r}")
    return _weir.image_resize(_graph(), images, _size(size), _method(method), bool(align_corners),
                              bool(preserve_aspect_ratio), name)


def _size(size):
    """A list of whole numbers, or a tensor."""
    if isinstance(size, (list, tuple)) and any(isinstance(length, float) for length in size):
        raise ValueError("'size' must be a 1-D int32 Tensor")
    if isinstance(size, (list, tuple)) and None in size:
        raise ValueError("'size' must be a 1-D int32 Tensor")
    return size


def _is_number(size):
    """Whether this is one size, not two."""
    if hasattr(size, "shape"):
        return getattr(size.shape, "ndims", None) == 0 or size.shape == ()
    return not hasattr(size, "__len__")


resize = resize_images


def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False):
    return _weir.image_resize_with_pad(_graph(), image, target_height, target_width, _method(method),
                                       bool(align_corners), False, False)


def _resize(op):
    def function(images, size, align_corners=False, name=None, half_pixel_centers=False):
        attrs = {"align_corners": bool(align_corners), "half_pixel_centers": bool(half_pixel_centers)}
        return apply(op, (images, size), attrs, name)

    return function


resize_bilinear = _resize("ResizeBilinear")
resize_nearest_neighbor = _resize("ResizeNearestNeighbor")
resize_bicubic = _resize("ResizeBicubic")


def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):
    box_ind = simple.either("box_ind", box_ind, "box_indices", box_indices)
    return apply("CropAndResize", (image, boxes, box_ind, crop_size),
                 {"method": method, "extrapolation_value": extrapolation_value}, name)


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    attrs = {"centered": centered, "normalized": normalized, "uniform_noise": uniform_noise,
             "noise": "uniform" if uniform_noise else ""}
    return apply("ExtractGlimpse", (input, size, offsets), attrs, name)


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    ksizes = simple.either("ksizes", ksizes, "sizes", sizes)
    return apply("ExtractImagePatches", (images,),
                 {"ksizes": ksizes, "strides": strides, "rates": rates, "padding": padding}, name)


def extract_patches(images, sizes, strides, rates, padding, name=None):
    return extract_image_patches(images, sizes, strides, rates, padding, name)


# ---- Measures.

def total_variation(images, name=None):
    return _weir.image_total_variation(_graph(), images, name)


def psnr(a, b, max_val, name=None):
    return _weir.image_psnr(_graph(), a, b, max_val, name)


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    return _weir.image_ssim(_graph(), img1, img2, max_val, filter_size, filter_sigma, k1, k2)


_MSSSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(img1, img2, max_val, power_factors=_MSSSIM_WEIGHTS, filter_size=11, filter_sigma=1.5, k1=0.01,
                    k2=0.03):
    return _weir.image_ssim_multiscale(_graph(), img1, img2, max_val, list(power_factors), filter_size, filter_sigma,
                                       k1, k2)


def image_gradients(image):
    return _weir.image_gradients(_graph(), image)


def sobel_edges(image):
    return _weir.image_sobel_edges(_graph(), image)


# ---- Boxes.

def draw_bounding_boxes(images, boxes, name=None, colors=None):
    if colors is None:
        return apply("DrawBoundingBoxes", (images, boxes), {}, name)
    return apply("DrawBoundingBoxesV2", (images, boxes, colors), {}, name)


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None, max_attempts=None,
                                  use_image_if_no_bounding_boxes=None, name=None):
    given = {"seed": seed, "seed2": seed2, "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
             "max_attempts": max_attempts, "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes}
    attrs = {key: value for key, value in given.items() if value is not None}
    covered = 0.1 if min_object_covered is None else min_object_covered
    with name_scope(name, "sample_distorted_bounding_box"):
        return _sample_box(image_size, bounding_boxes, covered, name=name, **attrs)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    with name_scope(name, "non_max_suppression"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return apply("NonMaxSuppressionV3", (boxes, scores, max_output_size, *thresholds), {}, None)


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    with name_scope(name, "non_max_suppression_with_scores"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, selected_scores, _ = apply("NonMaxSuppressionV5", (boxes, scores, max_output_size, *thresholds, sigma),
                                            {"pad_to_max_output_size": False}, None)
        return indices, selected_scores


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None):
    with name_scope(name, "non_max_suppression_padded"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return _suppress_padded(boxes, scores, max_output_size, *thresholds,
                                pad_to_max_output_size=bool(pad_to_max_output_size))


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5,
                                 score_threshold=float("-inf"), name=None):
    with name_scope(name, "non_max_suppression_overlaps"):
        threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return apply("NonMaxSuppressionWithOverlaps", (overlaps, scores, max_output_size, threshold, score_threshold),
                     {}, None)


def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    with name_scope(name, "combined_non_max_suppression"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return _suppress_combined(boxes, scores, max_output_size_per_class, max_total_size, *thresholds,
                                  pad_per_class=bool(pad_per_class), clip_boxes=bool(clip_boxes))


def _thresholds(iou_threshold, score_threshold):
    return (convert_to_tensor(iou_threshold, name="iou_threshold"),
            convert_to_tensor(score_threshold, name="score_threshold"))
