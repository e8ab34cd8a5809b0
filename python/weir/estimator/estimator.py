"""tf.estimator.Estimator: a model function, trained, evaluated, asked and exported, with its checkpoints in a folder."""

import atexit
import collections
import copy
import os
import tempfile
import weakref

import weir as tf
from weir import logging
from weir.contrib.training import evaluation
from weir.estimator import export, export_output, model_fn as _model_fn, run_config
from weir.estimator.functions import wanted, fn_args
from weir.estimator.model_fn import EstimatorSpec, ModeKeys
from weir.estimator.results import write_checkpoint_path, write_results
from weir.estimator.util import parse_input_fn_result, parse_iterator_result
from weir.train.steps import _get_or_create_global_step_read

# Predictions that nobody has read to their end. They are closed while the modules that they need are still there.
_unfinished = weakref.WeakSet()


@atexit.register
def _close_unfinished():
    for results in list(_unfinished):
        results.close()


_OVERRIDABLE = {"model_fn", "_create_and_assert_global_step", "_export_all_saved_models"}


class WarmStartSettings(collections.namedtuple("WarmStartSettings", [
        "ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info", "var_name_to_prev_var_name"])):
    """Which variables begin with values of another model's checkpoint."""

    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
                var_name_to_prev_var_name=None):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


