"""How a TPUEstimator is to run. What only TPUs do is kept, so that programs can read it back."""

import collections
import copy
import json
import os

from weir.estimator.run_config import _REPLACEABLE, RunConfig as _CoreRunConfig


class InputPipelineConfig:
    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(collections.namedtuple("TPUConfig", [
        "iterations_per_loop", "num_shards", "num_cores_per_replica", "per_host_input_for_training", "tpu_job_name",
        "initial_infeed_sleep_secs", "input_partition_dims", "eval_training_input_configuration",
        "experimental_host_call_every_n_steps"])):
    def __new__(cls, iterations_per_loop=2, num_shards=None, num_cores_per_replica=None,
                per_host_input_for_training=True, tpu_job_name=None, initial_infeed_sleep_secs=None,
                input_partition_dims=None, eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1,
                experimental_host_call_every_n_steps=1):
        if iterations_per_loop is not None and iterations_per_loop <= 0:
            raise ValueError(f"TPUConfig iterations_per_loop must be positive, given {iterations_per_loop}")
        if num_shards is not None and num_shards <= 0:
            raise ValueError(f"TPUConfig num_shards must be positive, given {num_shards}")
        if num_cores_per_replica is not None and num_cores_per_replica not in (1, 2, 4, 8, 16):
            raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, or 16; got {num_cores_per_replica}")
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        if initial_infeed_sleep_secs and initial_infeed_sleep_secs <= 0:
            raise ValueError(f"TPUConfig initial_infeed_sleep_secs must be positive, given {initial_infeed_sleep_secs}")
        return super().__new__(cls, iterations_per_loop, num_shards, num_cores_per_replica, per_host_input_for_training,
                               tpu_job_name or _job_of_environment(), initial_infeed_sleep_secs, input_partition_dims,
                               eval_training_input_configuration, experimental_host_call_every_n_steps)


def _job_of_environment():
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return config.get("service", {}).get("tpu_worker_job_name") if config else None


class RunConfig(_CoreRunConfig):
    """tf.estimator.RunConfig with a TPUConfig."""

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        super().__init__(**kwargs)
        self._tpu_config, self._cluster = tpu_config or TPUConfig(), cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != "evaluator":
            self._evaluation_master = self._master

    cluster = property(lambda self: self._cluster)
    tpu_config = property(lambda self: self._tpu_config)

    def replace(self, **kwargs):
        other = copy.deepcopy(self)
        if "tpu_config" in kwargs:
            other._tpu_config = kwargs.pop("tpu_config")
        return _CoreRunConfig._replace(other, _REPLACEABLE, **kwargs)
