"""RunConfig: how an estimator runs, by the program and by the environment variable TF_CONFIG."""

import copy
import json
import os

import weir as tf
from weir import logging
from weir.estimator.functions import fn_args

_USE_DEFAULT = object()
_REPLACEABLE = ("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
                "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
                "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
                "experimental_max_worker_delay_secs", "session_creation_timeout_secs")
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


class TaskType:
    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def _default_session_config():
    config = tf.ConfigProto(allow_soft_placement=True)
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config


# (property, what must hold, what is said otherwise)
_RULES = (
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda v: v >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda v: v >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda v: v >= 0, "save_checkpoints_secs should be >= 0"),
    ("session_config", lambda v: isinstance(v, tf.ConfigProto), "session_config must be instance of ConfigProto"),
    ("keep_checkpoint_max", lambda v: v >= 0, "keep_checkpoint_max should be >= 0"),
    ("keep_checkpoint_every_n_hours", lambda v: v > 0, "keep_checkpoint_every_n_hours should be > 0"),
    ("log_step_count_steps", lambda v: v > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda v: isinstance(v, int), "tf_random_seed must be integer."),
    ("experimental_max_worker_delay_secs", lambda v: isinstance(v, int),
     "experimental_max_worker_delay_secs must be an integer if set."),
    ("session_creation_timeout_secs", lambda v: v > 0, "session_creation_timeout_secs should be > 0"),
    ("device_fn", lambda v: callable(v) and set(fn_args(v)) == {"op"},
     'device_fn must be callable with exactly one argument "op".'),
    ("protocol", lambda v: v in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
)


