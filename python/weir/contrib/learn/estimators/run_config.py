"""tf.contrib.learn.RunConfig."""

import json
import os

import weir as tf
from weir.estimator.run_config import _REPLACEABLE, RunConfig as _CoreRunConfig, _USE_DEFAULT


class Environment:
    """Where a cluster runs; TF_CONFIG says it."""

    CLOUD = "cloud"
    GOOGLE = "google"
    LOCAL = "local"


def _address(cluster, task_type, task_id):
    """The address of a task for a session; nothing in a cluster of one task, and for one that says no type."""
    jobs = cluster.jobs
    if not task_type or len(jobs) == 1 and cluster.num_tasks(jobs[0]) == 1:
        return ""
    note = (f" in the cluster_spec:\n{cluster}\n\nNote that these values may be coming from the TF_CONFIG environment "
            "variable.")
    if task_type not in jobs:
        raise ValueError(f"{task_type} is not a valid task_type{note}")
    addresses = cluster.job_tasks(task_type)
    if not 0 <= task_id < len(addresses):
        raise ValueError(f"{task_id} is not a valid task_id for task_type {task_type}{note}")
    return "grpc://" + addresses[task_id]


class RunConfig(_CoreRunConfig):
    """How an estimator runs; TF_CONFIG says which task of a cluster this is."""

    def __init__(self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1, tf_random_seed=None,
                 save_summary_steps=100, save_checkpoints_secs=_USE_DEFAULT, save_checkpoints_steps=None,
                 keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, protocol=None,
                 evaluation_master="", model_dir=None, session_config=None, session_creation_timeout_secs=7200):
        if save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self._given_master = master
        super().__init__(model_dir=model_dir, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
                         save_checkpoints_steps=save_checkpoints_steps, save_checkpoints_secs=save_checkpoints_secs,
                         session_config=session_config, keep_checkpoint_max=keep_checkpoint_max,
                         keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
                         log_step_count_steps=log_step_count_steps, protocol=protocol,
                         session_creation_timeout_secs=session_creation_timeout_secs)
        self._evaluation_master = evaluation_master or self._evaluation_master
        self._num_cores, self._session_config_given = num_cores, session_config
        self._tf_config = tf.ConfigProto(log_device_placement=log_device_placement,
                                         inter_op_parallelism_threads=num_cores,
                                         intra_op_parallelism_threads=num_cores)
        self._tf_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction

    def _read_environment(self, environment):
        """Which task this is of which cluster. Any jobs may be in it, and the first worker is the chief, outside clouds."""
        task = environment.get("task", {})
        self._cluster_spec = tf.train.ClusterSpec(environment.get("cluster", {}))
        self._task_type, self._task_id = task.get("type"), self.get_task_id()
        self._service, self._global_id_in_cluster = environment.get("service"), None
        self._master = self._given_master
        if self._master is None:
            self._master = _address(self._cluster_spec, self._task_type, self._task_id) if self._cluster_spec else ""
        self._evaluation_master = ""
        jobs = self._cluster_spec.as_dict()
        self._num_ps_replicas, self._num_worker_replicas = (len(jobs.get(job, ())) for job in ("ps", "worker"))
        chief = "master" if environment.get("environment") == Environment.CLOUD else "worker"
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)

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