class Estimator:
    """A model: ``model_fn(features, labels, mode, params, config)`` gives its EstimatorSpec in each mode."""

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        self._check_overrides()
        self._config = config = _with_model_dir(config, model_dir)
        self._train_distribution, self._eval_distribution = config.train_distribute, config.eval_distribute
        self._model_dir, self._session_config = config.model_dir, config.session_config
        logging.info("Using config: %s", vars(config))
        self._device_fn = config.device_fn or _device_setter(config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        _model_fn.verify_model_fn_args(model_fn, params)
        self._model_fn, self._params = model_fn, copy.deepcopy(params or {})
        self._warm_start_settings = _warm_start_settings(warm_start_from)

    model_dir = property(lambda self: self._model_dir)
    config = property(lambda self: copy.deepcopy(self._config))
    params = property(lambda self: copy.deepcopy(self._params))

    @property
    def model_fn(self):
        """The model function with all arguments that estimators may give."""
        def public_model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def _check_overrides(self):
        if type(self).__name__ == "TPUEstimator" or not _is_checked(type(self)):
            return
        members = {name for name in dir(Estimator) if not name.startswith("__")}
        own = [name for name in set(vars(type(self))) & members - _OVERRIDABLE
               if getattr(Estimator, name) != getattr(type(self), name)]
        if own:
            raise ValueError("Subclasses of Estimator cannot override members of Estimator. "
                             f"{type(self)} does override {own}")

    # What was trained.

    def get_variable_value(self, name):
        _checkpoint_of(self.model_dir)
        return tf.train.load_variable(self.model_dir, name)

    def get_variable_names(self):
        _checkpoint_of(self.model_dir)
        return [name for name, _ in tf.train.list_variables(self.model_dir)]

    def latest_checkpoint(self):
        return tf.train.latest_checkpoint(self.model_dir)

    def eval_dir(self, name=None):
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    # Training.

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains ``steps`` further steps, or until the global step is ``max_steps``, or to the end of the input."""
        if self.config.task_type in (run_config.TaskType.EVALUATOR, run_config.TaskType.PS):
            raise ValueError("Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate "
                             "which calls proper API according to given configuration. Current configuration: "
                             f"{self.config}.")
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, count in (("steps", steps), ("max_steps", max_steps)):
            if count is not None and count <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {count}")
        if max_steps is not None and max_steps <= _step_of_checkpoint(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = _checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            hooks.append(tf.train.StopAtStepHook(steps, max_steps))
        for listener in saving_listeners or ():
            if not isinstance(listener, tf.train.CheckpointSaverListener):
                raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
        loss = self._train_model(input_fn, hooks, list(saving_listeners or ()))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn, hooks, saving_listeners):
        if self._train_distribution:
            return self._train_model_distributed(input_fn, hooks, saving_listeners)
        return self._train_model_default(input_fn, hooks, saving_listeners)

    def _train_model_default(self, input_fn, hooks, saving_listeners):
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            if self._create_and_assert_global_step(graph) is not None:
                _get_or_create_global_step_read(graph)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return self._train_with_estimator_spec(spec, list(input_hooks), hooks, tf.train.get_global_step(graph),
                                                   saving_listeners)

    def _train_model_distributed(self, input_fn, hooks, saving_listeners):
        """Every replica calls the model function with elements of its own; the strategy joins what they give."""
        strategy = self._train_distribution
        with tf.Graph().as_default() as graph, graph.device(strategy._device_fn(self._device_fn)), strategy.scope():
            tf.set_random_seed(self._config.tf_random_seed)
            iterator, input_hooks = strategy._iterator_of(lambda context: self._call_input_fn(
                input_fn, ModeKeys.TRAIN, context))
            step = self._create_and_assert_global_step(graph)
            _get_or_create_global_step_read(graph)

            def replica():
                features, labels = parse_iterator_result(iterator.get_next())
                return self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)

            with strategy._scaled_losses():
                specs = strategy._replicas(replica)
            loss = strategy.reduce(strategy._loss_reduction(), [spec.loss for spec in specs])
            first = specs[0]
            spec = EstimatorSpec(
                mode=ModeKeys.TRAIN, loss=loss, train_op=tf.group(*(spec.train_op for spec in specs)),
                training_hooks=first.training_hooks, training_chief_hooks=first.training_chief_hooks,
                scaffold=first.scaffold)
            return self._train_with_estimator_spec(spec, list(input_hooks), hooks, step, saving_listeners)

    def _train_with_estimator_spec(self, spec, worker_hooks, hooks, global_step_tensor, saving_listeners):
        config = self._config
        if self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            tf.train.warm_start(*self._warm_start_settings)
        if not any(summary.op.name == "loss" for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)):
            tf.summary.scalar("loss", spec.loss)
        tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
        worker_hooks.extend(hooks)
        worker_hooks.append(tf.train.NanTensorHook(spec.loss))
        if config.log_step_count_steps is not None:
            worker_hooks.append(tf.train.LoggingTensorHook({"loss": spec.loss, "step": global_step_tensor},
                                                           every_n_iter=config.log_step_count_steps))
        worker_hooks.extend(spec.training_hooks)
        if not (spec.scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS)):
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(
                sharded=True, max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours, defer_build=True,
                save_relative_paths=True))
        chief_hooks = self._saver_hooks(spec, worker_hooks, saving_listeners)
        summary_steps, count_steps = config.save_summary_steps, config.log_step_count_steps
        jobs = config.cluster_spec.jobs if config.cluster_spec else ()
        if run_config.TaskType.WORKER in jobs and run_config.TaskType.MASTER in jobs:
            # The master evaluates between steps, so the first worker writes summaries and counts steps.
            summary_steps, count_steps = 0, None
            if config.task_type == run_config.TaskType.WORKER and config.task_id == 0:
                if config.save_summary_steps:
                    worker_hooks.append(tf.train.SummarySaverHook(save_steps=config.save_summary_steps,
                                                                  output_dir=config.model_dir, scaffold=spec.scaffold))
                if config.log_step_count_steps:
                    worker_hooks.append(tf.train.StepCounterHook(every_n_steps=config.log_step_count_steps,
                                                                 output_dir=config.model_dir))
        master, is_chief, folder = config.master, config.is_chief, self._model_dir
        if self._train_distribution:
            master, is_chief, folder, more_hooks = self._train_distribution._session_of(config, self._model_dir)
            worker_hooks.extend(more_hooks)
        chief_hooks = (*chief_hooks, *spec.training_chief_hooks) if folder else ()
        with tf.train.MonitoredTrainingSession(
                master=master, is_chief=is_chief, checkpoint_dir=folder, scaffold=spec.scaffold,
                hooks=worker_hooks, chief_only_hooks=chief_hooks,
                save_checkpoint_secs=0, save_summaries_steps=summary_steps, config=self._session_config,
                max_wait_secs=config.session_creation_timeout_secs, log_step_count_steps=count_steps) as session:
            loss, any_step_done = None, False
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
                any_step_done = True
        if not any_step_done:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _saver_hooks(self, spec, worker_hooks, saving_listeners):
        """The hook that saves, unless the program has one; it gets the listeners."""
        config, chief_hooks = self._config, []
        savers = [hook for hook in (*worker_hooks, *spec.training_chief_hooks)
                  if isinstance(hook, tf.train.CheckpointSaverHook)]
        if (config.save_checkpoints_secs or config.save_checkpoints_steps) and not savers:
            savers = chief_hooks = [tf.train.CheckpointSaverHook(
                self._model_dir, save_secs=config.save_checkpoints_secs, save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold)]
        if saving_listeners and not savers:
            raise ValueError("There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                             "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.")
        for listener in saving_listeners:
            if listener not in savers[0]._listeners:
                savers[0]._listeners.append(listener)
        return chief_hooks

    # Evaluation.

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """The metrics of a checkpoint, the newest if none is named, over ``steps`` batches or all of the input."""
        hooks = _checked_hooks(hooks)
        if steps is not None:
            if steps <= 0:
                raise ValueError(f"Must specify steps > 0, given: {steps}")
            hooks.append(evaluation.StopAfterNEvalsHook(steps))
        if not checkpoint_path:
            checkpoint_path = tf.train.latest_checkpoint(self._model_dir)
            if not checkpoint_path:
                logging.info("Could not find trained model in model_dir: %s, running initialization to evaluate.",
                             self._model_dir)
        with tf.Graph().as_default():
            scaffold, update_op, eval_dict, all_hooks = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, scaffold, update_op, eval_dict, all_hooks, self.eval_dir(name))

    def _evaluate_build_graph(self, input_fn, hooks=None, checkpoint_path=None):
        tf.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(tf.get_default_graph())
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.EVAL)
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        metrics = spec.eval_metric_ops
        if _model_fn._LOSS_METRIC_KEY in metrics:
            raise ValueError('Metric with name "loss" is not allowed, because Estimator already defines a default metric '
                             "with the same name.")
        metrics[_model_fn._LOSS_METRIC_KEY] = tf.metrics.mean(spec.loss)
        update_op, eval_dict = _update_and_values(metrics)
        self._maybe_warm_start(checkpoint_path)
        if tf.GraphKeys.GLOBAL_STEP in eval_dict:
            raise ValueError("Metric with name `global_step` is not allowed, because Estimator already defines a default "
                             "metric with the same name.")
        eval_dict[tf.GraphKeys.GLOBAL_STEP] = tf.train.get_global_step()
        scaffold = spec.scaffold
        if scaffold and scaffold.local_init_op is not None:
            # The step counter of evaluations must be there before its initialisation joins the program's.
            evaluation.get_or_create_eval_step()
            scaffold = tf.train.Scaffold(local_init_op=tf.group(scaffold.local_init_op,
                                                                tf.train.Scaffold.default_local_init_op()),
                                         copy_from_scaffold=scaffold)
        return scaffold, update_op, eval_dict, [*input_hooks, *(hooks or ()), *spec.evaluation_hooks]

    def _evaluate_run(self, checkpoint_path, scaffold, update_op, eval_dict, all_hooks, output_dir):
        results = evaluation.evaluate_once(checkpoint_path=checkpoint_path, master=self._config.evaluation_master,
                                           scaffold=scaffold, eval_ops=update_op, final_ops=eval_dict, hooks=all_hooks,
                                           config=self._session_config)
        step = results[tf.GraphKeys.GLOBAL_STEP]
        write_results(output_dir, results, step)
        if checkpoint_path:
            write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

    def _maybe_warm_start(self, checkpoint_path):
        if not checkpoint_path and self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            tf.train.warm_start(*self._warm_start_settings)

    # Prediction.

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """Gives the predictions for the input, one example at a time."""
        results = self._predictions(input_fn, predict_keys, hooks, checkpoint_path, yield_single_examples)
        _unfinished.add(results)
        return results

    def _predictions(self, input_fn, predict_keys, hooks, checkpoint_path, yield_single_examples):
        hooks = _checked_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = tf.train.latest_checkpoint(self._model_dir)
        if not checkpoint_path:
            logging.info("Could not find trained model in model_dir: %s, running initialization to predict.",
                         self._model_dir)
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = self._extract_keys(spec.predictions, predict_keys)
            creator = tf.train.ChiefSessionCreator(checkpoint_filename_with_path=checkpoint_path,
                                                   master=self._config.master, scaffold=spec.scaffold,
                                                   config=self._session_config)
            with tf.train.MonitoredSession(session_creator=creator,
                                           hooks=[*input_hooks, *hooks, *spec.prediction_hooks]) as session:
                while not session.should_stop():
                    values = session.run(predictions)
                    if not yield_single_examples:
                        yield values
                    elif not isinstance(predictions, dict):
                        yield from values
                    else:
                        for i in range(_batch_length(values)):
                            yield {key: value[i] for key, value in values.items()}

    @staticmethod
    def _extract_keys(predictions, predict_keys):
        if not predict_keys:
            return predictions
        if not isinstance(predictions, dict):
            raise ValueError(f"predict_keys argument is not valid in case of non-dict predictions. Given: {predictions}")
        kept = {key: value for key, value in predictions.items() if key in predict_keys}
        if not kept:
            raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {predict_keys}.")
        return kept

    # Export.

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                           checkpoint_path=None, experimental_mode=ModeKeys.PREDICT):
        """Writes a SavedModel into a new folder below the given one; gives its path."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(export_dir_base, {experimental_mode: serving_input_receiver_fn},
                                             assets_extra, as_text, checkpoint_path, True)

    def export_savedmodel(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                          checkpoint_path=None, strip_default_attrs=False):
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return self._export_all_saved_models(export_dir_base, {ModeKeys.PREDICT: serving_input_receiver_fn},
                                             assets_extra, as_text, checkpoint_path, strip_default_attrs)

    def experimental_export_all_saved_models(self, export_dir_base, input_receiver_fn_map, assets_extra=None,
                                             as_text=False, checkpoint_path=None):
        return self._export_all_saved_models(export_dir_base, input_receiver_fn_map, assets_extra, as_text,
                                             checkpoint_path, True)

    def _export_all_saved_models(self, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False,
                                 checkpoint_path=None, strip_default_attrs=True):
        checkpoint_path = checkpoint_path or tf.train.latest_checkpoint(self._model_dir)
        if not checkpoint_path:
            if not self._warm_start_settings:
                raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
            checkpoint_path = self._warm_start_settings.ckpt_to_initialize_from
            if tf.gfile.IsDirectory(checkpoint_path):
                checkpoint_path = tf.train.latest_checkpoint(checkpoint_path)
        modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if input_receiver_fn_map.get(mode)]
        if not modes:
            raise ValueError(f"No valid modes for exporting found. Got {input_receiver_fn_map.keys()}.")
        export_dir = export.get_timestamped_export_dir(export_dir_base)
        temporary = export.get_temp_export_dir(export_dir)
        builder = tf.saved_model.builder.SavedModelBuilder(temporary)
        for i, mode in enumerate(modes):
            self._add_meta_graph_for_mode(builder, input_receiver_fn_map, checkpoint_path, save_variables=i == 0,
                                          mode=mode, strip_default_attrs=strip_default_attrs)
        builder.save(as_text)
        for target, source in (assets_extra or {}).items():
            path = os.path.join(temporary, b"assets.extra", os.fsencode(target))
            tf.gfile.MakeDirs(os.path.dirname(path))
            tf.gfile.Copy(source, path)
        tf.gfile.Rename(temporary, export_dir)
        return export_dir

    def _add_meta_graph_for_mode(self, builder, input_receiver_fn_map, checkpoint_path, save_variables=True,
                                 mode=ModeKeys.PREDICT, export_tags=None, check_variables=True,
                                 strip_default_attrs=True):
        with tf.Graph().as_default() as graph:
            self._create_and_assert_global_step(graph)
            tf.set_random_seed(self._config.tf_random_seed)
            receiver = input_receiver_fn_map[mode]()
            spec = self._call_model_fn(features=receiver.features, labels=getattr(receiver, "labels", None), mode=mode,
                                       config=self.config)
            serving = mode == ModeKeys.PREDICT
            if serving:
                outputs = export_output._export_outputs(spec.export_outputs, spec.predictions)
            else:
                kind, key = ((export_output.TrainOutput, "train") if mode == ModeKeys.TRAIN
                             else (export_output.EvalOutput, "eval"))
                outputs = {key: kind(loss=spec.loss, predictions=spec.predictions, metrics=spec.eval_metric_ops)}
            signatures = export.build_all_signature_defs(
                receiver.receiver_tensors, outputs, getattr(receiver, "receiver_tensors_alternatives", None),
                serving_only=serving)
            with tf.Session(config=self._session_config) as session:
                scaffold = spec.scaffold
                local_init_op = scaffold.local_init_op
                if local_init_op is None:
                    local_init_op = tf.train.Scaffold.default_local_init_op()
                saver = scaffold.saver or tf.train.Saver(sharded=True)
                try:
                    saver.restore(session, checkpoint_path)
                except tf.errors.NotFoundError as error:
                    raise ValueError("Could not load all requested variables from checkpoint: the model function has "
                                     f"variables in mode `{mode}` that {checkpoint_path} does not have. "
                                     f"{error.message}") from None
                options = {"tags": export.EXPORT_TAG_MAP[mode] if export_tags is None else export_tags,
                           "signature_def_map": signatures,
                           "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                           "main_op": local_init_op, "saver": saver, "strip_default_attrs": strip_default_attrs}
                if save_variables:
                    builder.add_meta_graph_and_variables(session, options.pop("tags"), **options)
                else:
                    builder.add_meta_graph(**options)

    # What the program gives.

    def _create_global_step(self, graph):
        return tf.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph):
        step = self._create_global_step(graph)
        assert step is tf.train.get_global_step()
        assert step.dtype.is_integer
        return step

    def _call_input_fn(self, input_fn, mode, input_context=None):
        offered = {"mode": mode, "params": self.params, "config": self.config}
        if input_context is not None:
            offered["input_context"] = input_context
        with tf.device("/cpu:0"):
            return input_fn(**wanted(input_fn, offered))

    def _get_features_from_input_fn(self, input_fn, mode):
        features, _, hooks = parse_input_fn_result(self._call_input_fn(input_fn, mode))
        if mode == ModeKeys.PREDICT:
            self._validate_features_in_predict_input(features)
        return features, hooks

    @staticmethod
    def _validate_features_in_predict_input(features):
        tensors = [part for part in tf.contrib.framework.nest.flatten(features) if isinstance(part, tf.Tensor)]
        if not any(t.op.type.startswith("IteratorGetNext") for t in tensors) and not tf.get_collection(
                tf.GraphKeys.QUEUE_RUNNERS):
            logging.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
                            "yields forever. This is probably a mistake.")

    def _get_features_and_labels_from_input_fn(self, input_fn, mode):
        return parse_input_fn_result(self._call_input_fn(input_fn, mode))

    def _call_model_fn(self, features, labels, mode, config):
        arguments = fn_args(self._model_fn)
        if "labels" not in arguments and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        offered = {"labels": labels, "mode": mode, "params": self.params, "config": config}
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **wanted(self._model_fn, offered))
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec


def _is_checked(cls):
    """Programs' own classes are; Weir's know what they do."""
    return not cls.__module__.startswith("weir.")


def _with_model_dir(config, model_dir):
    """The configuration of an estimator, with a session's configuration and a folder."""
    if config is None:
        config = run_config.RunConfig()
        logging.info("Using default config.")
    if not isinstance(config, run_config.RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    replace = run_config.RunConfig.replace
    if config.session_config is None:
        config = replace(config, session_config=run_config._default_session_config())
    model_dir = tf.compat.path_to_str(model_dir)
    own = getattr(config, "model_dir", None)
    if model_dir is not None and own is not None and own != model_dir:
        raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                         f"constructor: '{model_dir}', in `RunConfig`: '{own}' ")
    if model_dir:
        return replace(config, model_dir=model_dir)
    if own is None:
        model_dir = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", model_dir)
        return replace(config, model_dir=model_dir)
    return config


def _device_setter(config):
    """Where variables and operations go in a cluster with parameter servers."""
    if config.num_ps_replicas <= 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return tf.train.replica_device_setter(ps_tasks=config.num_ps_replicas, worker_device=worker, merge_devices=True,
                                          cluster=config.cluster_spec)


def _warm_start_settings(warm_start_from):
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got "
                         f"{type(warm_start_from)}")
    path = tf.compat.as_str(warm_start_from)
    variables = os.path.join(path, "variables", "variables")
    if tf.gfile.Exists(variables + ".index"):
        logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(ckpt_to_initialize_from=variables)
    return WarmStartSettings(ckpt_to_initialize_from=path)


