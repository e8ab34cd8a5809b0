"""train_and_evaluate: the roles that a task may have in training a model, alone or in a cluster."""

import collections
import json
import os
import time

import weir as tf
from weir import logging
from weir.estimator.estimator import Estimator
from weir.estimator.exporters import Exporter
from weir.estimator.run_config import TaskType
from weir.train.basic_session_run_hooks import CheckpointSaverListener, SecondOrStepTimer


def _checked_input_fn(input_fn):
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _checked_exporters(exporters):
    if not exporters:
        return ()
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    try:
        exporters = tuple(exporters)
    except TypeError:
        exporters = (exporters,)
    if not all(isinstance(exporter, Exporter) for exporter in exporters):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    found = [exporter.name for exporter in exporters]
    for name in found:
        if not name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {found}")
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if found.count(name) > 1:
            raise ValueError("`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                             f"{found}")
    return exporters


class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """How a model is trained."""

    def __new__(cls, input_fn, max_steps=None, hooks=None):
        _checked_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn=input_fn, max_steps=max_steps, hooks=_checked_hooks(hooks))


class EvalSpec(collections.namedtuple("EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters",
                                                   "start_delay_secs", "throttle_secs"])):
    """How it is evaluated and exported."""

    def __new__(cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120,
                throttle_secs=600):
        _checked_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(cls, input_fn=input_fn, steps=steps, name=name, hooks=_checked_hooks(hooks),
                               exporters=_checked_exporters(exporters), start_delay_secs=start_delay_secs,
                               throttle_secs=throttle_secs)


