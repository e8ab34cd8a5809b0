"""Data parallelism without servers: many processes run one program and average their gradients. The names are Horovod's.

    import weir.distributed as hvd         # or, under `weir run`, import horovod.tensorflow as hvd
    hvd.init()
    optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.1 * hvd.size()))
    hooks = [hvd.BroadcastGlobalVariablesHook(0)]

The work is C++ (include/weir/collectives.h); docs/collectives.md tells how processes are started.
"""

import atexit

from weir import _weir
from weir.core.graph import IndexedSlices, convert_to_tensor, name_scope
from weir.core.stack import get_default_graph
from weir.core.variables import global_variables
from weir.ops.math_ops import cast
from weir.train.optimizer import Optimizer
from weir.train.session_run_hook import SessionRunHook

# How tensors of all processes become one.
Average, Sum, Min, Max, Product = range(5)


def init(comm=None, transport=None, rank=None, size=None, rendezvous=None, timeout_secs=None, fusion_bytes=None):
    """Joins the other processes, as the environment says (mpirun, srun, TF_CONFIG, `weir launch`), or the arguments."""
    if comm:
        raise NotImplementedError("collectives are of all processes; a part of them (comm) is not supported")
    _weir.collectives_init({"transport": transport, "rank": rank, "size": size, "rendezvous": rendezvous,
                            "timeout_secs": timeout_secs, "fusion_bytes": fusion_bytes})
    atexit.register(shutdown)


def shutdown():
    """Leaves; waits for the others to do so, too. Done by itself at the end of the program."""
    _weir.collectives_shutdown()


def is_initialized():
    return _weir.collectives_initialized()


def _number(function):
    if not _weir.collectives_initialized():
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return function()


def rank():
    """Which of the processes this is, from 0."""
    return _number(_weir.collectives_rank)


def size():
    """How many processes there are."""
    return _number(_weir.collectives_size)


def local_rank():
    """Which of this machine's processes this is."""
    return _number(_weir.collectives_local_rank)


def local_size():
    """How many processes this machine has."""
    return _number(_weir.collectives_local_size)


def transport():
    """What carries the tensors: "mpi", "gloo", or "alone"."""
    return _number(_weir.collectives_transport)


def mpi_threads_supported():
    """Whether programs may use MPI beside this; they may if they initialise it first, for many threads."""
    _number(_weir.collectives_size)
    return True


def mpi_enabled():
    return is_initialized() and transport() == "mpi"


def gloo_enabled():
    return is_initialized() and transport() == "gloo"


def mpi_built():
    return True


def gloo_built():
    return True


def nccl_built():
    return 0


def cluster_from_environment(port=8888):
    """({job: [address, ...]}, job, task) as TF_CONFIG or Slurm describe it, for tf.train.ClusterSpec; None without."""
    return _weir.cluster_from_environment(port)


class Compressor:
    """Makes a tensor smaller for the way, and large again."""

    @staticmethod
    def compress(tensor):
        raise NotImplementedError

    @staticmethod
    def decompress(tensor, ctx):
        raise NotImplementedError


class NoneCompressor(Compressor):
    @staticmethod
    def compress(tensor):
        return tensor, None

    @staticmethod
    def decompress(tensor, ctx):
        return tensor


class FP16Compressor(Compressor):
    """Half the digits."""

    @staticmethod
    def compress(tensor):
        dtype = tensor.dtype
        return (cast(tensor, "float16") if dtype.is_floating else tensor), dtype

    @staticmethod
    def decompress(tensor, ctx):
        return cast(tensor, ctx) if ctx.is_floating else tensor


class Compression:
    none = NoneCompressor
    fp16 = FP16Compressor


def _reduction(average, op):
    if average is not None and op is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op is not None:
        return op
    return Average if average is None or average else Sum


