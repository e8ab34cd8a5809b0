"""What TensorFlow 1.15 has beside tf.image for its second version: under tensorflow.python.ops.image_ops."""

from weir import _weir
from weir.core.graph import get_seed
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph
from weir.image import image_ops
from weir.image.image_ops import ResizeMethod as ResizeMethodV1  # noqa: F401
from weir.image.image_ops import crop_and_resize as crop_and_resize_v1  # noqa: F401
from weir.image.image_ops import non_max_suppression_overlaps as non_max_suppression_with_overlaps  # noqa: F401
from weir.image.image_ops import resize_image_with_pad as resize_image_with_pad_v1  # noqa: F401


class ResizeMethod:
    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def resize_images_v2(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False,
                     name=None):
    return _weir.image_resize_v2(_graph(), images, image_ops._size(size), image_ops._method(method, 8),
                                 bool(preserve_aspect_ratio), bool(antialias), name)


def resize_image_with_pad_v2(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    return _weir.image_resize_with_pad(_graph(), image, target_height, target_width, image_ops._method(method, 8),
                                       False, True, bool(antialias))


def crop_and_resize_v2(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None):
    return image_ops.crop_and_resize(image, boxes, box_indices, crop_size, method, extrapolation_value, name)


def extract_glimpse_v2(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    attrs = {"centered": centered, "normalized": normalized, "uniform_noise": False, "noise": noise}
    return apply("ExtractGlimpse", (input, size, offsets), attrs, name)


def sample_distorted_bounding_box_v2(image_size, bounding_boxes, seed=0, min_object_covered=0.1,
                                     aspect_ratio_range=None, area_range=None, max_attempts=None,
                                     use_image_if_no_bounding_boxes=None, name=None):
    seed1, seed2 = get_seed(seed) if seed else (0, 0)
    return image_ops.sample_distorted_bounding_box(image_size, bounding_boxes, seed1, seed2, min_object_covered,
                                                   aspect_ratio_range, area_range, max_attempts,
                                                   use_image_if_no_bounding_boxes, name)


def draw_bounding_boxes_v2(images, boxes, colors, name=None):
    return image_ops.draw_bounding_boxes(images, boxes, name=name, colors=colors)
