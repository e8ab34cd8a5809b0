"""tf.print: text from values while a graph runs."""

import os
import sys

from weir import nest
from weir.core.graph import Tensor, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor import IndexedSlices
from weir.core.variables import Variable
from weir.ops.sparse_ops import SparseTensor
from weir.ops.string_ops import string_format

_STREAMS = {"sys.stdout": "stdout", "sys.stderr": "stderr", "tf.logging.info": "log(info)",
            "tf.logging.warning": "log(warning)", "tf.logging.error": "log(error)"}


def _stream(given):
    if given is None or given is sys.stderr:
        return "stderr"
    if given is sys.stdout:
        return "stdout"
    if isinstance(given, str) and given.startswith("file://"):
        return given
    name = getattr(given, "__name__", given)
    for text, stream in _STREAMS.items():
        if name == text or text.endswith(f".{name}"):
            return stream
    raise ValueError(f"Unsupported output stream, logging level, or file.{given}. Supported streams are sys.stdout, "
                     "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of "
                     "'file://<filepath>'.")


def print_v2(*inputs, **kwargs):
    """Prints the inputs, tensors with their values of the moment, when the operation that it gives runs."""
    output_stream, name = kwargs.pop("output_stream", sys.stderr), kwargs.pop("name", None)
    summarize, sep, end = kwargs.pop("summarize", 3), kwargs.pop("sep", " "), kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream(output_stream)
    with name_scope(name, "print", []):
        if len(inputs) == 1 and _is_text(inputs[0]):
            text = inputs[0]
        else:
            texts, tensors = [], []
            for item in inputs:
                texts.append(_template(item, tensors))
            text = string_format(sep.join(texts), tensors, summarize=-1 if summarize is None else summarize,
                                 placeholder="{}")
        return apply("PrintV2", (text,), {"output_stream": stream, "end": end}, None)


def _is_text(value):
    return isinstance(value, Tensor) and value.dtype.base_dtype.name == "string" and value.shape.ndims == 0


def _is_value(value):
    return isinstance(value, (Tensor, Variable))


def _template(item, tensors):
    """An input as text with a place for each tensor, which are collected."""
    if isinstance(item, (SparseTensor, IndexedSlices)):
        label = "SparseTensor" if isinstance(item, SparseTensor) else "IndexedSlices"
        parts = [("indices", item.indices), ("values", item.values),
                 ("shape" if isinstance(item, SparseTensor) else "dense_shape", item.dense_shape)]
        inner = ", ".join(f"{key}={_template(part, tensors)}" for key, part in parts if part is not None)
        return f"'{label}({inner})'"
    if _is_value(item):
        tensors.append(convert_to_tensor(item))
        return "{}"
    if nest.is_sequence(item):
        def hole(leaf):
            is_tensor = _is_value(leaf) or isinstance(leaf, (SparseTensor, IndexedSlices))
            return _Hole(_template(leaf, tensors)) if is_tensor else leaf

        return str(nest.map_structure(hole, item))
    return str(item)


class _Hole:
    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def timestamp(name=None):
    """The seconds since 1970, when it runs."""
    return apply("Timestamp", (), {}, name)
