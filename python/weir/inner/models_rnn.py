"""tensorflow.models.rnn.rnn and linear, where TensorFlow 0.5 and 0.6 kept the functions of tf.nn."""

from weir.rnn.rnn import static_bidirectional_rnn, static_rnn as rnn  # noqa: F401
from weir.rnn.cells import linear  # noqa: F401


def bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                      sequence_length=None, scope=None):
    """The joined outputs alone; later releases gave the states as well."""
    return static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw, initial_state_bw, dtype,
                                    sequence_length, scope)[0]
