"""MetricSpec: which predictions and labels a metric compares."""

from weir.estimator.functions import fn_args

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


class MetricSpec:
    """A metric with the names of what it takes."""

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        self._metric_fn, self._prediction_key = metric_fn, prediction_key
        self._label_key, self._weight_key = label_key, weight_key

    metric_fn = property(lambda self: self._metric_fn)
    prediction_key = property(lambda self: self._prediction_key)
    label_key = property(lambda self: self._label_key)
    weight_key = property(lambda self: self._weight_key)

    def __str__(self):
        name = getattr(self._metric_fn, "__name__", self._metric_fn)
        return (f"MetricSpec(metric_fn={name}, prediction_key={self.prediction_key}, label_key={self.label_key}, "
                f"weight_key={self.weight_key})")

    def create_metric_ops(self, inputs, labels, predictions):
        weights = inputs[self.weight_key] if self.weight_key else None
        return _called(self._metric_fn, _part("label", labels, self.label_key),
                       _part("prediction", predictions, self.prediction_key), weights)


def _part(name, given, key):
    if key:
        if not isinstance(given, dict):
            raise ValueError(f"MetricSpec with {name}_key specified requires {name}s dict, got {given}.\nYou must not "
                             f"provide a {name}_key if you only have a single Tensor as {name}s.")
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if isinstance(given, dict):
        if len(given) != 1:
            raise ValueError(f"MetricSpec without specified {name}_key requires {name}s tensor or single element dict, "
                             f"got {given}")
        return next(iter(given.values()))
    return given


def _called(metric_fn, labels, predictions, weights):
    """Calls a metric by the names that its arguments have, or predictions and labels in this order."""
    arguments = fn_args(metric_fn)
    found = {}
    for names, value in ((_LABELS, labels), (_PREDICTIONS, predictions), (_WEIGHTS, weights)):
        name = next((argument for argument in arguments if argument in names), None)
        if name is not None and value is not None:
            found[name] = value
    if any(name in found for name in _LABELS) and any(name in found for name in _PREDICTIONS):
        return metric_fn(**found)
    more = {name: value for name, value in found.items() if name in _WEIGHTS}
    return metric_fn(predictions, labels, **more)


def _metric_ops(metrics, features, labels, predictions):
    """The metrics that a program asks for beside those of the model."""
    label = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    result = {}
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, MetricSpec):
            result[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2.")
            if not isinstance(predictions, dict):
                raise ValueError("Metrics passed provide (name, prediction), but predictions are not dict. "
                                 f"Metrics: {metrics}, Predictions: {predictions}.")
            own = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else label
            result[name[0]] = metric(predictions[name[1]], own)
        else:
            if isinstance(predictions, dict) and len(predictions) == 1:
                predictions, = predictions.values()
            if isinstance(predictions, dict):
                raise ValueError("Metrics passed provide only name, no prediction, but predictions are dict. "
                                 f"Metrics: {metrics}, Labels: {label}.")
            result[name] = metric(predictions, label)
    return result
