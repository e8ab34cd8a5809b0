"""What `weir run` knows of programs of TensorFlow 0.x and of TensorFlow's own examples."""

import pytest

_TWO_MODELS = """
    import tensorflow as tf
    def model():
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(5)] * 2)
        state, outputs = cell.zero_state(3, tf.float32), []
        with tf.variable_scope("rnn"):
            for step in range(2):
                if step > 0: tf.get_variable_scope().reuse_variables()
                output, state = cell(tf.zeros([3, 5]), state)
                outputs.append(output)
        return CONCAT
    with tf.variable_scope("model"): model()
    with tf.variable_scope("model", reuse=True): model()
    print(len(tf.trainable_variables()))
"""


@pytest.mark.parametrize("call, count", [
    ("tf.concat(1, outputs)", 4),  # TensorFlow 0.12: each layer has a kernel and a bias
    ("tf.concat(outputs, 1)", 2),  # TensorFlow 1.15: one cell has one kernel
    ("getattr(tf, 'concat')(1, outputs)", 2),  # known too late, and still the same in both models
])
def test_layers_of_one_cell_have_weights_of_their_own_in_programs_of_0_x(weir, call, count):
    result = weir({"p.py": _TWO_MODELS.replace("CONCAT", call)}, "p.py")
    assert result.stdout == f"{count}\n", result.stderr


def test_sets_and_arrays_can_be_sampled(weir):
    program = """
        import random
        import numpy as np
        assert sorted(random.sample({1, 2, 3}, 3)) == sorted(random.sample(np.arange(1, 4), 3)) == [1, 2, 3]
        try: random.sample({1: 2}, 1)
        except TypeError: print("no dictionaries")
    """
    assert weir({"p.py": program}, "p.py").stdout == "no dictionaries\n"


def test_modules_of_tensorflows_examples_are_found_around_the_program(weir):
    files = {
        "tensorflow/models/rnn/translate/__init__.py": "",
        "tensorflow/models/rnn/translate/data_utils.py": "def say(x): print 'text', x / 2",
        "tensorflow/examples/plain/helper.py": "say = 'from a folder without __init__'",
        "tensorflow/models/rnn/rnn_cell.py": "raise ImportError('TensorFlow itself')",
        "tensorflow/models/rnn/translate/translate.py": """
            from tensorflow.models.rnn import rnn_cell
            from tensorflow.models.rnn.translate import data_utils
            import tensorflow.models.rnn.translate.data_utils as same
            assert same is data_utils and rnn_cell.GRUCell
            data_utils.say(5)
            from tensorflow.examples.plain import helper
            print(helper.say)
            try: import tensorflow.models.rnn.no_such
            except ImportError as error: print(error)
        """,
    }
    result = weir(files, "tensorflow/models/rnn/translate/translate.py")
    assert result.stdout == "text 2\nfrom a folder without __init__\nWeir has no tensorflow.models.rnn.no_such yet\n", result.stderr


def test_states_of_the_cells_of_0_7_are_one_tensor(weir):
    program = """
        import tensorflow as tf
        from tensorflow.models.rnn import rnn_cell
        two = rnn_cell.MultiRNNCell([rnn_cell.BasicLSTMCell(4, forget_bias=0.0), rnn_cell.LSTMCell(5, 4, num_proj=3)])
        state = two.zero_state(2, tf.float32)
        output, new = two(tf.zeros([2, 4]), state)
        print(state.get_shape(), output.get_shape(), new.get_shape(), [v.op.name for v in tf.all_variables()])
        later = rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4)])
        print(type(later.state_size).__name__)
    """
    result = weir({"p.py": program}, "p.py")
    assert result.stdout == (
        "(2, 16) (2, 3) (2, 16) ['multi_rnn_cell/cell_0/basic_lstm_cell/kernel', 'multi_rnn_cell/cell_0/basic_lstm_cell/bias', "
        "'multi_rnn_cell/cell_1/lstm_cell/kernel', 'multi_rnn_cell/cell_1/lstm_cell/bias', "
        "'multi_rnn_cell/cell_1/lstm_cell/projection/kernel']\ntuple\n"), result.stderr
