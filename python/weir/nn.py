"""tf.nn"""

from weir import _lazy
from weir.ops.array_ops import depth_to_space, space_to_batch, space_to_depth  # noqa: F401
from weir.ops.candidate_sampling_ops import *  # noqa: F401,F403
from weir.ops.math_ops import log_sigmoid, sigmoid, tanh  # noqa: F401
from weir.ops.nn_ops import *  # noqa: F401,F403

__getattr__ = _lazy.resolver(__name__, {})
