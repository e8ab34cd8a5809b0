"""Strategies for several processes, and how they learn which of a cluster this one is."""

import enum
import json
import os

import weir as tf
from weir import distributed as hvd
from weir.distribute.context import _replicas
from weir.distribute.strategy import InputContext, MirroredStrategy, PerReplica, ReduceOp, Strategy, _average, _local_devices


class CollectiveCommunication(enum.Enum):
    """What carries gradients; Weir takes MPI where the program was started by it, and gloo elsewhere."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class ClusterResolver:
    """Knows a cluster, and which of its tasks this process is."""

    task_type = task_id = rpc_layer = environment = None

    def cluster_spec(self):
        raise NotImplementedError()

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        raise NotImplementedError()

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": sum(device.startswith("/device:GPU") or "GPU" in device for device in _local_devices())}

    def _address(self, task_type, task_id, rpc_layer):
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return None
        address = self.cluster_spec().task_address(task_type, task_id)
        layer = rpc_layer if rpc_layer is not None else self.rpc_layer
        return f"{layer}://{address}" if layer else address


class SimpleClusterResolver(ClusterResolver):
    """What the program says."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
                 rpc_layer=None):
        if not isinstance(cluster_spec, tf.train.ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._spec, self._master, self._accelerators = cluster_spec, master, num_accelerators
        self.task_type, self.task_id, self.environment, self.rpc_layer = task_type, task_id, environment, rpc_layer

    def cluster_spec(self):
        return self._spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return self._address(task_type, task_id, rpc_layer)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{self._master}" if layer and self._master else self._master

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return super().num_accelerators() if self._accelerators is None else self._accelerators


class TFConfigClusterResolver(ClusterResolver):
    """What the variable TF_CONFIG says."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        task = config.get("task", {})
        self._config = config
        self.task_type = str(task_type if task_type is not None else task["type"]) if task_type or "type" in task else None
        index = task_id if task_id is not None else task.get("index")
        self.task_id = None if index is None else int(index)
        self.rpc_layer = rpc_layer or config.get("rpc_layer")
        self.environment = environment or config.get("environment", "")

    def cluster_spec(self):
        return tf.train.ClusterSpec(self._config.get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if "session_master" in self._config:
            return self._config["session_master"]
        jobs = self.cluster_spec().as_dict()
        if not jobs or (len(jobs) == 1 and len(next(iter(jobs.values()))) == 1):
            return ""
        return self._address(task_type, task_id, rpc_layer if rpc_layer is not None else self.rpc_layer or "grpc")


class ParameterServerStrategy(Strategy):
    """Variables are on the parameter servers of TF_CONFIG's cluster; each worker trains on its own (asynchronously)."""

    def __init__(self, num_gpus_per_worker=0, cluster_resolver=None):
        if isinstance(num_gpus_per_worker, ClusterResolver):
            num_gpus_per_worker, cluster_resolver = 0, num_gpus_per_worker
        super().__init__([f"/gpu:{i}" for i in range(num_gpus_per_worker)] or [""])
        self.cluster_resolver = cluster_resolver or TFConfigClusterResolver()

    def _device_fn(self, device_fn):
        return device_fn


class MultiWorkerMirroredStrategy(Strategy):
    """A process for each worker of TF_CONFIG's cluster, with all variables in each: gradients are averaged over all."""

    _TRAINERS = ("chief", "master", "worker")

    def __init__(self, communication=CollectiveCommunication.AUTO, cluster_resolver=None, devices=None):
        super().__init__(devices or _local_devices())
        self.cluster_resolver = cluster_resolver or TFConfigClusterResolver()
        self._rank, self._size = 0, 1
        jobs = self.cluster_resolver.cluster_spec().as_dict()
        addresses = [(job, task, address) for job in self._TRAINERS if job in jobs
                     for task, address in enumerate(tf.train.ClusterSpec(jobs).job_tasks(job))]
        own = [i for i, (job, task, _) in enumerate(addresses)
               if (job, task) == (self.cluster_resolver.task_type, self.cluster_resolver.task_id)]
        if not own or len(addresses) < 2:
            return  # alone, or one that does not train
        if not hvd.is_initialized():
            launched = "WEIR_RANK" in os.environ or "OMPI_COMM_WORLD_RANK" in os.environ
            hvd.init(**({} if launched else {"transport": "gloo", "rank": own[0], "size": len(addresses),
                                             "rendezvous": addresses[0][2]}))
        self._rank, self._size = hvd.rank(), hvd.size()

    num_replicas_in_sync = num_replicas = num_towers = property(lambda self: len(self._devices) * self._size)

    def _averaged(self, collected):
        return [(None if gradient is None else hvd.allreduce(gradient), variable)
                for gradient, variable in _average(collected)] if self._size > 1 else _average(collected)

    def reduce(self, reduce_op, value, axis=None):
        result = super().reduce(reduce_op, value, axis)
        if self._size == 1:
            return result
        return hvd.allreduce(result, op=hvd.Average if reduce_op == ReduceOp.MEAN else hvd.Sum)

    def _input_context(self):
        return InputContext(self._size, self._rank, self.num_replicas_in_sync)

    def _session_of(self, config, model_dir):
        if self._size == 1:
            return super()._session_of(config, model_dir)
        # Every process has a session of its own; the first one's variables are everybody's, and it alone saves.
        return "", True, model_dir if self._rank == 0 else None, [hvd.BroadcastGlobalVariablesHook(0)]

    _needs_server = property(lambda self: self._size == 1)


class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """The same by its older name."""

    def __init__(self, num_gpus_per_worker=0, communication=CollectiveCommunication.AUTO, cluster_resolver=None):
        super().__init__(communication, cluster_resolver, [f"/gpu:{i}" for i in range(num_gpus_per_worker)] or None)


class CentralStorageStrategy(MirroredStrategy):
    """A replica on each device, with the variables in one place, where all of Weir's are."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(compute_devices)


__all__ = ["CentralStorageStrategy", "ClusterResolver", "CollectiveAllReduceStrategy", "CollectiveCommunication",
           "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "SimpleClusterResolver", "TFConfigClusterResolver"]
