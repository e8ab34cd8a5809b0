import subprocess
import sys
import textwrap

import numpy as np
import pytest

import weir
from weir import errors, protos
from weir import test as tf_test

case = tf_test.TestCase("assertTrue")
has_engine = pytest.mark.skipif(not hasattr(weir, "Session"), reason="needs the engine")


def fails(claim, *args, **options):
    with pytest.raises(AssertionError):
        claim(*args, **options)
    return True


def test_close():
    case.assertAllClose([1.0, 2.0], np.array([1.0, 2.0 + 1e-7]))
    case.assertAllClose({"a": [1.0], "b": (1, [2.0, 3.0])}, {"a": [1.0], "b": (1, [2.0, 3.0])})
    fails(case.assertAllClose, [1.0], [1.1])
    fails(case.assertAllClose, [1.0], [1.0, 1.0])
    fails(case.assertAllClose, {"a": 1.0}, {"b": 1.0})
    fails(case.assertAllClose, 1.0, 2.0)
    case.assertNotAllClose([1.0], [1.1])
    case.assertAllCloseAccordingToType(np.float16([1.0]), np.float16([1.0005]))
    fails(case.assertAllCloseAccordingToType, np.float32([1.0]), np.float32([1.0005]))


def test_close_says_where():
    with pytest.raises(AssertionError, match=r"(?s)not close where = \[\[1\]\].*1 of 3 differ"):
        case.assertAllClose([1.0, 2.0, 3.0], [1.0, 2.5, 3.0])


def test_equal():
    case.assertAllEqual([1, 2], np.array([1, 2]))
    case.assertAllEqual(np.array([np.nan]), np.array([np.nan]))
    case.assertAllEqual([b"a", b"b"], np.array(["a", "b"], dtype=object))
    fails(case.assertAllEqual, [1], [2])
    fails(case.assertAllEqual, [1], [[1]])
    fails(case.assertAllEqual, "a", "b")
    case.assertNotAllEqual([1], [2])


def test_near_and_ranges():
    case.assertNear(1.0, 1.05, 0.1)
    fails(case.assertNear, 1.0, 1.2, 0.1)
    case.assertArrayNear([1, 2], [1.01, 2], 0.1)
    fails(case.assertArrayNear, [1], [1, 2], 0.1)
    case.assertAllInRange([1, 2], 1, 2)
    fails(case.assertAllInRange, [1, 2], 1, 2, open_upper_bound=True)
    case.assertAllGreater([2], 1)
    case.assertAllInSet([1, 2], {1, 2, 3})
    fails(case.assertAllInSet, [4], {1})


def test_devices_in_any_spelling():
    case.assertDeviceEqual("/cpu:0", "/device:CPU:0")
    case.assertDeviceEqual("/job:a/task:1/gpu:0", "/job:a/task:1/device:GPU:0")
    fails(case.assertDeviceEqual, "/cpu:0", "/cpu:1")


def test_messages():
    node = protos.NodeDef(name="n", op="Add")
    case.assertProtoEquals("name: 'n' op: 'Add'", node)
    fails(case.assertProtoEquals, "name: 'm' op: 'Add'", node)
    nearly = protos.AttrValue(list=protos.AttrValue.ListValue(f=[0.1 + 1e-8]), f=0.30000001)
    case.assertProtoEquals("list { f: 0.1 } f: 0.3", nearly)
    fails(case.assertProtoEquals, "list { f: 0.1 } f: 0.301", nearly)
    tf_test.assert_equal_graph_def(protos.GraphDef(node=[node]), protos.GraphDef(node=[node]))
    fails(tf_test.assert_equal_graph_def, protos.GraphDef(node=[node]), protos.GraphDef())


def test_errors_by_expression_and_predicate():
    with case.assertRaisesOpError("gone"):
        raise errors.NotFoundError(None, None, "it is gone")
    with case.assertRaisesOpError(lambda e: e.error_code == errors.NOT_FOUND):
        raise errors.NotFoundError(None, None, "it is gone")
    with pytest.raises(AssertionError):
        with case.assertRaisesOpError("here"):
            raise errors.NotFoundError(None, None, "it is gone")
    with pytest.raises(AssertionError, match="OpError not raised"):
        with case.assertRaisesOpError("here"):
            pass
    with pytest.raises(KeyError):
        with case.assertRaisesOpError("here"):
            raise KeyError


