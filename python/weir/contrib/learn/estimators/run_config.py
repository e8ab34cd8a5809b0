"""tf.contrib.learn.RunConfig."""

import json
import os

import weir as tf
from weir.estimator.run_config import _REPLACEABLE, RunConfig as _CoreRunConfig, _USE_DEFAULT


class RunConfig(_CoreRunConfig):
    """How an estimator runs; TF_CONFIG says which task of a cluster this is."""

    def __init__(self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1, tf_random_seed=None,
                 save_summary_steps=100, save_checkpoints_secs=_USE_DEFAULT, save_checkpoints_steps=None,
                 keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, protocol=None,
                 evaluation_master="", model_dir=None, session_config=None, session_creation_timeout_secs=7200):
        if save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(model_dir=model_dir, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
                         save_checkpoints_steps=save_checkpoints_steps, save_checkpoints_secs=save_checkpoints_secs,
                         session_config=session_config, keep_checkpoint_max=keep_checkpoint_max,
                         keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
                         log_step_count_steps=log_step_count_steps, protocol=protocol,
                         session_creation_timeout_secs=session_creation_timeout_secs)
        if master is not None:
            self._master = master
        self._evaluation_master = evaluation_master or self._evaluation_master
        self._num_cores, self._session_config_given = num_cores, session_config
        self._tf_config = tf.ConfigProto(log_device_placement=log_device_placement,
                                         inter_op_parallelism_threads=num_cores,
                                         intra_op_parallelism_threads=num_cores)
        self._tf_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction

    tf_config = property(lambda self: self._tf_config)
    num_cores = property(lambda self: self._num_cores)

    def replace(self, **kwargs):
        return super().replace(**kwargs)

    environment = property(lambda self: json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment", "local"))

    @staticmethod
    def get_task_id():
        """The number of this task, by TF_CONFIG."""
        return int(json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("index", 0))

    def uid(self, whitelist=None):
        """A text that is equal for equal settings."""
        shown = {name: getattr(self, "_" + name) for name in _REPLACEABLE if name != "model_dir"}
        return ", ".join(f"{key}={value!r}" for key, value in sorted(shown.items()))
