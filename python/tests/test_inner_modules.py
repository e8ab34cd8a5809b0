"""The inner modules that TensorFlow's own tests import are there, and its tests' decorators do what they say."""

import inspect
import pickle
import subprocess
import sys
import types

import pytest

import weir
from weir.inner import all_util, deprecation, tf_inspect

_TEST = '''
import numpy as np
from tensorflow.python.compat import compat
from tensorflow.python.eager import backprop, context
from tensorflow.python.framework import constant_op, ops, test_util
from tensorflow.python.keras import layers
from tensorflow.python.ops import array_grad, array_ops, gradient_checker_v2, math_ops, variables
from tensorflow.python.platform import test
from tensorflow.python.training import moving_averages
from tensorflow.python.util import deprecation, tf_inspect

outer = ops.get_default_graph()


class Modes(test.TestCase):
    @test_util.run_deprecated_v1
    def testRunsInAGraphOfItsOwn(self):
        self.assertIsNot(ops.get_default_graph(), outer)
        with self.cached_session():
            self.assertAllClose(math_ops.square(constant_op.constant([1.0, 2.0])).eval(), [1, 4])

    @test_util.run_in_graph_and_eager_modes
    def testRunsInASession(self):
        v = variables.Variable([1.0, 2.0])
        self.evaluate(variables.global_variables_initializer())
        self.assertAllEqual(self.evaluate(v), [1, 2])

    def testEagerIsSkipped(self):
        with context.eager_mode():
            self.fail("ran eagerly")

    @test_util.run_gpu_only
    def testOtherMachine(self):
        self.fail("ran")

    @test_util.skip_if(True)
    def testSkipped(self):
        self.fail("ran")

    def testGradientsOfAFunction(self):
        def product(x, y):
            return math_ops.sin(x) * y
        with self.session():
            theory, numeric = gradient_checker_v2.compute_gradient(product, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])
        self.assertLess(gradient_checker_v2.max_error(theory, numeric), 1e-4)
        self.assertAllClose(theory[1], np.diag(np.sin([1.0, 2.0])))

    def testNamesAreThere(self):
        self.assertTrue(callable(moving_averages.assign_moving_average))
        self.assertEqual(tf_inspect.getargspec(lambda a, b=1: 0).args, ["a", "b"])
        self.assertEqual(deprecation.deprecated_argument_lookup("a", None, "b", 2), 2)
        self.assertTrue(compat.forward_compatible(2019, 1, 1))
        self.assertFalse(compat.forward_compatible(2020, 1, 1))

    def testStandInsSayThatTheyAre(self):
        for use in (backprop.make_vjp, layers.Dense):
            with self.assertRaisesRegex(NotImplementedError, "not in Weir"):
                use()


@test_util.run_all_in_graph_and_eager_modes
class WholeClass(test.TestCase):
    def testHasADefaultSession(self):
        self.assertAllEqual(array_ops.zeros([2]).eval(), [0, 0])

    def testLayouts(self):
        self.assertEqual(test_util.NHWCToNCHW([1, 2, 3, 4]), [1, 4, 2, 3])
        self.assertEqual(test_util.NCHWToNHWC((1, 4, 2, 3)), (1, 2, 3, 4))
        self.assertEqual(test_util.NHWCToNCHW(array_ops.zeros([1, 2, 3, 4])).shape.as_list(), [1, 4, 2, 3])


test.main()
'''


def test_a_test_of_tensorflows_own_style_runs(tmp_path):
    file = tmp_path / "modes_test.py"
    file.write_text(_TEST)
    result = subprocess.run([sys.executable, "-m", "weir", str(file)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "OK (skipped=" in result.stderr


def test_deprecated_functions_say_so_once():
    said = []
    original, deprecation.logging.warning = deprecation.logging.warning, lambda *args: said.append(args[0] % args[1:])
    try:
        @deprecation.deprecated("2016-07-04", "Use another.")
        def old(x):
            """Adds one."""
            return x + 1

        @deprecation.deprecated_args("2016-07-04", "Leave it out.", "dim")
        def older(x, axis=0, dim=None):
            return x

        assert [old(1), old(2)] == [2, 3]
        assert older(1, axis=1) == 1 and len(said) == 1
        older(1, dim=2)
    finally:
        deprecation.logging.warning = original
    assert "old (from" in said[0] and "removed after 2016-07-04" in said[0] and __file__ in said[0]
    assert "with dim is deprecated" in said[1] and len(said) == 2
    assert old.__doc__.startswith("Adds one. (deprecated)\n\nTHIS FUNCTION IS DEPRECATED.")
    with pytest.raises(ValueError, match="not present in the function signature"):
        deprecation.deprecated_args("2016-07-04", "Leave it out.", "nothing")(old)
    assert weir.__git_version__


def test_hidden_names_come_back():
    module = types.ModuleType("weir_hidden", "Has @@shown\n\n@@shown\n")
    module.shown, module.inner = 1, 2
    sys.modules["weir_hidden"] = module
    try:
        all_util.remove_undocumented("weir_hidden", ["sys"])
        assert module.shown == 1 and not hasattr(module, "inner")
        all_util.reveal_undocumented("weir_hidden.inner")
        assert module.inner == 2
    finally:
        del sys.modules["weir_hidden"]


def test_sums_of_linear_operators(sess):
    from weir.inner.linear_operator_addition import add_operators

    diag, scaled = weir.linalg.LinearOperatorDiag([1.0, 2.0]), weir.linalg.LinearOperatorScaledIdentity(2, 3.0)
    (total,) = add_operators([scaled, diag, weir.linalg.LinearOperatorIdentity(2)])
    assert isinstance(total, weir.linalg.LinearOperatorDiag) and sess.run(total.diag).tolist() == [5, 6]
    (total,) = add_operators([total, weir.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [1.0, 1.0]])])
    assert isinstance(total, weir.linalg.LinearOperatorLowerTriangular)
    assert sess.run(total.to_dense()).tolist() == [[6, 0], [1, 7]]


def test_objects_of_a_registered_collection_go_through_meta_graphs():
    from weir.inner import ops

    class Note:
        def __init__(self, text):
            self.text = text

    ops.register_proto_function("notes", weir.NodeDef, lambda note, export_scope=None: weir.NodeDef(name=note.text),
                                lambda message, import_scope=None: Note(message.name))
    with weir.Graph().as_default():
        weir.constant(1.0)
        weir.add_to_collection("notes", Note("first"))
        meta_graph = weir.train.export_meta_graph()
    with weir.Graph().as_default():
        weir.train.import_meta_graph(meta_graph)
        assert [note.text for note in weir.get_collection("notes")] == ["first"]


def test_signatures_are_seen_with_their_defaults_and_through_wrappers():
    spec = tf_inspect.getfullargspec(weir.where)
    assert spec.args == ["condition", "x", "y", "name"] and spec.defaults == (None,) * 3
    assert tf_inspect.getfullargspec(weir.equal).defaults == (None,)
    assert weir.equal.__qualname__ == "equal"


def test_the_dictionary_of_a_module_holds_all_of_its_names():
    cells = [value for value in weir.contrib.rnn.__dict__.values() if inspect.isclass(value)]
    assert weir.contrib.rnn.GRUCell in cells
    assert vars(weir.nn)["relu"] is weir.nn.relu and "AdamOptimizer" in weir.train.__dict__
    assert pickle.loads(pickle.dumps(weir.nn)) is weir.nn
