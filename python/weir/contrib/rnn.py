"""tf.contrib.rnn: the cells of tf.nn.rnn_cell, a few more, and networks along Python lists."""

from weir import _lazy
from weir.rnn.rnn import (best_effort_input_batch_size, static_bidirectional_rnn, static_rnn,  # noqa: F401
                          transpose_batch_time)
from weir.rnn.cells import *  # noqa: F401,F403
from weir.rnn.cells import _linear  # noqa: F401

__getattr__ = _lazy.resolver(__name__, {})
