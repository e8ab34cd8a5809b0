"""Model averaging: workers train by themselves, and every so many steps all continue from the mean of their models."""

from weir.contrib.opt.local_variables import _GLOBAL_VARIABLE_NAME, _LocalStepsOptimizer, _LocalVariables
from weir.core import dtypes
from weir.core.graph import GraphKeys, colocate_with, control_dependencies, convert_to_tensor, device, name_scope
from weir.core.variables import Variable, global_variables_initializer, local_variables_initializer, trainable_variables
from weir.ops import array_ops
from weir.ops.control_flow_ops import group
from weir.ops.state_ops import assign, assign_add
from weir.queues.accumulators import ConditionalAccumulator
from weir.queues.queues import FIFOQueue
from weir.train.session_run_hook import SessionRunHook


class ModelAverageCustomGetter(_LocalVariables):
    """For ``tf.variable_scope("", custom_getter=...)``: variables of the worker, and the common ones on the servers."""

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._local_2_global = {}

    def _make_common(self, getter, name, local, args, kwargs):
        self._local_2_global[local] = Variable(
            name=f"{_GLOBAL_VARIABLE_NAME}/{name}", initial_value=local.initialized_value(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES])


class ModelAverageOptimizer(_LocalStepsOptimizer):
    def __init__(self, opt, num_worker, is_chief, ma_custom_getter, interval_steps=100, use_locking=True,
                 name="ModelAverageOptimizer"):
        super().__init__(opt, interval_steps, use_locking, name)
        self._num_worker, self._is_chief = num_worker, is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._accumulator_list = []
        self._chief_init_op = None

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def _local_vars_update(self, var_list):
        if not var_list:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for local in var_list:
            with device(local.device):
                updates.append(assign(local, self._local_2_global[local].read_value()).op)
        return group(*updates)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        with control_dependencies([self._opt.apply_gradients(pairs)]):
            counted = assign_add(self._local_step, 1, name="local_step_update").op
        local_vars = [variable for gradient, variable in pairs if gradient is not None]
        # Handles of what outlives the step stand outside of the branch: names in it are the graph's as well.
        with colocate_with(global_step):
            self._sync_queue = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        with name_scope(None, self._name + "/global"):
            for local in local_vars:
                common = self._local_2_global[local]
                with device(common.device):
                    self._accumulator_list.append((ConditionalAccumulator(
                        local.dtype.base_dtype, shape=local.get_shape(), shared_name=common.name + "/var_accum"), common))
        with control_dependencies([counted]):
            update = self._at_every_period(lambda: self._average(local_vars, global_step))
        resets = []
        for accumulator, common in self._accumulator_list:
            with device(common.device):
                resets.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = group(*resets)
        return update

    def _average(self, local_vars, global_step):
        """Every worker gives its model; the chief takes the mean and tells the others, who wait for it."""
        given, means = [], []
        for local, (accumulator, common) in zip(local_vars, self._accumulator_list):
            with device(common.device):
                given.append(accumulator.apply_grad(local.read_value(), local_step=global_step))
                if self._is_chief:
                    means.append((accumulator, common))
        with control_dependencies(given), device(global_step.device):
            if self._is_chief:
                updates = []
                for accumulator, common in means:
                    with device(common.device):
                        updates.append(assign(common, accumulator.take_grad(self._num_worker)).op)
                updates.append(assign_add(global_step, 1).op)
                with control_dependencies(updates):
                    tokens = array_ops.fill([self._num_worker - 1], convert_to_tensor(False))
                    met = self._sync_queue.enqueue_many(tokens)
            else:
                met = self._sync_queue.dequeue().op
        with control_dependencies([met]):
            return self._local_vars_update(local_vars)

    def get_init_op(self):
        """All workers begin with the common variables."""
        return self._local_vars_update(trainable_variables())

    def make_session_run_hook(self):
        return _ModelAverageOptimizerHook(self, self._is_chief)


class _ModelAverageOptimizerHook(SessionRunHook):
    def __init__(self, ma_optimizer, is_chief):
        self._ma_optimizer, self._is_chief = ma_optimizer, is_chief

    def begin(self):
        self._local_init_op = local_variables_initializer()
        self._global_init_op = self._chief_init_op = None
        if self._is_chief:
            self._global_init_op = global_variables_initializer()
            self._chief_init_op = self._ma_optimizer._chief_init_op
        self._variable_init_op = self._ma_optimizer.get_init_op()
