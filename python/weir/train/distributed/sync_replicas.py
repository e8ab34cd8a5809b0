"""tf.train.SyncReplicasOptimizer: synchronous training with parameter servers. The graph is C++'s (train::SyncReplicas)."""

from weir import _weir, errors
from weir import logging as _logging
from weir.core.stack import get_default_graph
from weir.core.variables import Variable, global_variables, report_uninitialized_variables
from weir.queues.queues import QueueBase
from weir.train import session_manager
from weir.train.queue_runner import QueueRunner
from weir.train.session_run_hook import SessionRunHook
from weir.train.wrapped_optimizer import WrappedOptimizer


class SyncReplicasOptimizer(WrappedOptimizer):
    """Averages the gradients of ``replicas_to_aggregate`` workers, and applies them once.

    Each worker runs ``minimize()``'s operation, which gives its gradients and waits for a token. The chief runs, by the queue
    runner of ``get_chief_queue_runner``, what applies the means and gives out tokens; ``make_session_run_hook`` does all
    of that. Gradients for an earlier step are dropped; with more workers than ``replicas_to_aggregate`` the slowest are
    backups."""

    def __init__(self, opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None,
                 variables_to_average=None, use_locking=False, name="sync_replicas"):
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        _logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate,
                      total_num_replicas)
        self._opt = opt
        self._replicas_to_aggregate, self._total_num_replicas = int(replicas_to_aggregate), int(total_num_replicas)
        self._tokens_per_step = max(self._total_num_replicas, self._replicas_to_aggregate)
        self._variable_averages, self._variables_to_average = variable_averages, variables_to_average
        self._gradients_applied = False
        self._global_step = self._nodes = self._chief_queue_runner = None
        self.local_step_init_op = self.chief_init_op = self.ready_for_local_init_op = None

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        if not isinstance(global_step, Variable):
            raise TypeError("global_step must be a tf.Variable")
        self._global_step = global_step
        averages = self._variable_averages
        self._nodes = _weir.sync_replicas(
            get_default_graph(), pairs, global_step, self._replicas_to_aggregate, self._total_num_replicas, self._name,
            lambda means: self._opt.apply_gradients(means, global_step),
            None if averages is None else lambda: averages.apply(self._variables_to_average))
        self.local_step_init_op, self.chief_init_op = self._nodes["local_step_init"], self._nodes["chief_init"]
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        self._chief_queue_runner = QueueRunner(_queue(self._nodes["runner_queue"], "int32"), [self._nodes["sync"]])
        self._gradients_applied = True
        return self._nodes["train"]

    @property
    def _local_step(self):
        return self._nodes["local_step"]

    @property
    def _sync_token_queue(self):
        return _queue(self._nodes["token_queue"], self._global_step.dtype.base_dtype)

    def get_chief_queue_runner(self):
        """What the chief must start: it applies gradients and gives out tokens."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens=-1):
        """What the chief runs first: tokens for the first step."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens != -1 and num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        return self._give_tokens(num_tokens, self._replicas_to_aggregate)

    def _give_tokens(self, count, required):
        return _weir.sync_init_tokens(get_default_graph(), self._nodes["token_queue"], self._global_step, required,
                                      self._total_num_replicas, count)

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """A hook that initialises and, in the chief, starts the queue runner."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


def _queue(handle, dtype):
    return QueueBase([dtype], [[]], None, handle)


class _SyncReplicasOptimizerHook(SessionRunHook):
    def __init__(self, sync_optimizer, is_chief, num_tokens):
        self._sync_optimizer, self._is_chief, self._num_tokens = sync_optimizer, is_chief, num_tokens

    def begin(self):
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._ready_for_local_init_op = optimizer.ready_for_local_init_op
        self._local_init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._q_runner = optimizer.get_chief_queue_runner() if self._is_chief else None
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None
        self._leave_op = optimizer._give_tokens(optimizer._total_num_replicas if self._is_chief else 1, 0)
        self._has_run = False

    def after_create_session(self, session, coord):
        ready, message = session_manager._ready(self._ready_for_local_init_op, session,
                                                "Model is not ready for SyncReplicasOptimizer local init.")
        if not ready:
            raise RuntimeError("Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: "
                               f"{self._local_init_op.name}, error: {message}")
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)

    def after_run(self, run_context, run_values):
        self._has_run = True

    def end(self, session):
        # Those who stay would wait for the token that this worker took and, without the chief, for ever.
        if not self._has_run:
            return
        try:
            session.run(self._leave_op)
        except errors.OpError as error:
            _logging.info("The other workers are not told that this one ends: %s", error)
