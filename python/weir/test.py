"""tf.test: a unittest TestCase for numeric code and graphs, and benchmarks."""

import contextlib
import copy
import math
import os
import random
import re
import sys
import tempfile
import threading
import unittest

import numpy as np

import weir
from weir import app, errors, names
from weir.core.device import canonical_name
from weir.core.devices import list_local_devices
from weir.inner.assertions import _Assertions, _array_of
from weir.ragged.tensor import RaggedTensor, RaggedTensorValue

_SEED = 87654321  # graphs and generators start from it in each test, as in TensorFlow

_temp_dir = None


def get_temp_dir():
    """A folder for the files of all tests; deleted when the process ends."""
    return _common_temp_dir()


def _common_temp_dir():
    global _temp_dir
    if _temp_dir is None:
        import atexit
        import shutil

        base = os.environ.get("TEST_TMPDIR")
        _temp_dir = tempfile.mkdtemp(prefix="weir_test_", dir=base)
        atexit.register(shutil.rmtree, _temp_dir, True)
    os.makedirs(_temp_dir, exist_ok=True)  # tests may clear it away
    return _temp_dir


def test_src_dir_path(relative_path):
    """The path of a file beside the running test program, or else below a folder that the program is in."""
    folder = beside = os.path.dirname(os.path.abspath(sys.argv[0]))
    while not os.path.exists(os.path.join(folder, relative_path)):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return os.path.join(beside, relative_path)
    return os.path.join(folder, relative_path)


test_src_dir_path.__test__ = False  # the name looks like a test to pytest


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU. Virtual ones count unless CUDA itself is asked for."""
    return not cuda_only and bool(gpu_device_name())


def is_built_with_cuda():
    return False


def is_built_with_rocm():
    return False


def is_built_with_gpu_support():
    return False


def gpu_device_name():
    """The name of a GPU, or nothing."""
    return next((device.name for device in list_local_devices() if device.device_type == "GPU"), "")


def main(argv=None):
    """Runs the tests of the program; parses flags first."""
    unittest.main(module="__main__", argv=app._parse_flags(argv))


def assert_equal_graph_def(actual, expected, checkpoint_v2=False):
    """Raises AssertionError unless two GraphDefs hold the same nodes, in any order."""
    for graph_def in (actual, expected):
        if not hasattr(graph_def, "node"):
            raise TypeError(f"expected a GraphDef, got {type(graph_def).__name__}")
    nodes = [{node.name: node for node in graph_def.node} for graph_def in (actual, expected)]
    for name in sorted(set(nodes[0]) | set(nodes[1])):
        a, b = nodes[0].get(name), nodes[1].get(name)
        if b is None:
            raise AssertionError(f"Found unexpected node '{name}' in the actual graph:\n{a}")
        if a is None:
            raise AssertionError(f"Not found: node '{name}' of the expected graph:\n{b}")
        if a != b:
            raise AssertionError(f"Found unexpected difference in node '{name}':\nactual:\n{a}\nexpected:\n{b}")


def _format(value):
    return np.array2string(np.asarray(value), threshold=50, edgeitems=3)


def _session_config(config, force_gpu):
    """What the sessions of tests run with: operations go where they can, unless a GPU is asked for."""
    if config is None:
        return weir.ConfigProto(allow_soft_placement=not force_gpu)
    if force_gpu and config.allow_soft_placement:
        strict = weir.ConfigProto()
        strict.CopyFrom(config)
        strict.allow_soft_placement = False
        return strict
    return config


def _devices(graph, use_gpu, force_gpu):
    """Where operations that are made inside a test's session go: to the CPU unless the test wants GPUs."""
    if force_gpu:
        return graph.device(gpu_device_name() or "/device:GPU:0")
    return contextlib.nullcontext() if use_gpu else graph.device("/device:CPU:0")


class _CheckedThread:
    """A thread whose exception fails the test that joins it."""

    def __init__(self, test, target, args, kwargs):
        self._test = test
        self._error = None
        self._thread = threading.Thread(target=self._run, args=(target, args or (), kwargs or {}), daemon=True)
        self._joined = False

    def _run(self, target, args, kwargs):
        try:
            target(*args, **kwargs)
        except Exception as error:  # whatever it is, join() reports it
            self._error = error

    def start(self):
        self._thread.start()

    def join(self):
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._test.fail(f"Error in checkedThread: {self._error!r}")

    def is_alive(self):
        return self._thread.is_alive()

    @property
    def name(self):
        return self._thread.name


class _CapturedWrites:
    def __init__(self, stream, path):
        self._stream, self._path = stream, path

    def contents(self):
        if not self._stream.closed:
            self._stream.flush()
        with open(self._path) as file:
            return file.read()


