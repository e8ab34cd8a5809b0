"""Strings cut into parts, as the rows of a sparse or a ragged tensor."""

from weir import names
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.ops import array_ops
from weir.ops.simple import either
from weir.ops.sparse_ops import SparseTensor


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """The words of each string, in the rows of a SparseTensor."""
    delimiter = either("sep", sep, "delimiter", delimiter)
    delimiter = convert_to_tensor(" " if delimiter is None else delimiter, dtype=dtypes.string)
    indices, values, shape = apply("StringSplit", (convert_to_tensor(source, dtype=dtypes.string), delimiter),
                                   {"skip_empty": skip_empty}, name)
    return _words(indices, values, shape, result_type)


def _words(indices, values, shape, result_type):
    if result_type == "SparseTensor":
        return SparseTensor(indices, values, shape)
    if result_type != "RaggedTensor":
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    ragged = names.at("weir.ragged.tensor:RaggedTensor")
    return ragged.from_value_rowids(values, indices[:, 0], shape[0], validate=False)


def string_split_v2(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The parts of each string between separators; between any white space when there is none."""
    if result_type == "RaggedTensor":
        return names.at("weir.ragged.text:split_v2")(either("input", input, "source", source), sep, maxsplit, name)
    strings = convert_to_tensor(either("input", input, "source", source), dtype=dtypes.string, name="source")
    if strings.shape.ndims == 0:
        strings = array_ops.expand_dims(strings, 0)
    separator = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string, name="sep")
    return _words(*apply("StringSplitV2", (strings, separator), {"maxsplit": maxsplit}, name), result_type)
