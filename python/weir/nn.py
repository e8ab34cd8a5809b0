"""tf.nn"""

from weir import _lazy
from weir.ops.array_ops import depth_to_space, space_to_batch, space_to_depth  # noqa: F401
from weir.ops.candidate_sampling_ops import *  # noqa: F401,F403
from weir.ops.conv_ops import *  # noqa: F401,F403
from weir.ops.math_ops import log_sigmoid, sigmoid, tanh  # noqa: F401
from weir.ops.nn_ops import *  # noqa: F401,F403

_RNN = ("bidirectional_dynamic_rnn", "dynamic_rnn", "raw_rnn", "static_bidirectional_rnn", "static_rnn")

# What TensorFlow 0.x called them.
_OLD_RNN = {"rnn": "static_rnn", "bidirectional_rnn": "static_bidirectional_rnn"}

__getattr__ = _lazy.resolver(__name__, {**{name: ("weir.rnn.rnn", name) for name in _RNN},
                                        **{old: ("weir.rnn.rnn", name) for old, name in _OLD_RNN.items()},
                                        "rnn_cell": ("weir.rnn.cells", None),
                                        "seq2seq": ("weir.contrib.legacy_seq2seq", None)})