class RunConfig:
    """How an estimator runs. ``replace(**changes)`` gives a changed copy."""

    def __init__(self, model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=_USE_DEFAULT,
                 save_checkpoints_secs=_USE_DEFAULT, session_config=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, train_distribute=None, device_fn=None,
                 protocol=None, eval_distribute=None, experimental_distribute=None,
                 experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200):
        if save_checkpoints_steps is _USE_DEFAULT and save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH)
        environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
        if environment:
            logging.info("TF_CONFIG environment variable: %s", environment)
        RunConfig._replace(
            self, _REPLACEABLE, model_dir=_model_dir(environment, tf.compat.path_to_str(model_dir)),
            tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps, save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config, keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute, device_fn=device_fn, protocol=protocol, eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs)
        self._distribute_coordinator_mode = None
        self._read_environment(environment)
        if not self._session_config and self._cluster_spec:
            self._session_config = self._distributed_session_config()

    def _distributed_session_config(self):
        """A task talks to parameter servers and to itself only."""
        config = _default_session_config()
        if self._task_type in (TaskType.MASTER, TaskType.CHIEF):
            config.device_filters.extend(["/job:ps", f"/job:{self._task_type}"])
        elif self._task_type == TaskType.WORKER:
            config.device_filters.extend(["/job:ps", f"/job:worker/task:{self._task_id}"])
        elif self._task_type == TaskType.PS:
            config.device_filters.extend(["/job:ps", "/job:worker", "/job:chief", "/job:master"])
        else:
            return None
        return config

    def _read_environment(self, environment):
        """Which task this is of which cluster."""
        self._service = environment.get("service")
        if self._service is not None and not isinstance(self._service, dict):
            raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(self._service)}')
        self._cluster_spec = tf.train.ClusterSpec(environment.get("cluster", {}))
        task = environment.get("task", {})
        self._evaluation_master = ""
        if not self._cluster_spec:
            self._task_type, self._task_id = task.get("type", TaskType.WORKER), int(task.get("index", 0))
            self._global_id_in_cluster = 0
            if self._task_type != TaskType.WORKER:
                raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
            if self._task_id != 0:
                raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
            self._master = environment.get("session_master", "")
            self._evaluation_master = environment.get("eval_session_master", "")
            self._is_chief, self._num_ps_replicas, self._num_worker_replicas = True, 0, 1
            return
        chief = TaskType.MASTER if TaskType.MASTER in self._cluster_spec.jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in self._cluster_spec.jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        # A strategy's workers need no chief: the first of them is it.
        jobs = self._cluster_spec.jobs
        first_worker = self._train_distribute is not None and chief not in jobs and TaskType.WORKER in jobs
        chief = TaskType.WORKER if first_worker else chief
        self._task_type, self._task_id = _task(self._cluster_spec, task, chief, first_worker)
        if self._task_type == TaskType.EVALUATOR:
            if chief == TaskType.MASTER:
                raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
            self._evaluation_master = environment.get("eval_session_master", "")
            self._cluster_spec, self._master = tf.train.ClusterSpec({}), ""
            self._num_ps_replicas = self._num_worker_replicas = 0
            self._global_id_in_cluster = None
        else:
            jobs = self._cluster_spec.as_dict()
            self._master = _master(self._cluster_spec, self._task_type, self._task_id, environment)
            self._num_ps_replicas = len(jobs.get(TaskType.PS, []))
            self._num_worker_replicas = len(jobs.get(TaskType.WORKER, [])) + (0 if first_worker else len(jobs.get(chief, [])))
            self._global_id_in_cluster = _global_id(self._cluster_spec, self._task_type, self._task_id, chief)
        self._is_chief = self._task_type == chief and (not first_worker or self._task_id == 0)

    def replace(self, **kwargs):
        return RunConfig._replace(copy.deepcopy(self), _REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(config, allowed_properties_list=None, **kwargs):
        allowed = list(allowed_properties_list or [])
        for key, value in kwargs.items():
            if key not in allowed:
                raise ValueError(f"Replacing {key} is not supported. Allowed properties are {allowed}.")
            setattr(config, "_" + key, value)
        steps, secs = config._save_checkpoints_steps, config._save_checkpoints_secs
        if "save_checkpoints_steps" in kwargs and "save_checkpoints_secs" in kwargs:
            if steps is not None and secs is not None:
                raise ValueError(_BOTH)
        elif "save_checkpoints_steps" in kwargs and steps is not None:
            config._save_checkpoints_secs = None
        elif "save_checkpoints_secs" in kwargs and secs is not None:
            config._save_checkpoints_steps = None
        for name, holds, message in _RULES:
            value = getattr(config, name)
            if value is not None and not holds(value):
                raise ValueError(message)
        return config

    def __deepcopy__(self, memo):
        # Strategies and functions are shared: they stand for devices and code, not for settings.
        other = self.__class__.__new__(self.__class__)
        for name, value in self.__dict__.items():
            shared = name in ("_train_distribute", "_eval_distribute", "_experimental_distribute", "_device_fn")
            other.__dict__[name] = value if shared else copy.deepcopy(value, memo)
        return other


def _property(name):
    return property(lambda self: getattr(self, "_" + name))


for _name in _REPLACEABLE + ("cluster_spec", "evaluation_master", "is_chief", "master", "num_ps_replicas",
                             "num_worker_replicas", "task_id", "global_id_in_cluster", "task_type", "service"):
    setattr(RunConfig, _name, _property(_name))


def _model_dir(environment, model_dir):
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    given = environment.get("model_dir")
    if given == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if given and model_dir and given != model_dir:
        raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir "
                         f'in TF_CONFIG. model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {given}.\n')
    return model_dir or given


def _task(cluster, task, chief, several=False):
    """(type, index) of the task that TF_CONFIG says this is."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1 and not several:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    kind, index = task.get("type"), task.get("index")
    if not kind:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if index is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    index = int(index)
    if index < 0:
        raise ValueError("Task index must be non-negative number.")
    where = f"in the cluster_spec:\n{cluster}\n\nNote that these values may be coming from the TF_CONFIG environment variable."
    if kind != TaskType.EVALUATOR:
        if kind not in cluster.jobs:
            raise ValueError(f"{kind} is not a valid task_type {where}")
        if index >= len(cluster.job_tasks(kind)):
            raise ValueError(f"{index} is not a valid task_id for task_type {kind} {where}")
    return kind, index


def _master(cluster, kind, index, environment):
    if "session_master" in environment:
        return environment["session_master"]
    if len(cluster.jobs) == 1 and len(cluster.job_tasks(cluster.jobs[0])) == 1:
        return ""
    return "grpc://" + cluster.job_tasks(kind)[index]


def _global_id(cluster, kind, index, chief):
    """The number of a task among all, the chief first and parameter servers last."""
    order = [chief, *(job for job in sorted(cluster.jobs) if job not in (chief, TaskType.PS))]
    if TaskType.PS in cluster.jobs:
        order.append(TaskType.PS)
    return sum(len(cluster.job_tasks(job)) for job in order[:order.index(kind)]) + index