def _check_eval_spec(eval_spec):
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains, and evaluates after every checkpoint; in a cluster, does what the task of TF_CONFIG has to do."""
    _check_eval_spec(eval_spec)
    executor = _TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError("For distributed training, there can only be one `evaluator` task (with task id 0).  Given "
                         f"task id {config.task_id}")
    return executor.run()


class _StopAtSecsHook(tf.train.SessionRunHook):
    """Ends a session after some seconds."""

    def __init__(self, stop_after_secs):
        self._stop_after_secs, self._begin = stop_after_secs, None

    def begin(self):
        self._begin = time.time()

    def after_run(self, run_context, run_values):
        if time.time() - self._begin >= self._stop_after_secs:
            run_context.request_stop()


class _ContinuousEvalListener:
    """Says before and after each evaluation whether to go on."""

    def before_eval(self):
        return True

    def after_eval(self, eval_result):
        return True


class _EvaluateNewCheckpoints(CheckpointSaverListener):
    """Evaluates what a hook has saved, but not more often than wanted. The listener may end the training."""

    def __init__(self, evaluator, throttle_secs, listener=None):
        self._evaluator, self._throttle_secs = evaluator, throttle_secs
        self._listener = listener or _ContinuousEvalListener()
        self.eval_result = self.export_results = None

    def begin(self):
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session, global_step_value):
        if self._is_first_run:  # the checkpoint before the first step
            self._is_first_run = False
            return None
        if not self._listener.before_eval():
            return True
        if self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
            return None if self._listener.after_eval(self.eval_result) else True
        logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)
        return None

    def end(self, session, global_step_value):
        if global_step_value != self._timer.last_triggered_step() and self._listener.before_eval():
            self._evaluate(global_step_value)
            self._listener.after_eval(self.eval_result)

    def _evaluate(self, step):
        self._timer.update_last_triggered_step(step)
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != _EVALUATED:
            raise RuntimeError("There was no new checkpoint after the training. Eval status: "
                               f"{self.eval_result.status}")


_EVALUATED, _MISSING, _NO_NEW = "evaluated", "missing checkpoint", "no new checkpoint"


class _EvalResult(collections.namedtuple("EvalResult", ["status", "metrics", "checkpoint_path"])):
    def __new__(cls, status, metrics=None, checkpoint_path=None):
        if status == _EVALUATED:
            if not metrics:
                raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
            if not isinstance(metrics, dict):
                raise TypeError(f"`Estimator.evaluate` should return dict. Given {type(metrics)}.")
            if tf.GraphKeys.GLOBAL_STEP not in metrics:
                raise ValueError("Internal error: `Estimator.evaluate` result should have `global_step` in result. "
                                 f"Given {metrics}")
        return super().__new__(cls, status, metrics, checkpoint_path)


class _TrainingExecutor:
    """What each kind of task does."""

    def __init__(self, estimator, train_spec, eval_spec, train_hooks=None, continuous_eval_listener=None):
        for name, value, kind in (("estimator", estimator, Estimator), ("train_spec", train_spec, TrainSpec)):
            if not isinstance(value, kind):
                raise TypeError(f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}")
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError("`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: "
                            f"{type(eval_spec)}")
        self._estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._train_hooks = _checked_hooks(train_hooks)
        if continuous_eval_listener and not isinstance(continuous_eval_listener, _ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._eval_listener = continuous_eval_listener or _ContinuousEvalListener()

    estimator = property(lambda self: self._estimator)

    def run(self):
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError("`estimator.config` must have task_type set. This usually means TF_CONFIG environment is "
                             "not set correctly.")
        if config.task_type == "local":
            raise ValueError("`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` properties in "
                             "TF_CONFIG absent triggers train and evaluate `Estimator` locally (non-distributed).")
        roles = {name[len("run_"):]: getattr(self, name) for name in dir(self)
                 if name.startswith("run_") and name != "run_local"}
        if config.task_type not in roles:
            raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {list(roles)}")
        return roles[config.task_type]()

    def run_chief(self):
        return self._train_in_cluster()

    run_worker = run_chief

    def run_master(self):
        return self._train_in_cluster([self._listener()])

    def run_evaluator(self):
        return self._evaluate_continuously()

    def run_ps(self):
        self._start_server().join()

    def run_local(self):
        listener = self._listener()
        self._estimator.train(input_fn=self._train_spec.input_fn, max_steps=self._train_spec.max_steps,
                              hooks=[*self._train_spec.hooks, *self._train_hooks], saving_listeners=[listener])
        result = listener.eval_result or _EvalResult(_MISSING)
        return result.metrics, listener.export_results

    def _listener(self):
        _check_eval_spec(self._eval_spec)
        evaluator = _Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)
        return _EvaluateNewCheckpoints(evaluator, self._eval_spec.throttle_secs, self._eval_listener)

    def _start_server(self):
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError("Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig "
                               "or set the TF_CONFIG environment variable.")
        if not config.master:
            jobs = config.cluster_spec.jobs
            if len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1 and config.task_type != TaskType.PS:
                return None  # alone in its cluster
            raise RuntimeError("Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
                               "environment variable.")
        session_config = tf.ConfigProto(log_device_placement=False)
        if config.session_config is not None:
            session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
        server = tf.train.Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
                                 config=session_config, start=False, protocol=config.protocol)
        server.start()
        return server

    def _train_in_cluster(self, saving_listeners=None):
        config = self._estimator.config
        strategy = self._estimator._train_distribution
        together = strategy is not None and not strategy._needs_server
        if json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") != "google" and not together:
            self._start_server()
        if config.task_type == TaskType.WORKER and not together:
            longest = config.experimental_max_worker_delay_secs
            delay = min(60 if longest is None else int(longest), (config.task_id + 1) * 5)
            if delay > 0:
                logging.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        self._estimator.train(input_fn=self._train_spec.input_fn, max_steps=self._train_spec.max_steps,
                              hooks=[*self._train_spec.hooks, *self._train_hooks], saving_listeners=saving_listeners)

    def _evaluate_continuously(self):
        spec = self._eval_spec
        _check_eval_spec(spec)
        if spec.start_delay_secs:
            logging.info("Waiting %f secs before starting eval.", spec.start_delay_secs)
            time.sleep(spec.start_delay_secs)
        evaluator, result = _Evaluator(self._estimator, spec, self._train_spec.max_steps), None
        while not (result and result.status == _EVALUATED and self._train_spec.max_steps
                   and result.metrics[tf.GraphKeys.GLOBAL_STEP] >= self._train_spec.max_steps):
            begin = time.time()
            if not self._eval_listener.before_eval():
                return
            result, _ = evaluator.evaluate_and_export()
            if not self._eval_listener.after_eval(result):
                return
            rest = spec.throttle_secs - (time.time() - begin)
            if rest > 0:
                time.sleep(rest)


class _Evaluator:
    """Evaluates the newest checkpoint, once, and exports it."""

    def __init__(self, estimator, eval_spec, max_training_steps):
        self._estimator, self._spec, self._max_steps = estimator, eval_spec, max_training_steps
        self._previous, self._warned = None, 0.0

    def evaluate_and_export(self):
        """(result, [what each exporter gave])"""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return _EvalResult(_MISSING), []
        if path == self._previous:
            self._warn("No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results "
                       "are expected to be same for the same checkpoint.")
            return _EvalResult(_NO_NEW), []
        metrics = self._estimator.evaluate(input_fn=self._spec.input_fn, steps=self._spec.steps, name=self._spec.name,
                                           checkpoint_path=path, hooks=self._spec.hooks)
        result = _EvalResult(_EVALUATED, metrics, path)
        final = bool(self._max_steps) and metrics[tf.GraphKeys.GLOBAL_STEP] >= self._max_steps
        folder = os.path.join(tf.compat.as_str_any(self._estimator.model_dir), "export")
        exports = [exporter.export(estimator=self._estimator, export_path=os.path.join(folder, exporter.name),
                                   checkpoint_path=path, eval_result=metrics, is_the_final_export=final)
                   for exporter in self._spec.exporters]
        self._previous = path
        return result, exports

    def _warn(self, message):
        if time.time() - self._warned > 600:
            logging.warning("%s", message)
            self._warned = time.time()
