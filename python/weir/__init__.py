"""Weir: a dataflow machine-learning engine with TensorFlow 1's interface.

``import weir as tf`` in a program of one's own; ``weir run program.py`` for a program that imports tensorflow.
"""

from weir import _weir
from weir.core import custom_gradients as _custom_gradients, dtypes as _dtypes
from weir.core.custom_gradients import (NoGradient, NotDifferentiable, RegisterGradient, custom_gradient,
                                        grad_pass_through, no_gradient)
from weir.core.graph import (Graph, GraphKeys, IndexedSlices, Operation, Tensor, _convert, add_to_collection,
                             add_to_collections, colocate_with, container, control_dependencies,
                             convert_to_tensor, convert_to_tensor_or_indexed_slices, device, get_collection,
                             get_collection_ref, get_seed, import_graph_def, name_scope, op_scope,
                             register_tensor_conversion_function, set_random_seed)
from weir.core.session import (InteractiveSession, Session, _expand_feed, _expand_fetch, _record_metadata)
from weir.core.stack import get_default_graph, get_default_session, reset_default_graph
from weir.core.tensor_shape import Dimension, TensorShape, dimension_value
from weir.core.variables import *  # noqa: F401,F403
from weir.core.variables import Variable
from weir import _lazy


def _call_function(*args):
    from weir.ops import script_ops

    return script_ops._call_function(*args)


def _make_error(*parts):
    from weir import errors

    return errors.from_parts(*parts)


def _make_build_error(*parts):
    from weir import errors

    return errors.of_building(*parts)


_weir.set_package({
    "Tensor": Tensor, "Operation": Operation, "Variable": Variable, "IndexedSlices": IndexedSlices,
    "as_dtype": _dtypes.as_dtype, "dtypes": _dtypes._BY_ENUM | {0: None}, "make_error": _make_error,
    "make_build_error": _make_build_error, "convert": _convert, "expand_fetch": _expand_fetch, "expand_feed": _expand_feed,
    "record_metadata": _record_metadata, "gradient_types": _custom_gradients._types,
    "call_gradient": _custom_gradients._call, "call_function": _call_function, "directory": __path__[0] + "/",
})

from weir.core.variable_scope import *  # noqa: E402,F401,F403
from weir.ops.array_ops import *  # noqa: E402,F401,F403
from weir.ops.check_ops import *  # noqa: E402,F401,F403
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
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0
CXX11_ABI_FLAG, MONOLITHIC_BUILD = 1, 0
QUANTIZED_DTYPES = _dtypes.QUANTIZED_DTYPES
DType, as_dtype = _dtypes.DType, _dtypes.as_dtype
for _name, _dtype in _dtypes._BY_NAME.items():
    if _name not in ("float", "int", "bytes", "str") and not _name.endswith("_ref"):
        globals()[_name] = _dtype



def executing_eagerly():
    return False


def _nothing_to_do():
    """Weir has graphs only, and TensorFlow 1's behaviour: there is nothing to switch off."""


disable_eager_execution = disable_v2_behavior = disable_v2_tensorshape = disable_control_flow_v2 = _nothing_to_do
disable_tensor_equality = _nothing_to_do

_MESSAGES = ("AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto", "LogMessage",
             "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata", "RunOptions", "SessionLog",
             "Summary", "SummaryMetadata", "TensorInfo", "TensorProto", "TensorShapeProto")
_MODULES = ("app", "compat", "contrib", "device_lib", "errors", "examples", "flags", "gfile", "graph_util", "logging",
            "losses", "metrics", "nest", "nn", "protos", "python_io", "resource_loader", "summary", "sysconfig", "test",
            "timeline", "train")
_ELSEWHERE = {
    "weir.errors": ("OpError",),
    "weir.core.device": ("DeviceSpec",),
    "weir.ops.sparse_ops": ("SparseTensor", "convert_to_tensor_or_sparse_tensor", "sparse_mask", "sparse_placeholder",
                             "sparse_retain", "sparse_tensor_dense_matmul", "sparse_tensor_to_dense", "sparse_to_dense",
                             "string_split"),
    "weir.core.template": ("make_template",),
    "weir.ops.functional_ops": ("foldl", "foldr", "map_fn", "scan"),
    "weir.ops.script_ops": ("numpy_function", "py_func"),
    "weir.ops.tensor_array_ops": ("TensorArray",),
    "weir.core.tensor_util": ("from_dlpack", "get_static_value", "make_ndarray", "make_tensor_proto"),
    "weir.core.values": ("IndexedSlicesValue", "SparseTensorValue", "TensorSpec"),
    "weir.ops.partitioners": ("create_partitioned_variables", "fixed_size_partitioner", "min_max_variable_partitioner",
                              "variable_axis_size_partitioner"),
}

__getattr__ = _lazy.resolver("weir", {
    **{name: ("weir.protos", name) for name in _MESSAGES},
    **{name: ("weir." + name, None) for name in _MODULES},
    **{name: ("weir.namespaces", name) for name in _lazy.NAMESPACES},
    **{name: ("weir.summary", name) for name in (
        "scalar_summary", "histogram_summary", "image_summary", "audio_summary", "merge_summary",
        "merge_all_summaries")},
    **{name: (module, name) for module, names in _ELSEWHERE.items() for name in names},
    "types": ("weir.namespaces", "dtypes"),  # TensorFlow 0.5's name
    "show_graph": ("weir.graph_picture", "show_graph"),
    "install_as_tensorflow": ("weir.tensorflow_alias", "install"),
})
