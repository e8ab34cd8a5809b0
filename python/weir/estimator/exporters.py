"""Exporters: which of the models that train_and_evaluate comes to are exported."""

import abc
import os

import weir as tf
from weir import errors, logging
from weir.estimator.functions import fn_args


class Exporter(metaclass=abc.ABCMeta):
    """Exports a model after an evaluation."""

    @property
    @abc.abstractmethod
    def name(self):
        """The folder below ``export/`` that the exports go to."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports, or not; gives the path of what was exported."""


class _SavedModelExporter(Exporter):
    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._name, self._serving_input_receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text

    name = property(lambda self: self._name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return estimator.export_saved_model(export_path, self._serving_input_receiver_fn,
                                            assets_extra=self._assets_extra, as_text=self._as_text,
                                            checkpoint_path=checkpoint_path)


def _checked_count(exports_to_keep):
    if exports_to_keep is not None and exports_to_keep <= 0:
        raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
    return exports_to_keep


def _delete_old(folder, keep):
    """Deletes all exports of a folder but the newest ``keep``."""
    folder = os.fsdecode(folder)
    if keep is None or not tf.gfile.Exists(folder):
        return
    found = (tf.compat.as_str(name).rstrip("/") for name in tf.gfile.ListDirectory(folder))
    versions = sorted((name for name in found if len(name) == 10 and name.isdigit()), key=int)
    for name in versions[:-keep]:
        try:
            tf.gfile.DeleteRecursively(os.path.join(folder, name))
        except errors.NotFoundError as error:
            logging.warning("Can not delete %s recursively: %s", name, error)


def _loss_smaller(best_eval_result, current_eval_result):
    for name, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(Exporter):
    """Exports a model that is better than all before it."""

    def __init__(self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
                 compare_fn=_loss_smaller, assets_extra=None, as_text=False, exports_to_keep=5):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        arguments = set(fn_args(compare_fn))
        for needed in ("best_eval_result", "current_eval_result"):
            if needed not in arguments:
                raise ValueError(f"compare_fn ({compare_fn}) must include {needed} argument.")
        unknown = list(arguments - {"best_eval_result", "current_eval_result"})
        if unknown:
            raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")
        self._compare_fn = compare_fn
        self._exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern, self._model_dir, self._best_eval_result = event_file_pattern, None, None
        self._exports_to_keep = _checked_count(exports_to_keep)

    name = property(lambda self: self._exporter.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_of_events(os.path.join(self._model_dir, self._event_file_pattern))
        if self._best_eval_result is not None and not self._compare_fn(best_eval_result=self._best_eval_result,
                                                                       current_eval_result=eval_result):
            return None
        logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        result = self._exporter.export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        _delete_old(export_path, self._exports_to_keep)
        return result

    def _best_of_events(self, pattern):
        best = None
        for path in tf.gfile.Glob(pattern):
            for event in tf.train.summary_iterator(path):
                if not event.HasField("summary"):
                    continue
                result = {value.tag: value.simple_value for value in event.summary.value
                          if value.HasField("simple_value")}
                if result and (best is None or self._compare_fn(best_eval_result=best, current_eval_result=result)):
                    best = result
        return best


class FinalExporter(Exporter):
    """Exports the last model."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)

    name = property(lambda self: self._exporter.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._exporter.export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)


class LatestExporter(Exporter):
    """Exports every model, and deletes old exports."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        self._exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = _checked_count(exports_to_keep)

    name = property(lambda self: self._exporter.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        result = self._exporter.export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        _delete_old(export_path, self._exports_to_keep)
        return result
