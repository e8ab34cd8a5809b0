"""Strategies: a function is called once for each device; variables are shared, gradients averaged."""

import contextlib

import weir as tf
from weir import nest
from weir.core.devices import list_local_devices
from weir.distribute.context import _Replicas, _replicas
from weir.estimator.util import _DatasetInitializerHook


class ReduceOp:
    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        return ReduceOp.MEAN if "MEAN" in str(aggregation) else ReduceOp.SUM


class InputContext:
    """Which part of the input a pipeline is for."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines, self.input_pipeline_id = num_input_pipelines, input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                             f"{self.num_replicas_in_sync}")
        return global_batch_size // self.num_replicas_in_sync


class ReplicaContext:
    """What a replica can ask."""

    def __init__(self, strategy, number):
        self._strategy, self._number = strategy, number

    strategy = property(lambda self: self._strategy)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)
    replica_id_in_sync_group = property(lambda self: self._number)


_DEFAULT = []  # strategies whose scopes are entered, the innermost last


def get_strategy():
    return _DEFAULT[-1] if _DEFAULT else Strategy(["/cpu:0"])


def has_strategy():
    return bool(_DEFAULT)


def in_cross_replica_context():
    return has_strategy() and _replicas() is None


def get_replica_context():
    replicas = _replicas()
    return ReplicaContext(get_strategy(), replicas.current if replicas else 0)


class PerReplica(tuple):
    """The values of replicas."""

    values = property(tuple)


def _average(collected):
    """One list of (gradient, variable) of those of all replicas."""
    result = []
    for pairs in zip(*collected):
        gradients, variable = [g for g, _ in pairs if g is not None], pairs[0][1]
        if not gradients:
            result.append((None, variable))
        elif all(isinstance(g, tf.IndexedSlices) for g in gradients):
            values = tf.concat([g.values for g in gradients], 0) / float(len(gradients))
            result.append((tf.IndexedSlices(values, tf.concat([g.indices for g in gradients], 0),
                                            gradients[0].dense_shape), variable))
        elif len(gradients) == 1:
            result.append((gradients[0], variable))
        else:
            result.append((tf.add_n([tf.convert_to_tensor(g) for g in gradients]) / float(len(gradients)), variable))
    return result


class Strategy:
    """Calls functions once for each of its devices."""

    def __init__(self, devices):
        self._devices = list(devices)

    num_replicas_in_sync = num_replicas = property(lambda self: len(self._devices))
    num_towers = num_replicas
    worker_devices = property(lambda self: tuple(self._devices))
    extended = property(lambda self: self)

    @contextlib.contextmanager
    def scope(self):
        _DEFAULT.append(self)
        try:
            yield self
        finally:
            _DEFAULT.pop()

    # What strategies for several processes do otherwise.

    def _averaged(self, collected):
        return _average(collected)

    def _input_context(self):
        return InputContext(1, 0, self.num_replicas_in_sync)

    # For functions.

    def _of_replicas(self, function):
        """[what function() gives] for each replica; variables are made by the first."""
        results = []
        with _Replicas(len(self._devices), self._averaged) as replicas:
            for i, device in enumerate(self._devices):
                replicas.begin(i)
                with tf.variable_scope(tf.get_variable_scope(), reuse=True if i else tf.AUTO_REUSE):
                    with tf.device(device):
                        results.append(function())
        return results

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """What ``fn`` gives on each replica; values of replicas among its arguments are given one by one."""
        def pick(value, i):
            return value[i] if isinstance(value, PerReplica) else value

        numbers = iter(range(len(self._devices)))

        def call():
            i = next(numbers)
            return fn(*(pick(a, i) for a in args), **{key: pick(value, i) for key, value in (kwargs or {}).items()})

        results = self._of_replicas(call)
        return results[0] if len(results) == 1 else PerReplica(results)

    run = experimental_run_v2

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        return self.experimental_run_v2(fn, args, kwargs)

    call_for_each_tower = call_for_each_replica

    def reduce(self, reduce_op, value, axis=None):
        values = list(value) if isinstance(value, (PerReplica, list)) else [value]
        if axis is not None:
            values = [tf.reduce_mean(v, axis) if reduce_op == ReduceOp.MEAN else tf.reduce_sum(v, axis) for v in values]
        if len(values) == 1:
            return values[0]
        total = tf.add_n(values)
        return total / float(len(values)) if reduce_op == ReduceOp.MEAN else total

    def experimental_local_results(self, value):
        return tuple(value) if isinstance(value, PerReplica) else (value,)

    unwrap = experimental_local_results

    def group(self, value, name=None):
        return tf.group(*self.experimental_local_results(value), name=name)

    # For data.

    def make_dataset_iterator(self, dataset):
        return _ReplicaIterator(tf.data.make_initializable_iterator(dataset), len(self._devices))

    def make_input_fn_iterator(self, input_fn, replication_mode=None):
        return self.make_dataset_iterator(input_fn(self._input_context()))

    def experimental_distribute_dataset(self, dataset):
        return dataset

    distribute_dataset = experimental_distribute_dataset

    def _iterator_of(self, input_fn):
        """(iterator, hooks) of an estimator's input; each replica takes an element of its own."""
        result = input_fn(self._input_context())
        if isinstance(result, tf.data.Dataset):
            iterator = tf.data.make_initializable_iterator(result)
            return iterator, [_DatasetInitializerHook(iterator)]
        if len(self._devices) > 1:
            raise ValueError("dataset_fn() must return a tf.data.Dataset when using a DistributionStrategy.")
        return _Constant(result), []

    # For estimators.

    def _scaled_losses(self):
        return contextlib.nullcontext()  # gradients are averaged, which is the same

    def _replicas(self, function):
        return self._of_replicas(function)

    def _loss_reduction(self):
        return ReduceOp.MEAN

    def _device_fn(self, device_fn):
        """Where nodes go that no replica places."""
        return None

    def _session_of(self, config, model_dir):
        """(master, whether this is the chief, where to save, hooks)."""
        return config.master, config.is_chief, model_dir, []

    _needs_server = True  # of a task of a cluster

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """Nothing is to be set."""


class _Constant:
    def __init__(self, value):
        self._value = value

    def get_next(self):
        return self._value


class _ReplicaIterator:
    """An iterator whose elements are one for each replica."""

    def __init__(self, iterator, count):
        self._iterator, self._count = iterator, count

    initializer = property(lambda self: self._iterator.initializer)

    def initialize(self):
        return self._iterator.initializer

    def get_next(self):
        elements = [self._iterator.get_next() for _ in range(self._count)]
        if self._count == 1:
            return elements[0]
        flat = [PerReplica(parts) for parts in zip(*(nest.flatten(element) for element in elements))]
        return nest.pack_sequence_as(elements[0], flat)


def _local_devices():
    gpus = [device.name for device in list_local_devices() if device.device_type == "GPU"]
    return gpus or ["/device:CPU:0"]


class MirroredStrategy(Strategy):
    """A replica on each GPU, or on each device that is named."""

    def __init__(self, devices=None, cross_device_ops=None, num_gpus=None, num_gpus_per_worker=None,
                 cross_tower_ops=None, prefetch_on_device=None, auto_shard_dataset=False):
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None:
            devices = [f"/device:GPU:{i}" for i in range(count)] if count else _local_devices()
        super().__init__(devices)


class OneDeviceStrategy(Strategy):
    """All on one device."""

    def __init__(self, device, prefetch_on_device=None):
        super().__init__([device])
