"""tf.nn"""

from weir.ops.clip_ops import *  # noqa: F401,F403
from weir.ops.math_ops import log_sigmoid, sigmoid, tanh  # noqa: F401
from weir.ops.nn_ops import *  # noqa: F401,F403
