"""Graphs or eager execution, TensorFlow 1's behaviour or 2's: Weir has the first of both."""


def executing_eagerly():
    return False


def _nothing_to_do():
    """There is nothing to switch off."""


disable_eager_execution = disable_v2_behavior = disable_v2_tensorshape = disable_control_flow_v2 = _nothing_to_do
disable_tensor_equality = _nothing_to_do
