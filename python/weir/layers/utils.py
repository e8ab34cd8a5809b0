"""What layers take as arguments, and the sizes that they give."""

from weir import _weir, nest
from weir.core import stack
from weir.core.graph import Tensor
from weir.core.variables import Variable
from weir.layers.arguments import _conv_length, _data_format, _deconv_length, _padding, _sizes
from weir.ops import control_flow_ops

_FORMATS = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}


def convert_data_format(data_format, ndim):
    """TensorFlow's name of a layout of tensors of so many dimensions."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in _FORMATS:
        raise ValueError("Input rank not supported:", ndim)
    return _FORMATS[ndim][data_format == "channels_first"]


def normalize_tuple(value, n, name):
    return _sizes(value, n, name)


def normalize_data_format(value):
    return _data_format(value)


def normalize_padding(value):
    padding = _padding(value)
    if padding == "causal":
        raise ValueError(f'The `padding` argument must be one of "valid", "same". Received: {padding}')
    return padding


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    if padding == "full" and input_length is not None:
        extent = filter_size + (filter_size - 1) * (dilation - 1)
        return (input_length + extent - 1 + stride - 1) // stride
    return _conv_length(input_length, filter_size, padding, stride, dilation)


def conv_input_length(output_length, filter_size, padding, stride):
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length, filter_size, padding, stride):
    if padding == "full" and input_length is not None:
        return input_length * stride - (stride + filter_size - 2)
    return _deconv_length(input_length, filter_size, padding, None, stride)


def constant_value(pred):
    """True or False where a condition is known when the graph is built, else None."""
    if isinstance(pred, bool) or pred is None or isinstance(pred, int) and pred in (0, 1):
        return None if pred is None else bool(pred)
    if isinstance(pred, Variable):
        return None
    if isinstance(pred, Tensor):
        value = _weir.constant_value(pred)
        return None if value is None else bool(value)
    raise TypeError("`pred` must be a Tensor, a Variable, or a Python bool.")


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """``true_fn()`` or ``false_fn()``, chosen now where the condition is known."""
    known = constant_value(pred)
    if known is None and pred is not None:
        return control_flow_ops.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def get_reachable_from_inputs(inputs, targets=None):
    """The tensors and operations that are computed from ``inputs``."""
    graph = stack.get_default_graph()
    found = set(nest.flatten(inputs))
    for item in list(found):
        if isinstance(item, Variable):
            found.add(item._handle)
    for op in graph.get_operations():  # in the order in which they were made: inputs come first
        if any(tensor in found for tensor in op.inputs) or any(source in found for source in op.control_inputs):
            found.add(op)
            found.update(op.outputs)
    return found
