"""tensorflow.python.saved_model.utils_impl: where the parts of a SavedModel are."""

import os

from weir.saved_model.signatures import build_tensor_info, get_tensor_from_tensor_info  # noqa: F401: asked for here


def get_variables_dir(export_dir):
    return os.path.join(os.fsdecode(export_dir), "variables")


def get_variables_path(export_dir):
    return os.path.join(get_variables_dir(export_dir), "variables")


def get_assets_dir(export_dir):
    return os.path.join(os.fsdecode(export_dir), "assets")


def get_or_create_variables_dir(export_dir):
    path = get_variables_dir(export_dir)
    os.makedirs(path, exist_ok=True)
    return path


def get_or_create_assets_dir(export_dir):
    path = get_assets_dir(export_dir)
    os.makedirs(path, exist_ok=True)
    return path