def allreduce(tensor, average=None, device_dense="", device_sparse="", compression=Compression.none, op=None, name=None,
              prescale_factor=1.0, postscale_factor=1.0):
    """The mean of the tensors of all processes, or their sum, minimum, maximum or product (``op``)."""
    reduction = _reduction(average, op)
    if not isinstance(tensor, IndexedSlices):
        tensor = convert_to_tensor(tensor)
        if prescale_factor != 1.0:
            tensor = tensor * prescale_factor
        tensor, context = compression.compress(tensor)
        tensor = compression.decompress(_weir.allreduce(get_default_graph(), tensor, reduction, name), context)
        return tensor if postscale_factor == 1.0 else tensor * postscale_factor
    if prescale_factor != 1.0 or postscale_factor != 1.0:
        raise NotImplementedError("sparse tensors are not multiplied on their way")
    return _weir.allreduce(get_default_graph(), tensor, reduction, name)


def grouped_allreduce(tensors, average=None, device_dense="", device_sparse="", compression=Compression.none, op=None):
    """``allreduce`` of each; they travel together anyway."""
    return [allreduce(tensor, average=average, compression=compression, op=op) for tensor in tensors]


def allgather(tensor, name=None):
    """The tensors of all processes, one behind the other along the first dimension, in which they may differ."""
    return _weir.allgather(get_default_graph(), convert_to_tensor(tensor), name)


def broadcast(tensor, root_rank, name=None):
    """The tensor of the process ``root_rank``."""
    return _weir.broadcast(get_default_graph(), convert_to_tensor(tensor), root_rank, name)


def broadcast_variables(variables, root_rank):
    """An operation that gives the variables the values which they have in the process ``root_rank``."""
    return _weir.broadcast_variables(get_default_graph(), list(variables), root_rank)


def broadcast_global_variables(root_rank):
    return broadcast_variables(global_variables(), root_rank)


class BroadcastGlobalVariablesHook(SessionRunHook):
    """Gives all processes the variables of ``root_rank`` when the session is made: initialised there, or restored."""

    def __init__(self, root_rank, device=""):
        self.root_rank, self.device, self.bcast_op = root_rank, device, None

    def begin(self):
        if self.bcast_op is None or self.bcast_op.graph != get_default_graph():
            with get_default_graph().device(self.device or None):
                self.bcast_op = broadcast_global_variables(self.root_rank)

    def after_create_session(self, session, coord):
        session.run(self.bcast_op)


class DistributedOptimizer(Optimizer):
    """An optimizer that averages the gradients of all processes before it applies them.

    Each gradient is on its way as soon as it is computed, while the backward pass goes on; small ones travel together.
    """

    def __init__(self, optimizer, name=None, use_locking=False, device_dense="", device_sparse="",
                 compression=Compression.none, sparse_as_dense=False, op=Average, backward_passes_per_step=1,
                 gradient_predivide_factor=1.0, average_aggregated_gradients=False):
        if backward_passes_per_step != 1:
            raise NotImplementedError("backward_passes_per_step must be 1")
        super().__init__(use_locking, name or f"Distributed{type(optimizer).__name__}")
        self._wrapped, self._compression, self._sparse_as_dense = optimizer, compression, sparse_as_dense
        self._op = op

    def compute_gradients(self, *args, **kwargs):
        gradients = self._wrapped.compute_gradients(*args, **kwargs)
        if size() == 1:
            return gradients
        with name_scope(self._name + "_Allreduce"):
            return [(self._reduced(gradient), variable) for gradient, variable in gradients]

    def _reduced(self, gradient):
        if gradient is None:
            return None
        if self._sparse_as_dense and isinstance(gradient, IndexedSlices):
            gradient = convert_to_tensor(gradient)
        return allreduce(gradient, compression=self._compression, op=self._op)

    def apply_gradients(self, *args, **kwargs):
        return self._wrapped.apply_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._wrapped.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._wrapped.get_slot_names(*args, **kwargs)

    def variables(self, *args, **kwargs):
        return self._wrapped.variables(*args, **kwargs)
