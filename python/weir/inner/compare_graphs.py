"""Graphs beside each other."""

from weir import protos
from weir.test import assert_equal_graph_def


def EqualGraphDefWrapper(actual, expected):
    """The first difference of two serialised GraphDefs, or nothing, as bytes."""
    try:
        assert_equal_graph_def(protos.GraphDef.FromString(actual), protos.GraphDef.FromString(expected))
    except AssertionError as error:
        return str(error).encode()
    return b""
