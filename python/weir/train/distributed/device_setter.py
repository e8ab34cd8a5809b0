"""tf.train.replica_device_setter: variables on the parameter servers, everything else on the worker."""

from weir import protos
from weir.core.device import DeviceSpec
from weir.train.distributed.cluster_spec import ClusterSpec

STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp")


def replica_device_setter(ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True, cluster=None,
                          ps_ops=None, ps_strategy=None):
    """A device function for ``tf.device()``, or None when there are no parameter servers."""
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        ps_tasks = len(jobs.get(DeviceSpec.from_string(ps_device).job) or ())
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobinStrategy(ps_tasks)
    elif not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    ps_ops = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)

    def choose(op):
        if not merge_devices and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        kind = op.op if isinstance(op, protos.NodeDef) else op.type  # libraries ask for the place of what they will make
        if not ps_device or kind not in ps_ops:
            return DeviceSpec.from_string(worker_device or "").make_merged_spec(current).to_string()
        server = DeviceSpec.from_string(ps_device)
        if server.job and current.job in (None, server.job):
            server.task = ps_strategy(op)
        return server.make_merged_spec(current).to_string()

    return choose


class _RoundRobinStrategy:
    """Gives task after task to the operations that it is asked for."""

    def __init__(self, num_tasks):
        self._num_tasks, self._next_task = num_tasks, 0

    def __call__(self, op):
        task, self._next_task = self._next_task, (self._next_task + 1) % self._num_tasks
        return task
