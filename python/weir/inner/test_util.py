"""tensorflow.python.framework.test_util: decorators of TensorFlow's tests, and what they ask of the machine.

Weir has graphs and sessions only. A test that TensorFlow runs in both modes runs here in a graph; one that wants eager
execution is skipped.
"""

import contextlib
import functools
import gc
import unittest
from collections import OrderedDict

from weir.core import stack
from weir.core.graph import import_graph_def
from weir.core.tensor import Tensor
from weir.inner.combinations import combine
from weir.inner.ops import get_collection_proto_type
from weir.ops import array_ops
from weir.protos import GraphDef
from weir.test import (TestCase as TensorFlowTestCase, assert_equal_graph_def, gpu_device_name,  # noqa: F401
                       is_gpu_available)


def assert_ops_in_graph(expected_ops, graph):
    """The operations of a graph with these names, by name. ValueError unless all are there, of the types given."""
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in found.items():
        if expected_ops[name] != node.op:
            raise ValueError(f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}")
    if set(expected_ops) != set(found):
        raise ValueError(f"Not all expected ops are present. Expected {set(expected_ops)}, found {set(found)}")
    return found


def get_node_def_from_graph(node_name, graph_def):
    """The node of a graph's definition with this name, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def assert_meta_graph_protos_equal(tester, a, b):
    """Compares two MetaGraphDefs; messages in collections by their fields, nodes in any order. Both are left without what
    was compared."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        mine, other, kind = a.collection_def[key], b.collection_def[key], get_collection_proto_type(key)
        if not kind:
            tester.assertEqual(mine, other)
            continue
        tester.assertEqual(len(mine.bytes_list.value), len(other.bytes_list.value))
        for one, two in zip(mine.bytes_list.value, other.bytes_list.value):
            tester.assertProtoEquals(kind.FromString(one), kind.FromString(two))
    assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    for message in (a, b):
        message.ClearField("collection_def")
        message.ClearField("graph_def")
    tester.assertProtoEquals(a, b)


def _identity_decorator(function=None, *_, **__):
    """A decorator, with or without arguments, of something that makes no difference here."""
    if callable(function):
        return function
    return lambda decorated: decorated


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True, reset_test=True, assert_no_eager_garbage=False):
    def decorator(function):
        @functools.wraps(function)
        def decorated(self, *args, **kwargs):
            with self.test_session(use_gpu=use_gpu, config=config):
                function(self, *args, **kwargs)

        return decorated

    return decorator if func is None else decorator(func)


def _for_all_tests(decorator):
    """The decorator of a class that decorates each of its tests."""

    def decorate(cls):
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith(unittest.TestLoader.testMethodPrefix) and name != "test_session":
                setattr(cls, name, decorator(value))
        return cls

    return decorate


def for_all_test_methods(decorator, *args, **kwargs):
    """The decorator of a class that decorates each of its tests with ``decorator(*args, **kwargs)``."""
    return _for_all_tests(decorator(*args, **kwargs))


run_all_in_graph_and_eager_modes = _for_all_tests(run_in_graph_and_eager_modes)
run_in_eager_and_graph_modes = run_in_graph_and_eager_modes


def run_v1_only(reason, func=None):
    return _identity_decorator if func is None else func


def run_v2_only(func=None):
    skip = unittest.skip("wants the behaviour of TensorFlow 2")
    return skip if func is None else skip(func)


def run_gpu_only(func=None):
    skip = unittest.skip("wants a GPU")
    return skip if func is None else skip(func)


run_cuda_only = run_gpu_only

# Everything runs in the default graph, which each test begins with a new one of.
deprecated_graph_mode_only = run_deprecated_v1 = _identity_decorator

# Control flow is functional in Weir whatever a test asks for; there is neither XLA nor another runtime.
enable_control_flow_v2 = enable_all_control_flow_v2 = with_control_flow_v2 = run_all_without_tensor_float_32 = \
    disable_control_flow_v2 = disable_all_xla = disable_xla = enable_output_all_intermediates = disable_tfrt = \
    run_without_tensor_float_32 = no_xla_auto_jit = xla_allow_fallback = disable_cudnn_autotune = \
    enable_tf_xla_constant_folding = assert_no_new_tensors = assert_no_new_pyobjects_executing_eagerly = \
    build_as_function_and_v1_graph = also_run_as_tf_function = enable_v2_tensorshape = with_c_api = with_c_shapes = \
    enable_c_api = enable_c_shapes = _identity_decorator