def _checkpoint_of(model_dir):
    if not tf.train.latest_checkpoint(model_dir):
        raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")


def _step_of_checkpoint(model_dir):
    """The global step of the newest checkpoint; 0 without one."""
    path = tf.train.latest_checkpoint(model_dir)
    if not path:
        return 0
    try:
        return int(tf.train.NewCheckpointReader(path).get_tensor(tf.GraphKeys.GLOBAL_STEP))
    except tf.errors.OpError:
        return 0


def _checked_hooks(hooks):
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def _update_and_values(metrics):
    """(an operation that updates all metrics, their values by name). A metric that is a tensor alone is its last value."""
    pairs = {name: metric if isinstance(metric, (list, tuple)) else (metric, None) for name, metric in metrics.items()}
    values = {name: value for name, (value, _) in sorted(pairs.items())}
    updates = [update for _, (_, update) in sorted(pairs.items()) if update is not None]
    return (tf.group(*updates) if updates else None), values


def _batch_length(values):
    lengths = {}
    for key, value in values.items():
        lengths.setdefault(value.shape[0], []).append(key)
    if len(lengths) != 1:
        raise ValueError("Batch length of predictions should be same. " + ", ".join(
            f"{keys} has batch length {length}" for length, keys in lengths.items()))
    return next(iter(lengths))
