"""Experiment: an estimator with its inputs, and how it is trained and evaluated; learn_runner runs it."""

import collections
import os
import time

import weir as tf
from weir import logging
from weir.contrib.learn import monitors as _monitors
from weir.contrib.learn.estimators.interfaces import Evaluable, Trainable
from weir.estimator.estimator import Estimator as _CoreEstimator
from weir.estimator.exporters import _delete_old
from weir.estimator.functions import fn_args, wanted
from weir.estimator.run_config import RunConfig as _CoreRunConfig, TaskType

ExportStrategy = collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])
ExportStrategy.__new__.__defaults__ = (None,)


def _export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
    offered = {"checkpoint_path": checkpoint_path, "eval_result": eval_result,
               "strip_default_attrs": self.strip_default_attrs}
    return self.export_fn(estimator, export_path, **wanted(self.export_fn, offered))


ExportStrategy.export = _export


def make_export_strategy(serving_input_fn, default_output_alternative_key=None, assets_extra=None, as_text=False,
                         exports_to_keep=5, strip_default_attrs=None):
    """A strategy that exports SavedModels and deletes old ones."""
    def export_fn(estimator, export_dir_base, checkpoint_path=None, strip_default_attrs=False):
        if isinstance(estimator, _CoreEstimator):
            if default_output_alternative_key is not None:
                raise ValueError("default_output_alternative_key is not supported in core Estimator. Given: "
                                 f"{default_output_alternative_key}")
            result = estimator.export_savedmodel(export_dir_base, serving_input_fn, assets_extra=assets_extra,
                                                 as_text=as_text, checkpoint_path=checkpoint_path)
        else:
            result = estimator.export_savedmodel(
                export_dir_base, serving_input_fn, default_output_alternative_key=default_output_alternative_key,
                assets_extra=assets_extra, as_text=as_text, checkpoint_path=checkpoint_path)
        _delete_old(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


class Experiment:
    """An estimator, its inputs and how often it is evaluated."""

    def __init__(self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
                 export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False,
                 saving_listeners=None, check_interval_secs=5):
        if not isinstance(estimator, _CoreEstimator) and not (
                isinstance(estimator, Evaluable) and isinstance(estimator, Trainable)):
            raise ValueError("`estimator` must implement `Evaluable` and `Trainable`, or be a tf.estimator.Estimator.")
        self._is_core = isinstance(estimator, _CoreEstimator)
        if self._is_core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use the metrics of its "
                             "`EstimatorSpec` instead.")
        self._estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._eval_metrics, self._train_steps, self._eval_steps = eval_metrics, train_steps, eval_steps
        self._monitors, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._eval_delay_secs, self._throttle_secs = eval_delay_secs, continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._steps_per_iteration, self._saving_listeners = train_steps_per_iteration, list(saving_listeners or [])
        self._check_interval_secs = check_interval_secs
        self.reset_export_strategies(export_strategies)

    estimator = property(lambda self: self._estimator)
    eval_metrics = property(lambda self: self._eval_metrics)
    train_steps = property(lambda self: self._train_steps)
    eval_steps = property(lambda self: self._eval_steps)

    def extend_train_hooks(self, additional_hooks):
        self._monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies=None):
        if isinstance(new_export_strategies, ExportStrategy):
            new_export_strategies = [new_export_strategies]
        self._export_strategies = list(new_export_strategies or [])

    def train(self, delay_secs=None):
        """Trains; in a cluster, starts the task's server first."""
        config = self._estimator.config
        if config.cluster_spec and config.master and config.task_type != TaskType.PS:
            self._server()
        if delay_secs is None:
            delay_secs = min(60, (config.task_id or 0) * 5)  # so that the chief has made the variables
        if delay_secs > 0:
            time.sleep(delay_secs)
        return self._call_train(max_steps=self._train_steps, hooks=self._monitors)

    def evaluate(self, delay_secs=None, name=None):
        """Evaluates once."""
        if delay_secs is None:
            delay_secs = self._eval_delay_secs
        if delay_secs:
            logging.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._call_evaluate(name=name or "one_pass")

    def continuous_eval(self, delay_secs=None, throttle_delay_secs=None, evaluate_checkpoint_only_once=True,
                        continuous_eval_predicate_fn=None, name="continuous"):
        """Evaluates each new checkpoint, until training has come to its end."""
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        throttle = self._throttle_secs if throttle_delay_secs is None else throttle_delay_secs
        previous, result = None, None
        while True:
            if continuous_eval_predicate_fn is not None and not _agrees(continuous_eval_predicate_fn, result, previous):
                return
            if self._train_steps and result and result["global_step"] >= self._train_steps:
                return
            begin = time.time()
            path = tf.train.latest_checkpoint(self._estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == previous):
                result = self._call_evaluate(name=name, checkpoint_path=path)
                self._maybe_export(result, path)
                previous = path
            rest = throttle - (time.time() - begin)
            if rest > 0:
                time.sleep(rest)

    def continuous_eval_on_train_data(self, delay_secs=None, throttle_delay_secs=None,
                                      continuous_eval_predicate_fn=None, name="continuous_on_train_data"):
        original, self._eval_input_fn = self._eval_input_fn, self._train_input_fn
        try:
            return self.continuous_eval(delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn, name)
        finally:
            self._eval_input_fn = original

    def train_and_evaluate(self):
        """Trains with evaluations on the way, evaluates and exports at the end: (results, what was exported)"""
        hooks, listeners = list(self._monitors), list(self._saving_listeners)
        if self._min_eval_frequency:
            if self._is_core:
                listeners.append(_EvalListener(self))
            else:
                hooks.append(_monitors.ValidationMonitor(
                    input_fn=self._eval_input_fn, eval_steps=self._eval_steps, metrics=self._eval_metrics,
                    every_n_steps=self._min_eval_frequency, hooks=self._eval_hooks,
                    check_interval_secs=self._check_interval_secs))
        self._call_train(max_steps=self._train_steps, hooks=hooks, saving_listeners=listeners)
        result = self._call_evaluate(name=None)
        return result, self._maybe_export(result)

    local_run = train_and_evaluate

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains some steps and evaluates, in turn."""
        result = None
        steps = self._steps_per_iteration or (int(self._train_steps / 10) if self._train_steps else 1000)
        while continuous_eval_predicate_fn is None or _agrees(continuous_eval_predicate_fn, result, None):
            if self._train_steps and result and result["global_step"] >= self._train_steps:
                break
            self._call_train(steps=steps, hooks=self._monitors)
            result = self._call_evaluate(name=None)
            exports = self._maybe_export(result)
            if self._train_steps is None and continuous_eval_predicate_fn is None:
                break
        return result, exports

    def test(self):
        """One step of training and one of evaluation."""
        self._call_train(steps=1, hooks=self._monitors)
        result = self._call_evaluate(steps=1, name="one_pass")
        self._maybe_export(result)
        return result

    def run_std_server(self):
        self._server().join()

    def _server(self):
        """The server of this task."""
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or not config.master or config.task_id is None:
            raise ValueError("Could not start server; be sure to specify cluster_spec, task_type, master, and task in "
                             "RunConfig or set the TF_CONFIG environment variable.")
        return tf.train.Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id,
                               protocol=config.protocol)

    def _maybe_export(self, result, checkpoint_path=None):
        folder = os.path.join(self._estimator.model_dir, "export")
        return [strategy.export(self._estimator, os.path.join(folder, strategy.name), checkpoint_path=checkpoint_path,
                                eval_result=result) for strategy in self._export_strategies]

    def _call_train(self, steps=None, max_steps=None, hooks=None, saving_listeners=None):
        if self._is_core:
            return self._estimator.train(input_fn=self._train_input_fn, steps=steps, max_steps=max_steps,
                                         hooks=_monitors.replace_monitors_with_hooks(hooks, self._estimator),
                                         saving_listeners=saving_listeners)
        return self._estimator.fit(input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, monitors=hooks)

    def _call_evaluate(self, name=None, steps=None, checkpoint_path=None):
        options = {"input_fn": self._eval_input_fn, "steps": steps or self._eval_steps, "name": name,
                   "checkpoint_path": checkpoint_path, "hooks": self._eval_hooks}
        if self._is_core:
            return self._estimator.evaluate(**options)
        return self._estimator.evaluate(metrics=self._eval_metrics, **options)


class _EvalListener(tf.train.CheckpointSaverListener):
    """Evaluates what was saved, every so many steps."""

    def __init__(self, experiment):
        self._experiment, self._last = experiment, None

    def after_save(self, session, global_step_value):
        if self._last is None:  # the checkpoint before the first step
            self._last = global_step_value
        elif global_step_value - self._last >= self._experiment._min_eval_frequency:
            self._last = global_step_value
            self._experiment._call_evaluate(name=None)


def _agrees(predicate, result, path):
    offered = {"eval_results": result, "checkpoint_path": path}
    given = wanted(predicate, offered)
    return predicate(**given) if given else predicate(result)


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an experiment and runs the schedule that is asked for, or that fits the task."""
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "%s" is not callable.' % experiment_fn)
    if run_config is not None:
        if not isinstance(run_config, _CoreRunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        experiment = experiment_fn(**wanted(experiment_fn, {"run_config": run_config, "hparams": hparams})
                                   or {fn_args(experiment_fn)[0]: run_config})
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        experiment = experiment_fn(**{fn_args(experiment_fn)[0]: output_dir})
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    config = experiment.estimator.config
    schedule = schedule or _default_schedule(config)
    if not hasattr(experiment, schedule) or schedule.startswith("_"):
        valid = [name for name in dir(type(experiment)) if not name.startswith("_")
                 and callable(getattr(type(experiment), name))]
        raise ValueError(f"Schedule references non-existent task {schedule}; valid tasks: {', '.join(valid)}")
    task = getattr(experiment, schedule)
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def _default_schedule(config):
    """What a task does when nobody says it."""
    jobs = config.cluster_spec.as_dict() if config and config.cluster_spec else {}
    if sum(map(len, jobs.values())) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    schedules = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train",
                 TaskType.CHIEF: "train" if config.num_worker_replicas > 1 else "train_and_evaluate",
                 TaskType.EVALUATOR: "continuous_eval"}
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]


def tune(experiment_fn, tuner):
    """Runs experiments with the hyperparameters that a tuner gives."""
    while tuner.next_trial():
        tuner.run_experiment(experiment_fn)
