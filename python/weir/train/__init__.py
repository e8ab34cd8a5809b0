"""tf.train: optimizers, schedules, checkpoints, and what keeps training going."""

from weir import _lazy
from weir.train.global_step import (assert_global_step, create_global_step, get_global_step,  # noqa: F401
                                    get_or_create_global_step, global_step)
from weir.train.optimizer import *  # noqa: F401,F403

_MESSAGES = ("BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
             "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef")

_CHECKPOINTS = ("CheckpointReader", "NewCheckpointReader", "checkpoint_exists", "generate_checkpoint_state_proto",
                "get_checkpoint_mtimes", "get_checkpoint_state", "init_from_checkpoint", "latest_checkpoint",
                "list_variables", "load_checkpoint", "load_variable", "remove_checkpoint", "update_checkpoint_state")
_SCHEDULES = ("ExponentialMovingAverage", "assign_moving_average", "cosine_decay", "cosine_decay_restarts",
              "exponential_decay", "inverse_time_decay", "linear_cosine_decay", "natural_exp_decay",
              "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
              "weighted_moving_average")
_SAVER = ("Saver", "export_meta_graph", "import_meta_graph")

__getattr__ = _lazy.resolver(__name__, {
    **{name: ("weir.train.checkpoints", name) for name in _CHECKPOINTS},
    **{name: ("weir.train.saver", name) for name in _SAVER},
    "ClusterSpec": ("weir.train.distributed.cluster_spec", "ClusterSpec"),
    "replica_device_setter": ("weir.train.distributed.device_setter", "replica_device_setter"),
    **{name: ("weir.train.distributed.data_parallel", name) for name in ("average_gradients", "towers")},
    **{name: ("weir.train.schedules", name) for name in _SCHEDULES},
    **{name: ("weir.summary", name) for name in ("SummaryWriter", "summary_iterator")},
    "write_graph": ("weir.graph_util", "write_graph"),
    **{name: ("weir.protos", name) for name in _MESSAGES},
})
