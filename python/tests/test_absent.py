"""Stand-ins for names that Weir lacks: they may be mentioned, and say so when they are used."""

import copy
import inspect
import operator
import os
import pickle
import subprocess
import sys
import textwrap
import typing

import pytest

import weir as tf
from weir import names
from weir.names.absent import Absent

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
TRAIN = "tf.contrib.tensor_forest.ModeKeys.TRAIN"

_USES = {
    "call": lambda x: x(1, key=2),
    "equal": lambda x: x == tf.contrib.tensor_forest.ModeKeys.TRAIN,
    "equal to a string": lambda x: x == "train",
    "string equal": lambda x: "train" == x,
    "not equal": lambda x: x != "train",
    "less": lambda x: x < 1, "less or equal": lambda x: x <= 1, "greater": lambda x: x > 1,
    "at least": lambda x: x >= 1,
    "truth": bool, "not": lambda x: not x, "if": lambda x: 1 if x else 2, "and": lambda x: x and 1,
    "length": len, "iterate": iter, "unpack": lambda x: [*x], "contains": lambda x: 1 in x, "reversed": reversed,
    "in a list": lambda x: x in ["train", "eval"],
    "item": lambda x: x[0], "set item": lambda x: operator.setitem(x, 0, 1),
    "delete item": lambda x: operator.delitem(x, 0),
    "set attribute": lambda x: setattr(x, "value", 1), "delete attribute": lambda x: delattr(x, "value"),
    "add": lambda x: x + 1, "radd": lambda x: 1 + x, "subtract": lambda x: 1 - x, "multiply": lambda x: x * 2,
    "divide": lambda x: x / 2, "floor divide": lambda x: 7 // x, "modulo": lambda x: x % 2, "power": lambda x: x ** 2,
    "matrix product": lambda x: x @ x, "negate": lambda x: -x, "invert": lambda x: ~x, "abs": abs,
    "and bits": lambda x: x & 1, "or bits": lambda x: x | 1, "shift": lambda x: x << 1,
    "divmod": lambda x: divmod(x, 2),
    "int": int, "float": float, "complex": complex, "index": lambda x: [1, 2][x], "round": round, "range": range,
    "with": lambda x: x.__enter__(), "instance": lambda x: isinstance(1, x), "subclass": lambda x: issubclass(int, x),
    "a key of the same name": lambda x: {pickle.loads(pickle.dumps(x)): 1, Absent(TRAIN): 2}[x] == x,
}


@pytest.mark.parametrize("use", _USES.values(), ids=_USES.keys())
def test_a_use_names_what_is_absent(use):
    with pytest.raises(NotImplementedError, match=f"{TRAIN}.* is not in Weir yet"):
        use(tf.contrib.tensor_forest.ModeKeys.TRAIN)


def test_an_attribute_of_one_is_absent_too_and_says_its_own_name():
    with pytest.raises(NotImplementedError, match="tf.something.inner is not in Weir yet"):
        Absent("tf.something").inner()
    with pytest.raises(AttributeError):
        Absent("tf.something")._private


def test_the_same_name_gives_the_same_object():
    assert tf.contrib.tensor_forest.ModeKeys.TRAIN is tf.contrib.tensor_forest.ModeKeys.TRAIN
    assert tf.contrib.tensor_forest.ModeKeys.TRAIN is not tf.contrib.tensor_forest.ModeKeys.EVAL
    assert names.is_absent(tf.contrib.tensor_forest.ModeKeys) and not names.is_absent(tf.nn)
    assert hasattr(tf, "keras") and hasattr(tf.contrib.tensor_forest, "ModeKeys") and tf.keras is not None


def test_they_can_be_keys_members_and_defaults():
    table = {tf.contrib.tensor_forest.ModeKeys.TRAIN: 1, tf.contrib.tensor_forest.ModeKeys.EVAL: 2, tf.float32: 3, "tf.contrib": 4}
    assert table[tf.contrib.tensor_forest.ModeKeys.EVAL] == 2 and len({*table, tf.contrib.tensor_forest.ModeKeys.TRAIN}) == 4

    def function(mode=tf.contrib.tensor_forest.ModeKeys.TRAIN):
        return mode is tf.contrib.tensor_forest.ModeKeys.TRAIN

    assert function() and not function(None)


