"""Elastic averaging (Zhang, Choromanska and LeCun, 2015): workers train by themselves, drawn towards common variables that
follow them."""

from weir.contrib.opt.local_variables import (_GLOBAL_VARIABLE_NAME, _LOCAL_VARIABLE_NAME, _LocalStepsOptimizer,
                                              _LocalVariables)
from weir.core import dtypes
from weir.core.graph import (GraphKeys, add_to_collection, colocate_with, control_dependencies, convert_to_tensor, device,
                             get_collection, get_collection_ref)
from weir.core.variables import (global_variables, global_variables_initializer, local_variables_initializer,
                                 trainable_variables)
from weir.ops.control_flow_ops import group, no_op
from weir.ops.math_ops import add_n
from weir.ops.nn_ops import l2_loss
from weir.ops.state_ops import assign, assign_add, assign_sub
from weir.queues.queues import FIFOQueue
from weir.train.optimizer import Optimizer
from weir.train.saver import Saver
from weir.train.session_run_hook import SessionRunHook


class ElasticAverageCustomGetter(_LocalVariables):
    """For ``tf.variable_scope("", custom_getter=...)``: variables of the worker, the common ones on the servers, and what
    the worker last saw of them."""

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._local_map, self._global_map = {}, {}

    def _make_common(self, getter, name, local, args, kwargs):
        if kwargs.get("reuse"):
            return
        common = getter(f"{_GLOBAL_VARIABLE_NAME}/{name}", *args, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                        **kwargs)
        with device(self._worker_device):
            seen = getter(f"{_LOCAL_VARIABLE_NAME}/{name}", *args, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                          **kwargs)
        parts = [(local, seen, common)] if kwargs.get("partitioner") is None else zip(local, seen, common)
        for part, part_seen, part_common in parts:
            self._local_map[part], self._global_map[part] = part_seen, part_common


class ElasticAverageOptimizer(_LocalStepsOptimizer):
    BETA = 0.9

    def __init__(self, opt, num_worker, ea_custom_getter, communication_period=10, moving_rate=None, rho=None,
                 use_locking=True, synchronous=False, name="ElasticAverageOptimizer"):
        super().__init__(opt, communication_period, use_locking, name)
        self._num_worker, self._synchronous = num_worker, synchronous
        self._local_map, self._global_map = ea_custom_getter._local_map, ea_custom_getter._global_map
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho

    def compute_gradients(self, loss, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """Those of the loss and of the distance from the common variables."""
        var_list = var_list or trainable_variables()
        distance = add_n([l2_loss(variable - self._local_map[variable]) for variable in var_list])
        return self._opt.compute_gradients(loss + self._rho * distance, var_list, gate_gradients, aggregation_method,
                                           colocate_gradients_with_ops, grad_loss)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        before = {variable.op.name for variable in global_variables()}
        updates = self._opt.apply_gradients(pairs)
        self._take_slots({variable.op.name for variable in global_variables()} - before)
        with control_dependencies([updates]):
            counted = assign_add(self._local_step, 1, name="local_step_update").op
        variables = [variable for gradient, variable in pairs if gradient is not None]
        with control_dependencies([counted]):
            return self._at_every_period(lambda: self._meet(variables, global_step))

    @staticmethod
    def _take_slots(names):
        """The slots of a worker's variables are the worker's own as well."""
        everybody = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        for variable in [v for v in get_collection(GraphKeys.GLOBAL_VARIABLES) if v.op.name in names]:
            add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
            everybody.remove(variable)

    def _meet(self, variables, global_step):
        looks = [self._local_map[v].assign(self._global_map[v]).op for v in variables]
        updates = []
        with control_dependencies(looks):
            for variable in variables:
                with device(variable.device):
                    pull = self._moving_rate * (variable.read_value() - self._local_map[variable].read_value())
                # Both move by the same distance, each towards the other.
                with device(variable.device):
                    updates.append(assign_sub(variable, pull).op)
                common = self._global_map[variable]
                with device(common.device):
                    updates.append(assign_add(common, pull).op)
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1).op)
        return group(*updates)

    def get_init_op(self, task_index):
        """All workers begin with the common variables; synchronous ones when all have come."""
        variables = trainable_variables()
        if not variables or not self._global_map:
            raise ValueError("The lists of local_variables, global_center_variables, local_center_variables should not be "
                             "empty")
        init = group(*[assign(target, self._global_map[v]).op for v in variables for target in (v, self._local_map[v])])
        if not self._synchronous:
            return init
        queues = [FIFOQueue(self._num_worker, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}")
                  for i in range(self._num_worker)]
        with control_dependencies([init]):
            token = convert_to_tensor(False)
            ops = [no_op() if i == task_index else queue.enqueue(token) for i, queue in enumerate(queues)]
        ops.append(queues[task_index].dequeue_many(self._num_worker - 1))
        return group(*ops)

    def make_session_run_hook(self, is_chief, task_index):
        return _ElasticAverageOptimizerHook(self, is_chief, task_index)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """Saves the common variables under the names of the trained ones."""
        if not self._global_map:
            raise RuntimeError("global_center_variable is empty, please make sure this is called after model created and "
                               "ElasticAverageCustomGetter is used when declaring you model")
        var_list = trainable_variables() if var_list is None else var_list
        if not isinstance(var_list, dict):
            var_list = {variable.op.name: variable for variable in var_list}
        return Saver({key: self._global_map.get(variable, variable) for key, variable in var_list.items()}, name=name,
                     **kwargs)


class _ElasticAverageOptimizerHook(SessionRunHook):
    def __init__(self, ea_optimizer, is_chief, task_index):
        self._ea_optimizer, self._is_chief, self._task_index = ea_optimizer, is_chief, task_index

    def begin(self):
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._ea_optimizer.get_init_op(self._task_index)

    def after_create_session(self, session, coord):
        session.run(self._variable_init_op)
