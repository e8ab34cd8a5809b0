"""tf.train: optimizers, schedules, checkpoints, and what keeps training going."""

from weir import _lazy
from weir.train.global_step import (assert_global_step, create_global_step, get_global_step,  # noqa: F401
                                    get_or_create_global_step, global_step)
from weir.train.optimizer import (AdagradOptimizer, AdamOptimizer, GradientDescentOptimizer,  # noqa: F401
                                  MomentumOptimizer, Optimizer, RMSPropOptimizer)

_MESSAGES = ("BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
             "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef")

__getattr__ = _lazy.resolver(__name__, {
    **{name: ("weir.protos", name) for name in _MESSAGES},
})
