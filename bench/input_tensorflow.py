"""TensorFlow, of any release, for input.py."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow  # noqa: E402

from input_workloads import serve  # noqa: E402

tf = getattr(getattr(tensorflow, "compat", None), "v1", tensorflow)
if hasattr(tf, "disable_v2_behavior"):
    tf.disable_v2_behavior()
serve(tf, "TensorFlow " + tensorflow.__version__)
