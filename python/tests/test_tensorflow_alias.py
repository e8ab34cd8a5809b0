import subprocess
import sys


def run(code):
    code = "import weir; weir.install_as_tensorflow(); weir.install_as_tensorflow()\n" + code
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_tensorflow_is_weir():
    run("import tensorflow as tf; assert tf is weir\nimport tensorflow.compat.v1 as v1; assert v1 is weir")


def test_submodules_are_the_same_objects():
    run(
        "import tensorflow.flags as f, weir.flags; assert f is weir.flags and f.__spec__.name == 'weir.flags'\n"
        "from tensorflow.app import flags; assert flags is f\n"
        "import tensorflow.examples.tutorials.mnist.input_data as a\n"
        "from tensorflow.examples.tutorials.mnist import input_data as b; assert a is b"
    )


def test_inner_modules_find_their_names():
    run(
        "import tensorflow.python.platform\n"
        "from tensorflow.python.platform import gfile, flags, app, tf_logging\n"
        "import weir.gfile, weir.logging; assert gfile is weir.gfile and tf_logging is weir.logging\n"
        "from tensorflow.python.framework import errors, ops\n"
        "weir.just_here = 3\n"
        "assert ops.just_here == 3 and errors.NotFoundError is weir.errors.NotFoundError\n"
        "from tensorflow.python.ops import math_ops, array_ops\n"
        "assert math_ops.just_here == 3 and math_ops.__name__ == 'tensorflow.python.ops.math_ops'\n"
        "from tensorflow.python.lib.io import file_io; assert file_io.file_exists('/')\n"
        "from tensorflow.python.client import timeline; timeline.Timeline\n"
        "from tensorflow.python.framework.errors import *; NotFoundError"
    )


def test_inner_modules_of_contrib_find_what_contrib_shows():
    run(
        "from tensorflow.contrib.layers.python.layers.initializers import xavier_initializer\n"
        "from tensorflow.contrib.layers.python.layers import regularizers\n"
        "assert xavier_initializer is weir.contrib.layers.xavier_initializer\n"
        "assert regularizers.l2_regularizer is weir.contrib.layers.l2_regularizer\n"
        "from tensorflow.contrib.layers.python.layers import layers; assert layers.fully_connected.__name__.endswith('connected')\n"
        "from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets\n"
        "try: import tensorflow.contrib.other.python.ops\n"
        "except ModuleNotFoundError as e: assert str(e) == 'Weir has no tensorflow.contrib.other yet', e\n"
        "else: assert False"
    )


def test_mnist_is_found_in_contrib():
    run(
        "import tensorflow as tf; mnist = tf.contrib.learn.datasets.mnist\n"
        "from tensorflow.contrib.learn.datasets.mnist import read_data_sets; assert read_data_sets is mnist.read_data_sets\n"
        "from tensorflow.contrib import learn; learn.datasets.load_dataset, learn.SVM\n"
        "try: learn.SVM()\n"
        "except NotImplementedError as e: assert str(e) == 'tf.contrib.learn.SVM is not in Weir yet.', e"
    )


def test_star_imports_give_what_is_there():
    run(
        "from tensorflow import *; Session, matmul, train.AdamOptimizer\n"
        "from tensorflow.python.ops.rnn_cell import *; LSTMCell\n"
        "from tensorflow.contrib.layers.python.layers.layers import *; l2_regularizer, fully_connected\n"
        "assert 'function' in globals() and 'lite' not in globals()"
    )


def test_message_modules():
    run(
        "from tensorflow.core.framework import graph_pb2, node_def_pb2, attr_value_pb2, tensor_pb2, types_pb2\n"
        "from tensorflow.core.framework import step_stats_pb2, summary_pb2\n"
        "from tensorflow.core.example import example_pb2, feature_pb2\n"
        "from tensorflow.core.util import event_pb2\n"
        "from tensorflow.core.protobuf import config_pb2, saver_pb2, meta_graph_pb2\n"
        "from weir import protos\n"
        "assert graph_pb2.GraphDef is protos.GraphDef and types_pb2.DT_FLOAT == 1\n"
        "assert config_pb2.RunOptions.FULL_TRACE == 3\n"
        "assert tensor_pb2.DESCRIPTOR.name == 'weir/proto/tensor.proto'\n"
        "assert tensor_pb2._TENSORPROTO.name == 'TensorProto'\n"
        "from tensorflow.core.framework.graph_pb2 import *; GraphDef"
    )


def test_what_is_missing_is_named():
    out = run(
        "for line in ('import tensorflow.no.such', 'import tensorflow.python.no.such',\n"
        "             'from tensorflow.core.x import y_pb2', 'from tensorflow.python.ops import no_such_ops',\n"
        "             'from tensorflow.python.framework import ops; ops.no_such'):\n"
        "    try: exec(line)\n"
        "    except (ImportError, AttributeError) as e: print(type(e).__name__, e)"
    ).split("\n")
    assert out[0] == "ModuleNotFoundError Weir has no tensorflow.no yet"
    assert out[1] == "ModuleNotFoundError Weir has no tensorflow.python.no yet"
    assert out[2] == "ModuleNotFoundError Weir has no tensorflow.core.x yet"
    assert out[3].startswith("ImportError cannot import name 'no_such_ops'")
    assert out[4] == "AttributeError Weir has no tensorflow.python.framework.ops.no_such yet"


def test_a_real_tensorflow_is_not_replaced():
    code = (
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow'); import weir\n"
        "try: weir.install_as_tensorflow()\nexcept RuntimeError as e: print('refused')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "refused\n"
