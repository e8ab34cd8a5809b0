"""tf.contrib.image: pictures turned, moved and bent."""

from weir import _weir, names as _names
from weir.core.op_functions import raw_ops as _raw_ops
from weir.core.stack import get_default_graph as _graph


def rotate(images, angles, interpolation="NEAREST", name=None):
    return _weir.image_rotate(_graph(), images, angles, interpolation.upper(), None, name)


def translate(images, translations, interpolation="NEAREST", name=None):
    return _weir.image_translate(_graph(), images, translations, interpolation.upper(), None, name)


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    return _weir.image_transform(_graph(), images, transforms, interpolation.upper(), output_shape, name)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    return _weir.image_angles_to_transforms(_graph(), angles, image_height, image_width, name)


def translations_to_projective_transforms(translations, name=None):
    return _weir.image_translations_to_transforms(_graph(), translations)


def flat_transforms_to_matrices(transforms):
    return _weir.image_transforms_to_matrices(_graph(), transforms)


def matrices_to_flat_transforms(transform_matrices):
    return _weir.image_matrices_to_transforms(_graph(), transform_matrices)


def compose_transforms(*transforms):
    return _weir.image_compose_transforms(_graph(), list(transforms))


def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name=None):
    """The column that each row is matched with, nearest pairs first, and the row of each column; -1 for none."""
    return _raw_ops.BipartiteMatch(distance_mat=distance_mat, num_valid_rows=num_valid_rows, top_k=top_k, name=name)


__getattr__, __dir__ = _names.namespace(__name__)