def test_checked_threads_report_their_errors():
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        thread.join()


def test_machine_and_folders():
    assert not tf_test.is_gpu_available() and not tf_test.is_built_with_cuda() and tf_test.gpu_device_name() == ""
    assert case.get_temp_dir().startswith(tf_test.get_temp_dir()) and case.get_temp_dir() == case.get_temp_dir()
    assert tf_test.mock.Mock


def run_program(tmp_path, text, *args):
    program = tmp_path / "some_test.py"
    program.write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, program, *args], capture_output=True, text=True)


@has_engine
def test_a_test_program_runs(tmp_path):
    program = """
        import random
        import numpy as np
        import weir as tf
        seen = []
        class SomeTest(tf.test.TestCase):
            def testSession(self):
                with self.test_session() as session:
                    x = tf.constant([1.0, 2.0])
                    self.assertAllClose(x.eval(), [1.0, 2.0])
                    self.assertAllEqual(self.evaluate(x * 2), [2.0, 4.0])
                    self.assertShapeEqual(np.zeros(2), x)
                with self.cached_session() as again:
                    self.assertIs(session, again)
            def testSessionPlacesOperationsWhereItCan(self):
                with self.test_session():
                    self.assertEqual(tf.constant(1).device, "/device:CPU:0")
                    with tf.device("/gpu:0"):
                        self.assertEqual((tf.constant(1) + 1).eval(), 2)
                with self.session(use_gpu=True):
                    self.assertEqual(tf.constant(1).device, "")
                with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Cannot assign a device"):
                    with self.session(force_gpu=True):
                        tf.constant(1).eval()
            def testComparisonsEvaluateTensors(self):
                self.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0])
                self.assertAllEqual(tf.constant(3), 3)
                with self.assertRaises(ValueError):
                    self.assertAllClose(1.0, [[1.0], [1.0, 2.0]])
            def testGradientsByOneOfSeveralLeaveTheOthersAsTheyAre(self):
                with self.cached_session():
                    a, b = tf.constant(2.0), tf.constant(3.0)
                    pairs = tf.test.compute_gradient([a, b], [[], []], a * b, [])
                    self.assertAllClose([float(theory[0, 0]) for theory, _ in pairs], [3.0, 2.0])
            def testGraphIsFresh(self):
                self.assertEqual(len(tf.get_default_graph().get_operations()), 0)
                seen.append((random.random(), np.random.rand()))
            def testSeedsAreFresh(self):
                seen.append((random.random(), np.random.rand()))
                self.assertEqual(seen[0], seen[-1])
            def testGradient(self):
                with self.cached_session():
                    x = tf.placeholder(tf.float32, [2, 3])
                    w = tf.constant(np.ones([3, 2], np.float32))
                    y = tf.matmul(x, w)
                    self.assertLess(tf.test.compute_gradient_error(x, [2, 3], y, [2, 2]), 1e-2)
                    z = tf.placeholder(tf.complex128, [3])
                    self.assertLess(tf.test.compute_gradient_error(z, [3], tf.square(z) * tf.conj(z), [3]), 1e-4)
                    self.assertEqual(tf.test.compute_gradient(z, [3], tf.real(z), [3])[0].shape, (6, 3))
                    jacobian, numeric = tf.test.compute_gradient(x, [2, 3], y, [2, 2], x_init_value=np.ones([2, 3]))
                    self.assertEqual(jacobian.shape, (6, 4))
                    self.assertAllClose(jacobian, numeric, atol=1e-2)
        tf.test.main()
    """
    result = run_program(tmp_path, program)
    assert result.returncode == 0, result.stderr
    assert "OK" in result.stderr


def test_lists_of_tensors_are_compared_as_objects():
    a, b = weir.constant(1), weir.constant(2)
    case = tf_test.TestCase()
    case.assertAllEqual([a, b], [a, b])
    case.assertAllEqual([(a, b), (b, a)], [[a, b], [b, a]])
    with pytest.raises(AssertionError):
        case.assertAllEqual([a, b], [b, a])