class TestCase(_Assertions, unittest.TestCase):
    """Each test begins with an empty default graph and the same random seeds."""

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._threads = []
        self._tempdir = None
        self._cached_session = None

    def setUp(self):
        super().setUp()
        self._close_cached_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        weir.reset_default_graph()
        weir.set_random_seed(_SEED)

    def tearDown(self):
        for thread in self._threads:
            if not thread._joined:
                thread.join()
        self._close_cached_session()
        super().tearDown()

    # Sessions

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A new session, the default one inside the block, on `graph` or the default graph."""
        graph = weir.get_default_graph() if graph is None else graph
        config = _session_config(config, force_gpu)
        with graph.as_default(), weir.Session(graph=graph, config=config) as session, _devices(graph, use_gpu, force_gpu):
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """The session of this test: made by the first call, kept until the test ends."""
        if self._cached_session is None:
            graph = weir.get_default_graph() if graph is None else graph
            self._cached_session = (weir.Session(graph=graph, config=_session_config(config, force_gpu)), graph, config)
        else:
            _, kept_graph, kept_config = self._cached_session
            if graph is not None and graph is not kept_graph:
                raise ValueError("the cached session of this test was made with another graph")
            if config is not None and config is not kept_config:
                raise ValueError("the cached session of this test was made with another config")
        session, graph, _ = self._cached_session
        with graph.as_default(), session.as_default(), _devices(graph, use_gpu, force_gpu):
            yield session

    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """TensorFlow's old name: a new session if a graph is given, else that of the test."""
        if self.id().endswith(".test_session"):
            self.skipTest("not a test")
        if graph is not None:
            return self.session(graph, config, use_gpu, force_gpu)
        return self.cached_session(None, config, use_gpu, force_gpu)

    test_session.__test__ = False

    def _close_cached_session(self):
        if self._cached_session is not None:
            self._cached_session[0].close()
            self._cached_session = None

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """What is written to the file of a stream inside the block, C++ included: ``contents()`` of what it gives."""
        stream.flush()
        path = os.path.join(tempfile.mkdtemp(dir=self.get_temp_dir()), "captured")
        with open(path, "w") as file:
            before = os.dup(stream.fileno())
            os.dup2(file.fileno(), stream.fileno())
        try:
            yield _CapturedWrites(stream, path)
        finally:
            stream.flush()
            os.dup2(before, stream.fileno())
            os.close(before)

    def evaluate(self, tensors):
        """The values of tensors, in any nesting, in the default session or that of the test."""
        session = weir.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    # Files and threads

    def get_temp_dir(self):
        """A folder of this test's own."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(prefix=self._testMethodName + "_", dir=_common_temp_dir())
        return self._tempdir

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread that the test must join (or the end of the test does); its exception fails the test."""
        thread = _CheckedThread(self, target, args, kwargs)
        self._threads.append(thread)
        return thread

    # Comparisons

    def _GetNdArray(self, a):
        """What a fetch or a constant is as an array; a tensor is evaluated."""
        if isinstance(a, np.ndarray):
            return a
        if hasattr(a, "eval") and hasattr(a, "dtype"):
            a = self.evaluate(a)
        return _array_of(a)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        self.assertIsInstance(np_array, (np.ndarray, np.generic))
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertNear(self, f1, f2, err, msg=None):
        self.assertTrue(
            f1 == f2 or math.fabs(f1 - f2) <= err,
            f"{f1!r} != {f2!r} +/- {err!r}" + ("" if msg is None else f" ({msg})"),
        )

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def _NDArrayNear(self, ndarray1, ndarray2, err):
        return np.linalg.norm(np.asarray(ndarray1, float) - np.asarray(ndarray2, float)) < err

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), f"not within {err}" + ("" if msg is None else f" ({msg})"))

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """|a - b| <= atol + rtol * |b|, in dicts and sequences too; NaN is close to NaN."""
        if any(hasattr(value, "row_splits") for value in (a, b)):
            return self._assert_ragged(lambda x, y, msg: self.assertAllClose(x, y, rtol, atol, msg), a, b, msg)
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertIsInstance(a, dict, msg)
            self.assertIsInstance(b, dict, msg)
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"at [{key!r}]" + ("" if msg is None else f" ({msg})"))
            return
        try:
            x, y = self._GetNdArray(a), self._GetNdArray(b)
            ragged = x.dtype == object or y.dtype == object
        except ValueError:
            if not (isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))):
                raise
            ragged = True
        if ragged and isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            self.assertEqual(len(a), len(b), msg)
            for i, (left, right) in enumerate(zip(a, b)):
                self.assertAllClose(left, right, rtol, atol, f"at [{i}]" + ("" if msg is None else f" ({msg})"))
            return
        self._assert_close(x, y, rtol, atol, msg)

    def _assert_close(self, a, b, rtol, atol, msg):
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {b.shape}, got {a.shape}. {msg or ''}")
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        bad = np.logical_not(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
        x, y = a[bad] if a.ndim else a, b[bad] if b.ndim else b
        self.fail(
            f"{msg or ''}\nNot equal to tolerance rtol={rtol}, atol={atol}\nnot close where = {_format(np.argwhere(bad)) if a.ndim else 'everywhere'}\n"
            f"not close lhs = {_format(x)}\nnot close rhs = {_format(y)}\n"
            f"not close dif = {_format(np.abs(x - y))}\nnot close tol = {_format(atol + rtol * np.abs(y))}\n"
            f"dtype = {a.dtype}, shape = {a.shape}; {int(np.sum(bad))} of {bad.size} differ"
        )

    def assertAllCloseAccordingToType(
        self,
        a,
        b,
        rtol=1e-6,
        atol=1e-6,
        float_rtol=1e-6,
        float_atol=1e-6,
        half_rtol=1e-3,
        half_atol=1e-3,
        bfloat16_rtol=1e-2,
        bfloat16_atol=1e-2,
        msg=None,
    ):
        """assertAllClose with the tolerance of the less precise type of the two."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        types = {str(a.dtype), str(b.dtype)}
        if types & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in types:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in types:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
            a, b = a.astype(np.float32), b.astype(np.float32)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, **options):
        try:
            self.assertAllClose(a, b, **options)
        except AssertionError:
            return
        self.fail("The two values are close at all elements")

    def assertAllEqual(self, a, b, msg=None):
        """The same shape and values; NaN equals NaN."""
        if any(hasattr(value, "row_splits") for value in (a, b)):
            return self._assert_ragged(self.assertAllEqual, a, b, msg)
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        if a.dtype.kind in "SUO" or b.dtype.kind in "SUO":  # text and bytes of the same letters are the same
            a, b = _text(a), _text(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {b.shape}, got {a.shape}. {msg or ''}")
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if not np.all(same):
            bad = np.logical_not(same)
            x, y = a[bad] if a.ndim else a, b[bad] if b.ndim else b
            self.fail(
                f"{msg or ''}\nnot equal where = {_format(np.argwhere(bad)) if a.ndim else 'everywhere'}\n"
                f"not equal lhs = {_format(x)}\nnot equal rhs = {_format(y)}"
            )

    def _assert_ragged(self, same, a, b, msg):
        """Compares ragged values, tensors of them, and nested lists: the lengths of their rows, and what is in them."""
        a, b = (self.evaluate(x) if isinstance(x, RaggedTensor) else x for x in (a, b))
        a, b = (x.to_list() if isinstance(x, RaggedTensorValue) else np.asarray(x, object).tolist() for x in (a, b))

        def compare(x, y):
            if isinstance(x, (list, tuple)) or isinstance(y, (list, tuple)):
                self.assertTrue(isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) and len(x) == len(y),
                                f"Rows differ: {x} and {y}. {msg or ''}")
                for one, other in zip(x, y):
                    compare(one, other)
            else:
                same(x, y, msg)

        compare(a, b)

    def assertNotAllEqual(self, a, b, msg=None):
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"The two values are equal at all elements. {msg or ''}")

    def _assert_all(self, a, holds, claim):
        a = self._GetNdArray(a)
        bad = np.logical_not(holds(a))
        if np.any(bad):
            self.fail(f"not {claim}: {_format(a[bad] if a.ndim else a)}")

    def assertAllGreater(self, a, comparison_target):
        self._assert_all(a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllLess(self, a, comparison_target):
        self._assert_all(a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllGreaterEqual(self, a, comparison_target):
        self._assert_all(a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLessEqual(self, a, comparison_target):
        self._assert_all(a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        def inside(x):
            above = x > lower_bound if open_lower_bound else x >= lower_bound
            return np.logical_and(above, x < upper_bound if open_upper_bound else x <= upper_bound)

        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._assert_all(target, inside, f"in {left}{lower_bound}, {upper_bound}{right}")

    def assertAllInSet(self, target, expected_set):
        self._assert_all(target, lambda x: np.isin(x, list(expected_set)), f"in {expected_set}")

    def assertDTypeEqual(self, target, expected_dtype):
        expected = np.dtype(getattr(expected_dtype, "as_numpy_dtype", expected_dtype))
        self.assertEqual(self._GetNdArray(target).dtype, expected)

    def assertStartsWith(self, actual, expected_start, msg=None):
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    def assertLen(self, container, expected_len, msg=None):
        if len(container) != expected_len:
            self.fail(f"{container!r} has length {len(container)}, expected {expected_len}. {msg or ''}")

    def assertEmpty(self, container, msg=None):
        self.assertLen(container, 0, msg)

    def assertNotEmpty(self, container, msg=None):
        self.assertTrue(len(container), msg or f"{container!r} has length of 0.")

    def assertBetween(self, value, minv, maxv, msg=None):
        self.assertTrue(minv <= value <= maxv, msg or f"{value!r} unexpectedly not between {minv!r} and {maxv!r}")

    def assertSequenceAlmostEqual(self, expected_seq, actual_seq, places=None, msg=None, delta=None):
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for expected, actual in zip(expected_seq, actual_seq):
            self.assertAlmostEqual(expected, actual, places, msg, delta)

    def assertItemsEqual(self, first, second, msg=None):
        self.assertCountEqual(first, second, msg)

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """`message` equals another message, or the one that text of the text format describes."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            from google.protobuf import text_format

            text = expected if isinstance(expected, str) else expected.decode("latin-1")
            expected = text_format.Merge(text, type(message)())
            if expected != message and not text.isascii():
                # Python 2 wrote bytes into its text: "\240" is one byte there, and a character of two here.
                escaped = "".join(c if ord(c) < 128 else f"\\{ord(c):03o}" for c in text)
                expected = text_format.Merge(escaped, type(message)())
        self.assertIs(type(expected), type(message), msg)
        if expected != message:
            normalised = names.at("weir.inner.compare_protos:NormalizeNumberFields")  # the last digits of floats may differ
            expected, rounded = (normalised(copy.deepcopy(m)) for m in (expected, message))
            if expected != rounded:
                self.assertMultiLineEqual(str(expected), str(rounded), msg)
                self.fail(f"messages differ. {msg or ''}")

    def assertProtoEqualsVersion(self, expected, actual, producer=None, min_consumer=None, msg=None):
        """assertProtoEquals for a GraphDef, without its versions."""
        stripped = type(actual)()
        stripped.CopyFrom(actual)
        stripped.ClearField("versions")
        self.assertProtoEquals(expected, stripped, msg)

    def assertDeviceEqual(self, device1, device2, msg=None):
        """The same device in any spelling: "/cpu:0" is "/device:CPU:0"."""
        first, second = _canonical_device(device1), _canonical_device(device2)
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg or ''}")

    # Errors

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """The block raises the type, and the message matches the expression or the predicate holds for the error.

        For errors of operations the expression may also match the name of the operation.
        """
        check = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            if callable(check):
                matches = check(error)
            else:
                text = str(error)
                if isinstance(error, errors.OpError):
                    text = f"{error.message}\n{text}\n{getattr(error.op, 'name', '')}"
                matches = re.search(check, text) is not None
            if not matches:
                raise AssertionError(f"Exception of type {type(error)}: {error}, expected {check!r}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)


def _text(array):
    convert = np.frompyfunc(lambda x: x.decode("utf-8", "surrogateescape") if isinstance(x, bytes) else x, 1, 1)
    return np.asarray(convert(array), dtype=object)


def _canonical_device(device):
    return canonical_name(device)


class Benchmark:
    """A base for benchmarks: report_benchmark prints, run_op_benchmark times an operation."""

    def _benchmark_name(self):
        return type(self).__name__

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None):
        fields = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        fields.update(extras or {})
        shown = ", ".join(f"{key}: {value}" for key, value in fields.items() if value is not None)
        print(f"{name or self._benchmark_name()}: {shown}")

    def run_op_benchmark(
        self,
        sess,
        op_or_tensor,
        feed_dict=None,
        burn_iters=2,
        min_iters=10,
        store_trace=False,
        name=None,
        extras=None,
        mbs=0,
    ):
        """Runs an operation and reports the median wall time; returns what it reports."""
        import time

        fetch = getattr(op_or_tensor, "op", op_or_tensor)
        for _ in range(burn_iters):
            sess.run(fetch, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(fetch, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        wall_time = float(np.median(times))
        throughput = mbs / wall_time if mbs else None
        self.report_benchmark(min_iters, None, wall_time, throughput, extras, name)
        return {"iters": min_iters, "wall_time": wall_time, "throughput": throughput, "extras": extras or {}}


def benchmark_config():
    """A ConfigProto for benchmarks."""
    return weir.ConfigProto()


TensorFlowTestCase = TestCase  # its name in tensorflow.python.framework.test_util

__getattr__, __dir__ = names.namespace(__name__)