def test_they_can_stand_in_annotations():
    kind = typing.Optional[tf.RaggedTensor]
    assert typing.Union[tf.RaggedTensor, kind, tf.Tensor].__args__ == (tf.RaggedTensor, type(None), tf.Tensor)
    assert (tf.RaggedTensor | None) is not None and (None | tf.RaggedTensor) is not None

    def function(x: tf.RaggedTensor, y: typing.Dict[str, tf.RaggedTensor] = None) -> "tf.keras.Model":
        return x, y

    assert typing.get_type_hints(lambda: 0) == {} and list(inspect.signature(function).parameters) == ["x", "y"]


def test_a_class_can_be_derived_from_one_and_its_objects_cannot_be_made():
    class Hook(tf.contrib.tensor_forest.Exporter):
        setting = 3

        def after_run(self, context, values):
            return super().after_run(context, values)

    class More(Hook, dict):
        pass

    assert Hook.setting == 3 and issubclass(More, Hook)
    with pytest.raises(NotImplementedError, match="Hook is derived from tf.contrib.tensor_forest.Exporter, which is not in Weir"):
        Hook()
    with pytest.raises(NotImplementedError, match="tf.contrib.tensor_forest.Exporter"):
        More(a=1)


def test_they_can_be_copied_pickled_printed_and_inspected():
    absent = tf.contrib.tensor_forest.ModeKeys.TRAIN
    assert copy.copy(absent) is absent and copy.deepcopy([absent])[0] is absent
    assert pickle.loads(pickle.dumps(absent)) is absent
    assert str(absent) == repr(absent) == f"<{TRAIN}: not in Weir yet>" and f"{absent}" == str(absent)
    assert not inspect.isclass(absent) and not inspect.isfunction(absent) and not inspect.ismodule(absent)
    assert inspect.unwrap(absent) is absent and inspect.getdoc(absent) and absent.__name__ == TRAIN
    assert callable(absent) and dir(absent)


def test_libraries_that_mention_absent_names_can_be_imported():
    program = textwrap.dedent("""
        import weir
        weir.install_as_tensorflow()
        import tensorflow as tf
        import tensorflow.keras.layers
        import tensorflow.contrib.tensor_forest as forest
        from tensorflow import keras
        from tensorflow.keras import backend as K
        from tensorflow.keras.layers import Dense, Layer
        from tensorflow.contrib.tensor_forest.python import tensor_forest
        from tensorflow.python.keras.engine import base_layer
        from tensorflow.contrib.bigtable import table

        class Mine(Layer, object):
            kernel = K.floatx

            def call(self, x, training: tf.RaggedTensor = None):
                return Dense(3)(x)

        _INITIALIZERS = {"a": tf.keras.initializers.he_normal, tf.keras.layers.Dense: 1}
        print(Dense, K, tf.keras.layers is tensorflow.keras.layers)
        for use in (Mine, lambda: forest.client(1), lambda: table.scan(1, 2),
                    lambda: tensor_forest.ForestHParams(1)):
            try:
                use()
            except NotImplementedError as error:
                print(error)
        """)
    result = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=ROOT), capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "<tf.keras.layers.Dense: not in Weir yet> <tf.keras.backend: not in Weir yet> True",
        "Mine is derived from tf.keras.layers.Layer, which is not in Weir yet.",
        "tf.contrib.tensor_forest.client is not in Weir yet, and is left out: forests of decision trees are scikit-learn's subject, "
        "sklearn.ensemble.RandomForestClassifier for one.",
        "tf.contrib.bigtable.table.scan is not in Weir yet.",
        "tf.contrib.tensor_forest.python.tensor_forest.ForestHParams is not in Weir yet, and is left out: forests of decision trees are scikit-learn's subject, "
        "sklearn.ensemble.RandomForestClassifier for one.",
    ]


def test_what_is_left_out_says_what_to_do_instead():
    with pytest.raises(NotImplementedError, match="Build the graph once and run it"):
        tf.contrib.eager.Variable(1.0)
    with pytest.raises(NotImplementedError, match="build the graph once"):
        tf.enable_eager_execution()
    with pytest.raises(NotImplementedError, match="tf.py_func"):
        tf.load_op_library("word2vec_ops.so")


def test_names_of_tensorflow_2_are_not_there_and_say_what_to_write_instead():
    with pytest.raises(AttributeError, match=r"it is TensorFlow 2's. In TensorFlow 1 it is tf\.summary\.FileWriter"):
        tf.summary.create_file_writer("folder")
    assert not hasattr(tf.summary, "create_file_writer") and not hasattr(tf, "optimizers")


def test_names_of_tensorflow_2_that_have_advice_are_not_in_the_table():
    from weir.names import absent, table

    assert not [name for name in absent._OF_TENSORFLOW_2 if table.place(name) is not None]