def assert_no_garbage_created(function):
    """Fails when a test leaves cycles that the collector cannot free."""

    @functools.wraps(function)
    def decorated(self, *args, **kwargs):
        gc.collect()
        before = len(gc.garbage)
        result = function(self, *args, **kwargs)
        gc.collect()
        self.assertEqual(before, len(gc.garbage))
        return result

    return decorated


def skip_if(condition):
    def decorator(function):
        @functools.wraps(function)
        def decorated(self, *args, **kwargs):
            if not (condition() if callable(condition) else condition):
                function(self, *args, **kwargs)

        return decorated

    return decorator


def set_producer_version(graph, producer_version):
    """A graph that counts as made by the release of this number."""
    graph_def = GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(graph_def)


@contextlib.contextmanager
def use_gpu():
    yield


@contextlib.contextmanager
def force_gpu():
    with stack.get_default_graph().device(gpu_device_name() or "/device:GPU:0"):
        yield


@contextlib.contextmanager
def force_cpu():
    with stack.get_default_graph().device("/cpu:0"):
        yield


def device(use_gpu):  # noqa: A002
    return force_gpu() if use_gpu and is_gpu_available() else force_cpu()


def IsMklEnabled():
    return False


def IsGoogleCudaEnabled():
    return False


def IsBuiltWithROCm():
    return False


def IsBuiltWithNvcc():
    return False


def GpuSupportsHalfMatMulAndConv():
    return False


CudaSupportsHalfMatMulAndConv = GpuSupportsHalfMatMulAndConv


def is_xla_enabled():
    return False


def _permuted(value, order):
    if isinstance(value, Tensor):
        return array_ops.transpose(value, order)
    return type(value)(value[i] for i in order)


def NHWCToNCHW(input_tensor):
    """A tensor, or the list of its sizes, with the channels in front."""
    rank = input_tensor.shape.ndims if hasattr(input_tensor, "shape") else len(input_tensor)
    return _permuted(input_tensor, [0, rank - 1, *range(1, rank - 1)])


def NCHWToNHWC(input_tensor):
    rank = input_tensor.shape.ndims if hasattr(input_tensor, "shape") else len(input_tensor)
    return _permuted(input_tensor, [0, *range(2, rank), 1])


def NHWCToNCHW_VECT_C(input_shape_or_tensor):
    """A tensor, or the list of its sizes, with the channels in front, four of them together at the end."""
    if not isinstance(input_shape_or_tensor, Tensor):
        batch, height, width, channels = input_shape_or_tensor
        return [batch, channels // 4, height, width, 4]
    batch, height, width, channels = input_shape_or_tensor.shape.as_list()
    split = array_ops.reshape(input_shape_or_tensor, [batch, height, width, channels // 4, 4])
    return array_ops.transpose(split, [0, 3, 1, 2, 4])


def NCHW_VECT_CToNHWC(input_shape_or_tensor):
    if not isinstance(input_shape_or_tensor, Tensor):
        batch, groups, height, width, four = input_shape_or_tensor
        return [batch, height, width, groups * four]
    batch, groups, height, width, four = input_shape_or_tensor.shape.as_list()
    moved = array_ops.transpose(input_shape_or_tensor, [0, 2, 3, 1, 4])
    return array_ops.reshape(moved, [batch, height, width, groups * four])


def generate_combinations_with_testcase_name(**kwargs):
    """Every choice of one value for each name, with a name for the test: what named_parameters takes."""
    return [_with_name(choice) for choice in combine(**kwargs)]


def _with_name(choice):
    def letters(value):
        return "".join(filter(str.isalnum, str(value)))

    name = "".join(f"_{letters(key)}_{letters(value)}" for key, value in choice.items())
    return OrderedDict([*choice.items(), ("testcase_name", f"_test{name}")])
