"""Weir: a dataflow machine-learning engine with TensorFlow 1's interface.

``import weir as tf`` in a program of one's own; ``weir run program.py`` for a program that imports tensorflow.
"""

from weir import _weir
from weir.framework import dtypes, stack  # noqa: F401
from weir.framework.graph import (Graph, GraphKeys, IndexedSlices, Operation, Tensor, _convert, add_to_collection,
                                  add_to_collections, colocate_with, container, control_dependencies,
                                  convert_to_tensor, convert_to_tensor_or_indexed_slices, device, get_collection,
                                  get_collection_ref, get_seed, import_graph_def, name_scope, op_scope,
                                  register_tensor_conversion_function, set_random_seed)
from weir.framework.session import (InteractiveSession, Session, _expand_feed, _expand_fetch, _record_metadata)
from weir.framework.stack import get_default_graph, get_default_session, reset_default_graph
from weir.framework.tensor_shape import Dimension, TensorShape, dimension_value
from weir.framework.variables import *  # noqa: F401,F403
from weir.framework.variables import Variable
from weir import _lazy


def _make_error(code, message, op, node, file, line):
    from weir import errors

    return errors.from_parts(code, message, op, node, file, line)


_weir.set_package({
    "Tensor": Tensor, "Operation": Operation, "Variable": Variable, "IndexedSlices": IndexedSlices,
    "as_dtype": dtypes.as_dtype, "dtypes": dict(dtypes._BY_ENUM, **{}) | {0: None}, "make_error": _make_error,
    "convert": _convert, "expand_fetch": _expand_fetch, "expand_feed": _expand_feed,
    "record_metadata": _record_metadata, "directory": __path__[0] + "/",
})

from weir.framework.variable_scope import *  # noqa: E402,F401,F403
from weir.ops.array_ops import *  # noqa: E402,F401,F403
from weir.ops.clip_ops import *  # noqa: E402,F401,F403
from weir.ops.control_flow_ops import *  # noqa: E402,F401,F403
from weir.ops.gradients import *  # noqa: E402,F401,F403
from weir.ops.init_ops import *  # noqa: E402,F401,F403
from weir.ops.math_ops import *  # noqa: E402,F401,F403
from weir.ops.random_ops import *  # noqa: E402,F401,F403
from weir.ops.state_ops import *  # noqa: E402,F401,F403

__version__ = "1.15.5"  # the TensorFlow whose interface this is; programs compare with it
VERSION = __version__
GIT_VERSION = "weir"
COMPILER_VERSION = "C++20"
GRAPH_DEF_VERSION = 134
DType, as_dtype = dtypes.DType, dtypes.as_dtype
for _name, _dtype in dtypes._BY_NAME.items():
    if _name not in ("float", "int", "bytes", "str"):
        globals()[_name] = _dtype

_MESSAGES = ("AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto", "LogMessage",
             "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata", "RunOptions", "SessionLog",
             "Summary", "SummaryMetadata", "TensorInfo", "TensorProto", "TensorShapeProto")
_MODULES = ("app", "errors", "examples", "flags", "gfile", "logging", "nn", "protos", "python_io", "summary", "test",
            "train")

__getattr__ = _lazy.resolver("weir", {
    **{name: ("weir.protos", name) for name in _MESSAGES},
    **{name: ("weir." + name, None) for name in _MODULES},
    **{name: ("weir.summary", name) for name in (
        "scalar_summary", "histogram_summary", "image_summary", "audio_summary", "merge_summary",
        "merge_all_summaries")},
    "install_as_tensorflow": ("weir.tensorflow_alias", "install"),
})
